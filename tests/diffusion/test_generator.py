"""Models as generators: what they learn from, and the graphs they sample from a seed."""

from __future__ import annotations

import math

import pytest
import torch

from manetdiff.diffusion.draws import layout_draws
from manetdiff.diffusion.generator import (
    KL_WEIGHT,
    DenseGenerator,
    DiffusionGenerator,
    TrainingDraws,
    VariationalGenerator,
    build,
)
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.errors import ModelError
from manetdiff.model.config import ModelConfig
from manetdiff.model.losses import LossWeights
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.model.vae import divergence
from manetdiff.sampling import SamplerConfig
from support.diffusion_samples import assert_graphs
from support.graph_samples import dense, perturbed, scattered_graphs, scattered_layouts, uniform_draws
from support.small_networks import NETWORKS

# Of every kind, to sample from.
SOME = (
    "acam, cosine, nodes",
    "acam, dot, nodes+edges",
    "cam, cosine, nodes",
    "statistics, no features",
    "no modulation",
    "graph-vae, no features",
    "gt-vae",
)
# Nothing at its default, so that nothing can be forgotten.
PROCESS = Process(3.0, noise_redundancy=1.7, parity_pace=0.6, heading=5.0)


def _model(name: str) -> DenseGenerator:
    return dense(perturbed(lambda: build(NETWORKS[name], PROCESS)))


def _training_draws(layouts: Layouts, latent: int, seed: int = 0) -> TrainingDraws:
    generator = torch.Generator().manual_seed(seed)
    b, n = layouts.mask.shape
    return TrainingDraws(
        torch.rand(b, generator=generator),
        uniform_draws(layouts.mask, generator),
        torch.randn(b, n, latent, generator=generator),
    )


# Without features, the edges that a GT-VAE begins to decode from are all the same.
@pytest.mark.parametrize("name", sorted(NETWORKS.keys() - {"gt-vae, no features"}))
def test_the_loss_is_finite_and_every_parameter_learns_from_it(name: str) -> None:
    model = _model(name)
    layouts = scattered_layouts([7, 10, 12])
    weights = LossWeights(edges=1.0, parity=2.0, sector=0.5, cosine=0.25, odd=0.125)
    terms = model.loss_terms(layouts, scattered_graphs(layouts), _training_draws(layouts, 3), weights)
    extra = {"divergence"} if NETWORKS[name].kind != "diffusion" else set()
    assert set(terms) == {"edges", "parity", "sector", "cosine", "odd"} | extra
    loss = torch.stack(list(terms.values())).sum()
    assert bool(torch.isfinite(loss))
    loss.backward()  # type: ignore[no-untyped-call]
    for parameter, tensor in model.named_parameters():
        assert tensor.grad is not None, parameter
        assert bool(torch.isfinite(tensor.grad).all()) and bool(tensor.grad.any()), parameter


@pytest.mark.parametrize("name", ["acam, cosine, nodes", "gt-vae"])
def test_loss_terms_come_weighted(name: str) -> None:
    model = _model(name)
    layouts = scattered_layouts([7, 10])
    clean, draws = scattered_graphs(layouts), _training_draws(layouts, 3)
    weights = LossWeights(edges=3.0, parity=2.0, sector=0.5, cosine=0.25, odd=0.0)
    plain = model.loss_terms(layouts, clean, draws, LossWeights(1.0, 1.0, 1.0, 1.0, 1.0))
    weighted = model.loss_terms(layouts, clean, draws, weights)
    assert set(weighted) == set(plain) - {"odd"}
    for term, value in weighted.items():
        factor = weights.to_dict().get(term, 1.0)
        assert math.isclose(value.item(), factor * plain[term].item(), rel_tol=1e-5), term
    if isinstance(model, VariationalGenerator):
        _, latents = model.vae(layouts, clean, draws.normal)
        expected = KL_WEIGHT * divergence(latents, layouts.mask)
        assert math.isclose(weighted["divergence"].item(), expected.item(), rel_tol=1e-5)


@pytest.mark.parametrize("name", SOME)
def test_a_seed_gives_the_same_graph_alone_and_in_any_batch_with_any_padding(name: str) -> None:
    model = _model(name)
    sizes, seeds = [9, 16, 12], [(7, k) for k in range(3)]
    sampling = SamplerConfig(steps=5, temperature=1.0, decide=False)
    layouts = scattered_layouts(sizes, n=18)
    together = model.sample(layouts, seeds, sampling)
    assert_graphs(together, layouts.mask)
    for row, n in enumerate(sizes):
        alone = model.sample(scattered_layouts([n]), [seeds[row]], sampling)
        assert torch.equal(together.edges[row, :n, :n], alone.edges[0])
        assert torch.equal(together.parity[row, :n], alone.parity[0])
    others = model.sample(scattered_layouts([16] * 4), [(k,) for k in range(4)], sampling)
    assert len({tuple(graph.flatten().tolist()) for graph in others.edges}) > 1


def test_a_diffusion_model_learns_from_and_samples_by_its_process() -> None:
    """Layouts are embedded once for all steps: the same as telling the denoiser the layouts in each of them."""
    model = _model("acam, cosine, nodes")
    assert isinstance(model, DiffusionGenerator)
    layouts, seeds = scattered_layouts([9, 12]), [(1,), (2,)]
    pace = PROCESS.pace(layouts, 4)
    clean, draws = scattered_graphs(layouts), _training_draws(layouts, 3)
    seen: list[Graphs] = []
    hook = model.denoiser.register_forward_pre_hook(lambda _, given: seen.append(given[1]))
    model.loss_terms(layouts, clean, draws, LossWeights())
    hook.remove()
    (noisy,) = seen
    wanted = PROCESS.noised(clean, draws.time, draws.uniform, layouts.mask, pace)
    assert torch.equal(noisy.edges, wanted.edges) and torch.equal(noisy.parity, wanted.parity)
    sampling = SamplerConfig(steps=4, temperature=1.0, decide=False)
    with torch.no_grad():
        expected = Sampler(PROCESS, sampling).sample(
            lambda state, time: model.denoiser(layouts, state, time),
            layouts.mask,
            layout_draws(seeds, [9, 12], 4),
            pace,
        )
    made = model.sample(layouts, seeds, sampling)
    assert torch.equal(made.edges, expected.edges) and torch.equal(made.parity, expected.parity)


def test_unknown_kinds_of_models_are_refused() -> None:
    config = ModelConfig()
    object.__setattr__(config, "kind", "oracle")  # as a later version of the settings might
    with pytest.raises(ModelError, match="'oracle'"):
        build(config, PROCESS)
