"""An exported model: on ONNX Runtime it is what it is in PyTorch."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor

from manetdiff import Fleet, Radio
from manetdiff.diffusion.draws import layout_draws
from manetdiff.diffusion.generator import DiffusionGenerator, build
from manetdiff.diffusion.sampler import Sampler
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import CheckpointError
from manetdiff.export.dense import DenseDenoiser
from manetdiff.export.write import exported
from manetdiff.layout import Layout, pad
from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser
from manetdiff.model.tensors import Graphs, Layouts, Prediction
from manetdiff.runtime.bundle import EARLIER_NAMES, Bundle, read_bundle
from manetdiff.runtime.chain import Chain, EmbeddedLayout, Noise, States
from manetdiff.sampling import SamplerConfig, StepSettings, plain_settings
from manetdiff.sampling.contract import DENSE
from support.exported_chains import PROCESS, assert_same_graphs, layout_pair, links_of, repeated, run_chain
from support.graph_samples import perturbed, scattered_graphs, scattered_layouts

# Exporting takes long, so that one network stands for all that a network can have: a pace, and its ReLUs, too.
CONFIG = ModelConfig(width=8, blocks=1, tokens=2, activation="relu")
# As many pairs are likely to be linked as not: then what is sampled hangs on every number.
SAMPLING = SamplerConfig(steps=6, redundancy=1.3, temperature=0.7)
SIZES = (2, 3, 7, 16)
TIMES = (1.0, 0.37, 0.02)


def weights_of(config: ModelConfig) -> Weights:
    """With noise on all parameters: those of a fresh FiLM are zero, and would hide whatever comes through them."""
    model = perturbed(lambda: build(config, PROCESS))
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    return Weights(config, PROCESS, Radio(sigma2=0.3), tensors, SAMPLING, {"note": "ours"})


WEIGHTS = weights_of(CONFIG)


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return exported("tiny", WEIGHTS)


@pytest.fixture(scope="module")
def chain(bundle: Bundle) -> Chain:
    return Chain(bundle)


@pytest.fixture(scope="module")
def generator() -> DiffusionGenerator:
    model = WEIGHTS.build()
    assert isinstance(model, DiffusionGenerator)
    return model


def graphs_on(n: int, count: int) -> Graphs:
    """So many different random graphs of n nodes."""
    one = scattered_layouts([n])
    return Graphs(*map(torch.cat, zip(*(scattered_graphs(one, seed) for seed in range(count)), strict=True)))


def states(graphs: Graphs) -> States:
    return States(links_of(graphs.edges), graphs.parity.numpy())


def shares_of(
    chain: Chain, layout: EmbeddedLayout, graphs: Graphs, time: float, settings: StepSettings[Any]
) -> tuple[Tensor, Tensor]:
    """The shares of links and of parity 1 that a step of ONNX Runtime predicts."""
    draws = chain.draws(layout, [(k,) for k in range(len(graphs.parity))], 1, decide=False)
    outcome = chain.run(layout, layout.noise, states(graphs), [(time, time / 2)], draws, settings)
    return torch.from_numpy(outcome.link_shares), torch.from_numpy(outcome.parity_shares)


@torch.no_grad()
def predicted(denoiser: Denoiser, layouts: Layouts, graphs: Graphs, time: float) -> Prediction:
    b = len(graphs.parity)
    return denoiser.predict(denoiser.embed_layouts(repeated(layouts, b)), graphs, torch.full((b,), time))


@pytest.mark.parametrize("activation", ["gelu", "relu"])
@pytest.mark.parametrize("n", SIZES)
@torch.no_grad()
def test_a_denoiser_rewritten_for_one_core_is_the_same_function(n: int, activation: str) -> None:
    denoiser = perturbed(lambda: Denoiser(ModelConfig(width=8, blocks=2, tokens=2, activation=activation))).eval()  # type: ignore[arg-type]
    layouts, graphs, dense = layout_pair(n)[0], graphs_on(n, 3), DenseDenoiser(denoiser)
    embedded = denoiser.embed_layouts(layouts)
    for time in TIMES:
        films = dense.time_condition(torch.tensor([time]))[0]
        made = dense(embedded.nodes, embedded.edges, embedded.antenna_onehot, *graphs, films)
        for one, other in zip(made, predicted(denoiser, layouts, graphs, time), strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_a_file_has_no_notes_of_the_machine_it_was_made_on(bundle: Bundle) -> None:
    for graph in bundle.graphs.values():
        assert str(Path(__file__).parents[2]).encode() not in graph


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_an_exported_denoiser_is_the_same_function(
    chain: Chain, generator: DiffusionGenerator, n: int, count: int
) -> None:
    layouts, layout = layout_pair(n)
    graphs, embedded = graphs_on(n, count), chain.embed(layout)
    for time in TIMES:
        wanted = predicted(generator.denoiser, layouts, graphs, time)
        # Hot, so that log-odds of any size show in the shares; and as sampling has it.
        for temperature, redundancy in ((10.0, 1.0), (0.7, 3.0)):
            settings = plain_settings(len(embedded.pairs), temperature, redundancy)
            links, parity = shares_of(chain, embedded, graphs, time, settings)
            hoped = torch.sigmoid(wanted.edges / temperature + math.log(redundancy))
            torch.testing.assert_close(links, torch.from_numpy(links_of(hoped)), rtol=0, atol=1e-4)
            torch.testing.assert_close(parity, torch.sigmoid(wanted.parity / temperature), rtol=0, atol=1e-4)


def test_it_is_told_the_layout_the_graph_and_the_time(chain: Chain) -> None:
    # Or else the comparisons above would compare nothing.
    settings = plain_settings(21, 1.0, 1.0)
    one = chain.embed(layout_pair(7)[1])
    usual, _ = shares_of(chain, one, graphs_on(7, 1), 0.5, settings)
    elsewhere, _ = shares_of(chain, chain.embed(layout_pair(7, seed=1)[1]), graphs_on(7, 1), 0.5, settings)
    later, _ = shares_of(chain, one, graphs_on(7, 1), 0.9, settings)
    three, _ = shares_of(chain, one, graphs_on(7, 3), 0.5, settings)
    for other in (elsewhere, later, three[1:2], three[2:3]):
        assert float((other - usual).abs().max()) > 1e-2
    torch.testing.assert_close(three[:1], usual, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("grid", "decide"), [("linear", True), ("late", True), ("linear", False)])
@pytest.mark.parametrize("n", [2, 5, 12])
@torch.no_grad()
def test_a_whole_chain_ends_in_the_same_graphs_as_in_pytorch(
    chain: Chain, generator: DiffusionGenerator, n: int, grid: Any, decide: bool
) -> None:
    layouts, layout = layout_pair(n)
    seeds = [(11, k) for k in range(4)]
    sampling = dataclasses.replace(SAMPLING, grid=grid, decide=decide)
    many = repeated(layouts, len(seeds))
    embedded = generator.denoiser.embed_layouts(many)
    rounds = layout_draws(seeds, [n] * len(seeds), sampling.steps, decide=decide)

    def sampled(pace: Tensor | None) -> Graphs:
        return Sampler(PROCESS, sampling).sample(
            lambda state, time: generator.denoiser.predict(embedded, state, time), many.mask, rounds, pace
        )

    made = run_chain(chain, layout, seeds, sampling)
    assert_same_graphs(made, sampled(PROCESS.pace(many, 4)))
    if n == 12:
        assert len({row.tobytes() for row in made.links}) > 1
        assert not np.array_equal(made.links, links_of(sampled(None).edges))


class TestNoise:
    @pytest.mark.parametrize("n", SIZES)
    def test_on_a_layout_is_that_of_the_process_and_so_is_its_pace(self, chain: Chain, n: int) -> None:
        layouts, layout = layout_pair(n, seed=4)
        arrays, pace = chain.embed(layout).arrays, PROCESS.pace(layouts, 4)
        share = np.full((1, n, n), float(PROCESS.edge_share(layouts.mask)))
        np.testing.assert_allclose(arrays["noise_edges"], share, rtol=1e-6)
        assert np.array_equal(arrays["noise_parity"], np.full((1, n), 0.5, dtype=np.float32))
        assert pace is not None
        np.testing.assert_allclose(arrays["pace"], pace.numpy(), atol=5e-3)

    def test_has_the_pace_of_lines_straight_ahead_abeam_and_behind(self, chain: Chain) -> None:
        # There the arctangent has its special cases; no line is near a border.
        positions = [[float(x), float(y)] for x in (0, 1, 2) for y in (0, 3)]
        layout = Layout(Fleet(positions, np.radians([0.0, 90.0, 180.0, -90.0, 0.0, 180.0])), Radio())
        wanted = PROCESS.pace(Layouts.from_numpy(pad([layout.features])), 4)
        assert wanted is not None
        np.testing.assert_allclose(chain.embed(layout).arrays["pace"], wanted.numpy(), atol=1e-4)

    @pytest.mark.parametrize("n", SIZES)
    def test_on_a_graph_is_that_of_the_process(self, chain: Chain, n: int) -> None:
        layouts, one = layout_pair(n)
        clean, many, layout = graphs_on(n, 1), repeated(layouts, 5), chain.embed(one)
        seeds = [(k, n) for k in range(5)]
        drawn, draws = chain.draws(layout, seeds, 1, decide=False), layout_draws(seeds, [n] * 5, 0)[0]
        cleans = Graphs(clean.edges.expand(5, n, n), clean.parity.expand(5, n))
        for time in (0.0, 0.2, 0.6, 1.0):
            wanted = PROCESS.noised(cleans, torch.full((5,), time), draws, many.mask, PROCESS.pace(many, 4))
            assert_same_graphs(chain.noised(layout, layout.noise, states(clean), time, drawn), wanted)

    def test_may_be_given_pair_by_pair(self, chain: Chain) -> None:
        # A previous topology in place of noise: at time 1 it is what is left.
        clean, other = graphs_on(6, 1), scattered_graphs(scattered_layouts([6]), seed=9)
        layout = chain.embed(layout_pair(6)[1])
        drawn = chain.draws(layout, [(0,)], 1, decide=False)
        assert_same_graphs(chain.noised(layout, Noise(*states(other)), states(clean), 1.0, drawn), other)


def test_a_guide_pulls_edges_to_it_the_further_the_heavier_it_is_and_only_pairs_of_weight(chain: Chain) -> None:
    n, layout = 8, chain.embed(layout_pair(8)[1])
    guide = links_of(scattered_graphs(scattered_layouts([n]), seed=5).edges)
    plain = plain_settings(len(layout.pairs), 1.0, 1.0)

    def shares(weight: np.ndarray) -> Tensor:
        settings = plain._replace(guide=guide, guide_weight=weight)
        return shares_of(chain, layout, graphs_on(n, 2), 0.5, settings)[0]

    free, *pulled = (shares(np.full_like(guide, weight)) for weight in (0.0, 1.0, 4.0, 16.0))
    assert torch.equal(free, shares_of(chain, layout, graphs_on(n, 2), 0.5, plain)[0])
    distances = [(share - torch.from_numpy(guide)).abs() for share in (free, *pulled)]
    for less, more in itertools.pairwise(distances):
        assert bool((more <= less + 1e-6).all())
        assert float(more.mean()) < float(less.mean())
    weight = np.zeros_like(guide)
    weight[0, 17] = 6.0
    changed = torch.nonzero((free - shares(weight)).abs() > 1e-6).tolist()
    assert {at for _, at in changed} == {17}


class TestTheBundle:
    def test_carries_what_the_weights_say_and_leaves_them_as_they_were(self, bundle: Bundle, tmp_path: Path) -> None:
        assert (bundle.name, bundle.radio, bundle.sampling) == ("tiny", WEIGHTS.radio, SAMPLING)
        assert bundle.card == {"note": "ours"}
        again = weights_of(CONFIG).tensors
        assert all(torch.equal(tensor, again[name]) for name, tensor in WEIGHTS.tensors.items())
        path = tmp_path / "tiny.netdiff"
        path.write_bytes(bundle.to_bytes())
        assert read_bundle(path) == bundle

    def test_has_graphs_that_take_and_give_what_the_contract_says(self, bundle: Bundle) -> None:
        for name, function in DENSE.items():
            graph = onnx.load_model_from_string(bundle.graphs[name]).graph
            for wanted, found in ((function.inputs, graph.input), (function.outputs, graph.output)):
                assert [array.name for array in wanted if array.name != "latent"] == [value.name for value in found]

    def test_of_an_earlier_version_is_the_same_model(self, bundle: Bundle, chain: Chain, tmp_path: Path) -> None:
        old = EARLIER_NAMES[1]
        graphs = {}
        for name, content in bundle.graphs.items():
            model = onnx.load_model_from_string(content)
            for value in (*model.graph.input, *model.graph.output):
                value.name = old.get(value.name, value.name)
            for node in model.graph.node:
                for names in (node.input, node.output):
                    names[:] = [old.get(entry, entry) for entry in names]
            graphs[name] = model.SerializeToString()
        path = tmp_path / "old.netdiff"
        path.write_bytes(dataclasses.replace(bundle, graphs=graphs, version=1).to_bytes())
        layout, seeds = layout_pair(7)[1], [(3, 1), (3, 2)]
        made, wanted = (run_chain(one, layout, seeds, SAMPLING) for one in (Chain(read_bundle(path)), chain))
        assert np.array_equal(made.links, wanted.links) and np.array_equal(made.parity, wanted.parity)
        # The names are what makes the difference.
        with pytest.raises(CheckpointError, match="does not give what it should"):
            Chain(dataclasses.replace(bundle, graphs=graphs)).embed(layout)
