"""Exported models: on ONNX Runtime they are what they are in PyTorch."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor

from manetdiff import Radio
from manetdiff.diffusion.draws import layout_draws
from manetdiff.diffusion.generator import DiffusionGenerator, build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.diffusion.weights import Weights
from manetdiff.errors import CheckpointError
from manetdiff.export.dense import DenseDenoiser
from manetdiff.export.write import exported
from manetdiff.model.config import ModelConfig
from manetdiff.model.tensors import Graphs, Layouts, Prediction
from manetdiff.runtime.bundle import EARLIER_NAMES, Bundle, read_bundle
from manetdiff.runtime.chain import Chain, EmbeddedLayout, Noise, States
from manetdiff.sampling import SamplerConfig, StepSettings, chain_draws, plain_settings
from manetdiff.sampling.contract import FUNCTIONS
from support.exported_chains import layout_pair, repeated, run_chain
from support.graph_samples import perturbed, scattered_graphs, scattered_layouts

# One worker exports for all of them.
pytestmark = pytest.mark.xdist_group("export")

CONFIG = ModelConfig(width=8, blocks=2, tokens=2)
# Nothing at its default, so that nothing can be forgotten.
PROCESS = Process(2.5, noise_redundancy=1.7, parity_pace=0.6)
SAMPLING = SamplerConfig(steps=6, redundancy=3.0, temperature=0.7)
SIZES = (2, 3, 7, 16)


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
    assert all(parameter.abs().max() > 0 for parameter in model.parameters())
    return model


def graphs_on(n: int, count: int) -> Graphs:
    """So many different random graphs of n nodes."""
    one = scattered_layouts([n])
    made = [scattered_graphs(one, seed) for seed in range(count)]
    return Graphs(torch.cat([graphs.edges for graphs in made]), torch.cat([graphs.parity for graphs in made]))


def states(graphs: Graphs) -> States:
    return States(graphs.edges.numpy(), graphs.parity.numpy())


def shares_of(
    chain: Chain, layout: EmbeddedLayout, graphs: Graphs, time: float, settings: StepSettings[Any]
) -> tuple[Tensor, Tensor]:
    """The shares of edges and of parity 1 that a step of ONNX Runtime predicts."""
    b, n = graphs.parity.shape
    draws = chain_draws([(k,) for k in range(b)], n, 1, decide=False)
    outcome = chain.run(layout, layout.noise, states(graphs), [(time, time / 2)], draws, settings)
    return torch.from_numpy(outcome.edge_shares), torch.from_numpy(outcome.parity_shares)


@torch.no_grad()
def predicted(generator: DiffusionGenerator, layouts: Layouts, graphs: Graphs, time: float) -> Prediction:
    b = len(graphs.parity)
    embedded = generator.denoiser.embed_layouts(repeated(layouts, b))
    return generator.denoiser.predict(embedded, graphs, torch.full((b,), time))


class TestTheDenoiser:
    @pytest.mark.parametrize("count", [1, 3])
    @pytest.mark.parametrize("n", SIZES)
    @torch.no_grad()
    def test_rewritten_is_the_same_function(self, generator: DiffusionGenerator, n: int, count: int) -> None:
        layouts, _ = layout_pair(n)
        graphs = graphs_on(n, count)
        dense = DenseDenoiser(generator.denoiser)
        embedded = generator.denoiser.embed_layouts(layouts)
        for time in (1.0, 0.37, 0.02):
            films = dense.time_condition(torch.tensor([time]))[0]
            made = dense(embedded.nodes, embedded.edges, embedded.antenna_onehot, *graphs, films)
            for one, other in zip(made, predicted(generator, layouts, graphs, time), strict=True):
                torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)

    @pytest.mark.parametrize("count", [1, 3])
    @pytest.mark.parametrize("n", SIZES)
    def test_exported_is_the_same_function(
        self, chain: Chain, generator: DiffusionGenerator, n: int, count: int
    ) -> None:
        layouts, features = layout_pair(n)
        graphs = graphs_on(n, count)
        embedded = chain.embed(features)
        off_diagonal = ~torch.eye(n, dtype=torch.bool)
        for time in (1.0, 0.37, 0.02):
            wanted = predicted(generator, layouts, graphs, time)
            # Hot, so that log-odds of any size show in the shares; and as sampling has it.
            for temperature, redundancy in ((10.0, 1.0), (0.7, 3.0)):
                settings = plain_settings(n, temperature, redundancy)
                edges, parity = shares_of(chain, embedded, graphs, time, settings)
                hoped = torch.sigmoid(wanted.edges / temperature + math.log(redundancy))
                torch.testing.assert_close(edges[:, off_diagonal], hoped[:, off_diagonal], rtol=0, atol=1e-4)
                torch.testing.assert_close(parity, torch.sigmoid(wanted.parity / temperature), rtol=0, atol=1e-4)

    def test_is_told_the_layout_the_graph_and_the_time(self, chain: Chain) -> None:
        # Or else the comparisons above would compare nothing.
        settings = plain_settings(7, 1.0, 1.0)
        one = chain.embed(layout_pair(7)[1])
        usual, _ = shares_of(chain, one, graphs_on(7, 1), 0.5, settings)
        elsewhere, _ = shares_of(chain, chain.embed(layout_pair(7, seed=1)[1]), graphs_on(7, 1), 0.5, settings)
        later, _ = shares_of(chain, one, graphs_on(7, 1), 0.9, settings)
        three, _ = shares_of(chain, one, graphs_on(7, 3), 0.5, settings)
        for other in (elsewhere, later, three[1:2], three[2:3]):
            assert float((other - usual).abs().max()) > 1e-2
        torch.testing.assert_close(three[:1], usual, rtol=0, atol=1e-5)


class TestAWholeChain:
    # A share within rounding of the number drawn could fall on either side; with these seeds none does.
    @pytest.mark.parametrize("grid", ["linear", "late"])
    @pytest.mark.parametrize("n", [2, 5, 12])
    def test_ends_in_the_same_graphs_as_in_pytorch(
        self, chain: Chain, generator: DiffusionGenerator, n: int, grid: Any
    ) -> None:
        layouts, features = layout_pair(n)
        seeds = [(11, k) for k in range(4)]
        sampling = dataclasses.replace(SAMPLING, grid=grid)
        wanted = generator.sample(repeated(layouts, len(seeds)), seeds, sampling)
        made = run_chain(chain, features, seeds, sampling)
        assert np.array_equal(made.edges, wanted.edges.numpy())
        assert np.array_equal(made.parity, wanted.parity.numpy())
        if n > 2:
            assert 0 < made.edges.sum() < made.edges.size
            assert len({row.tobytes() for row in made.edges}) > 1

    def test_goes_through_the_same_graphs_when_the_last_step_draws(
        self, chain: Chain, generator: DiffusionGenerator
    ) -> None:
        layouts, features = layout_pair(9, seed=2)
        sampling = dataclasses.replace(SAMPLING, decide=False)
        seeds = [(3, 1), (3, 2)]
        embedded = generator.denoiser.embed_layouts(repeated(layouts, 2))
        rounds = layout_draws(seeds, [9, 9], sampling.steps, decide=False)
        mask = repeated(layouts, 2).mask
        with torch.no_grad():
            wanted = Sampler(PROCESS, sampling).sample(
                lambda state, time: generator.denoiser.predict(embedded, state, time), mask, rounds
            )
        made = run_chain(chain, features, seeds, sampling)
        assert np.array_equal(made.edges, wanted.edges.numpy())
        assert np.array_equal(made.parity, wanted.parity.numpy())


class TestNoise:
    @pytest.mark.parametrize("n", SIZES)
    def test_on_a_layout_is_that_of_the_process(self, chain: Chain, n: int) -> None:
        layouts, features = layout_pair(n)
        noise = chain.embed(features).noise
        assert noise.edges.shape == (1, n, n)
        np.testing.assert_allclose(noise.edges, float(PROCESS.edge_share(layouts.mask)), rtol=1e-6)
        assert np.array_equal(noise.parity, np.full((1, n), 0.5, dtype=np.float32))

    @pytest.mark.parametrize("n", SIZES)
    def test_on_a_graph_is_that_of_the_process(self, chain: Chain, n: int) -> None:
        layouts, features = layout_pair(n)
        clean, b = graphs_on(n, 1), 5
        layout = chain.embed(features)
        drawn = chain_draws([(k, n) for k in range(b)], n, 1, decide=False)
        draws = Graphs(torch.from_numpy(drawn.edges[0]), torch.from_numpy(drawn.parity[0]))
        repeated_clean = Graphs(clean.edges.expand(b, n, n), clean.parity.expand(b, n))
        for time in (0.0, 0.2, 0.6, 1.0):
            wanted = PROCESS.noised(repeated_clean, torch.full((b,), time), draws, repeated(layouts, b).mask)
            made = chain.noised(layout, layout.noise, states(clean), time, drawn)
            assert np.array_equal(made.edges, wanted.edges.numpy())
            assert np.array_equal(made.parity, wanted.parity.numpy())
            if time == 0:
                assert np.array_equal(made.edges, np.repeat(clean.edges.numpy(), b, axis=0))

    def test_may_be_given_pair_by_pair(self, chain: Chain) -> None:
        # A previous topology in place of noise: at time 1 it is what is left.
        n, clean, other = 6, graphs_on(6, 1), scattered_graphs(scattered_layouts([6]), seed=9)
        drawn = chain_draws([(0,)], n, 1, decide=False)
        layout = chain.embed(layout_pair(n)[1])
        made = chain.noised(layout, Noise(*states(other)), states(clean), 1.0, drawn)
        assert np.array_equal(made.edges, other.edges.numpy())
        assert np.array_equal(made.parity, other.parity.numpy())


class TestTheGuide:
    N = 8

    def _shares(self, chain: Chain, guide: np.ndarray, weight: np.ndarray) -> Tensor:
        settings = plain_settings(self.N, 1.0, 1.0)._replace(guide=guide, guide_weight=weight)
        return shares_of(chain, chain.embed(layout_pair(self.N)[1]), graphs_on(self.N, 2), 0.5, settings)[0]

    def test_pulls_edges_to_it_the_further_the_heavier_it_is(self, chain: Chain) -> None:
        guide = scattered_graphs(scattered_layouts([self.N]), seed=5).edges.numpy()
        off_diagonal = ~torch.eye(self.N, dtype=torch.bool)
        distances = []
        for weight in (0.0, 1.0, 4.0, 16.0):
            shares = self._shares(chain, guide, np.full_like(guide, weight))
            distances.append((shares - torch.from_numpy(guide)).abs()[:, off_diagonal])
        for less, more in itertools.pairwise(distances):
            assert bool((more <= less + 1e-6).all())
            assert float(more.mean()) < float(less.mean())

    def test_of_no_weight_changes_nothing(self, chain: Chain) -> None:
        guide = scattered_graphs(scattered_layouts([self.N]), seed=5).edges.numpy()
        nothing = np.zeros_like(guide)
        assert torch.equal(self._shares(chain, guide, nothing), self._shares(chain, nothing, nothing))

    def test_has_no_say_in_pairs_without_weight(self, chain: Chain) -> None:
        guide = np.ones((1, self.N, self.N), dtype=np.float32)
        weight = np.zeros_like(guide)
        weight[0, 2, 5] = weight[0, 5, 2] = 6.0
        free, pulled = self._shares(chain, guide, np.zeros_like(guide)), self._shares(chain, guide, weight)
        changed = (free - pulled).abs() > 1e-6
        assert sorted({(i, j) for _, i, j in torch.nonzero(changed).tolist()}) == [(2, 5), (5, 2)]


class TestTheBundle:
    def test_carries_what_the_weights_say(self, bundle: Bundle) -> None:
        assert (bundle.name, bundle.radio, bundle.sampling) == ("tiny", WEIGHTS.radio, SAMPLING)
        assert bundle.card == {"note": "ours"}
        assert set(bundle.graphs) == set(FUNCTIONS)

    def test_comes_back_from_its_file(self, bundle: Bundle, tmp_path: Any) -> None:
        path = tmp_path / "tiny.netdiff"
        path.write_bytes(bundle.to_bytes())
        assert read_bundle(path) == bundle

    def test_has_graphs_that_take_and_give_what_the_contract_says(self, bundle: Bundle) -> None:
        for name, function in FUNCTIONS.items():
            graph = onnx.load_model_from_string(bundle.graphs[name]).graph
            for wanted, found in ((function.inputs, graph.input), (function.outputs, graph.output)):
                assert [array.name for array in wanted if not array.optional] == [value.name for value in found]

    def test_of_an_earlier_version_is_the_same_model(self, bundle: Bundle, chain: Chain, tmp_path: Any) -> None:
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
        features, seeds = layout_pair(7)[1], [(3, 1), (3, 2)]
        made, wanted = (run_chain(one, features, seeds, SAMPLING) for one in (Chain(read_bundle(path)), chain))
        assert np.array_equal(made.edges, wanted.edges) and np.array_equal(made.parity, wanted.parity)
        # The names are what makes the difference.
        with pytest.raises(CheckpointError, match="does not give what it should"):
            Chain(dataclasses.replace(bundle, graphs=graphs)).embed(features)

    def test_leaves_the_weights_as_they_were(self, bundle: Bundle) -> None:
        assert all(torch.equal(tensor, weights_of(CONFIG).tensors[name]) for name, tensor in WEIGHTS.tensors.items())
