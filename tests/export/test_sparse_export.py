"""An exported sparse network: on ONNX Runtime it is what it is in PyTorch, for any fleet and radio."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor

from manetdiff.diffusion.generator import build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import ModelError
from manetdiff.export.functions import functions
from manetdiff.export.sparse import Indices, SparseForm
from manetdiff.export.write import exported
from manetdiff.layout import Layout
from manetdiff.model.arc_tensors import stacked
from manetdiff.model.sparse_denoiser import SparseDenoiser
from manetdiff.radio import Radio
from manetdiff.runtime.bundle import Bundle, find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.graphs import check_graph
from manetdiff.sampling import SamplerConfig
from manetdiff.weights import DEFAULT
from support.arc_samples import RADIOS, SPARSE, drawn_graph, side_by_side_graphs, some_fleet
from support.exported_chains import run_chain
from support.graph_samples import perturbed

# Nothing at its default, so that nothing can be forgotten.
PROCESS = Process(2.5, noise_redundancy=1.7, parity_pace=0.6)
# As many candidates are likely to be linked as not: then what is sampled hangs on every number.
SAMPLING = SamplerConfig(steps=5, redundancy=1.3, temperature=0.7, decide=False)
SEEDS = [(11, k) for k in range(3)]
TIMES = (1.0, 0.37, 0.02)
LAYOUTS = [
    Layout(some_fleet(2), Radio(range=3.0)),
    *(Layout(some_fleet(9 + k, heights=bool(k % 2), blocked=k > 1), radio) for k, radio in enumerate(RADIOS.values())),
    Layout(some_fleet(40)),
]


def sparse_weights() -> Weights:
    """With noise on all parameters: those of a fresh FiLM are zero, and would hide whatever comes through them."""
    model = perturbed(lambda: build(SPARSE, PROCESS))
    tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    return Weights(SPARSE, PROCESS, Radio(), tensors, SAMPLING)


WEIGHTS = sparse_weights()


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return exported("tiny", WEIGHTS)


def assert_samples_what_pytorch_does(chain: Chain, weights: Weights, sampling: SamplerConfig) -> None:
    generator = weights.build()
    assert isinstance(generator, SparseGenerator)
    for layout in LAYOUTS:
        wanted = generator.sample([layout] * len(SEEDS), SEEDS, sampling)
        made = run_chain(chain, layout, SEEDS, sampling)
        # A share within rounding of the number drawn could fall on either side; with these seeds none does.
        assert np.array_equal(made.links, torch.stack([one.links for one in wanted]).numpy())
        assert np.array_equal(made.parity, torch.stack([one.parity for one in wanted]).numpy())


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: f"{len(layout)}-{layout.radio.sectors}")
@torch.no_grad()
def test_a_denoiser_rewritten_for_one_core_is_the_same_function(layout: Layout) -> None:
    denoiser = perturbed(lambda: SparseDenoiser(SPARSE)).eval()
    form, arcs = SparseForm(denoiser), layout.arcs
    graphs = [drawn_graph(arcs, seed) for seed in range(3)]
    of_all = side_by_side_graphs(graphs)
    several = stacked([arcs] * len(graphs))
    parts: dict[str, Tensor] = {name: torch.from_numpy(part) for name, part in arcs._asdict().items()}
    embedded = denoiser.embed_arcs(parts.pop("features"), parts["reverse"])
    parts.pop("links")
    links, parity = (torch.stack([one[k] for one in graphs]).float() for k in (0, 1))
    for time in TIMES:
        films = form.time_condition(torch.tensor([time]))[0]
        made = form(embedded, Indices(**parts), links, parity, films)
        noisy = of_all._replace(links=of_all.links.float(), parity=of_all.parity.float())
        wanted = denoiser(several, noisy, torch.full((len(graphs),), time))
        for one, other in zip(made, wanted, strict=True):
            torch.testing.assert_close(one.reshape(-1), other, rtol=1e-4, atol=1e-4)


@pytest.mark.slow  # exporting is; the packaged one, below, has been through it
def test_an_exported_network_samples_what_it_samples_in_pytorch(bundle: Bundle) -> None:
    assert bundle.network == "sparse"
    assert_samples_what_pytorch_does(Chain(bundle), WEIGHTS, SAMPLING)


def test_the_default_samples_what_its_weights_sample() -> None:
    weights, chain = find_weights(DEFAULT), Chain(find_bundle(DEFAULT))
    assert chain.sampling == weights.sampling
    assert_samples_what_pytorch_does(chain, weights, dataclasses.replace(weights.sampling, steps=3, decide=False))


@pytest.mark.slow
def test_the_graphs_are_of_operators_that_the_runtime_takes(bundle: Bundle) -> None:
    for graph in bundle.graphs.values():
        check_graph(graph)


@pytest.mark.parametrize("change", [{"modulation": "cam"}, {"similarity": "dot"}])
def test_what_has_no_such_form_is_refused(change: dict[str, str]) -> None:
    config = dataclasses.replace(SPARSE, **change)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="only sparse networks with ACAM tokens"):
        functions(build(config, PROCESS))
