"""Models as generators: what they learn from, and the graphs they sample from a seed."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from manetdiff.diffusion.draws import layout_draws
from manetdiff.diffusion.generator import KL_WEIGHT, DiffusionGenerator, TrainingDraws, VariationalGenerator, build
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.sampler import Sampler
from manetdiff.errors import ModelError
from manetdiff.model.config import ModelConfig
from manetdiff.model.losses import LossWeights
from manetdiff.model.tensors import Layouts
from manetdiff.model.vae import divergence
from manetdiff.sampling import SamplerConfig
from support.diffusion_samples import assert_graphs
from support.graph_samples import perturbed, scattered_graphs, scattered_layouts, uniform_draws

SMALL = ModelConfig(width=8, blocks=2, tokens=3, latent=3)
MODELS = {
    "acam": SMALL,
    "acam of nodes and edges": dataclasses.replace(SMALL, reads="nodes+edges", similarity="dot"),
    "cam": dataclasses.replace(SMALL, modulation="cam"),
    "cam of nodes and edges": dataclasses.replace(SMALL, modulation="cam", reads="nodes+edges"),
    "statistics": dataclasses.replace(SMALL, modulation="statistics"),
    "plain statistics": dataclasses.replace(SMALL, modulation="statistics", domain_features=False),
    "none": dataclasses.replace(SMALL, modulation="none"),
    "graph-vae": dataclasses.replace(SMALL, kind="graph-vae"),
    "gt-vae": dataclasses.replace(SMALL, kind="gt-vae"),
    "plain graph-vae": dataclasses.replace(SMALL, kind="graph-vae", domain_features=False),
}


def _model(name: str) -> DiffusionGenerator | VariationalGenerator:
    return perturbed(lambda: build(MODELS[name], Process(3.0)))


def _training_draws(layouts: Layouts, latent: int, seed: int = 0) -> TrainingDraws:
    generator = torch.Generator().manual_seed(seed)
    b, n = layouts.mask.shape
    return TrainingDraws(
        torch.rand(b, generator=generator),
        uniform_draws(layouts.mask, generator),
        torch.randn(b, n, latent, generator=generator),
    )


@pytest.mark.parametrize("name", MODELS)
def test_the_loss_is_finite_and_every_parameter_learns_from_it(name: str) -> None:
    model = _model(name)
    layouts = scattered_layouts([7, 10, 12])
    weights = LossWeights(edges=1.0, parity=2.0, sector=0.5, cosine=0.25, odd=0.125)
    terms = model.loss_terms(layouts, scattered_graphs(layouts), _training_draws(layouts, 3), weights)
    extra = {"divergence"} if MODELS[name].kind != "diffusion" else set()
    assert set(terms) == {"edges", "parity", "sector", "cosine", "odd"} | extra
    loss = torch.stack(list(terms.values())).sum()
    assert bool(torch.isfinite(loss))
    loss.backward()  # type: ignore[no-untyped-call]
    for parameter, tensor in model.named_parameters():
        assert tensor.grad is not None, parameter
        assert bool(torch.isfinite(tensor.grad).all()) and bool(tensor.grad.any()), parameter


@pytest.mark.parametrize("name", ["acam", "gt-vae"])
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


@pytest.mark.parametrize("name", MODELS)
def test_a_seed_gives_the_same_graph_alone_and_in_any_batch(name: str) -> None:
    model = _model(name)
    sizes = [9, 16, 12]
    sampling = SamplerConfig(steps=5, temperature=1.0, decide=False)
    layouts = scattered_layouts(sizes)
    seeds = [(7, k) for k in range(3)]
    together = model.sample(layouts, seeds, sampling)
    assert_graphs(together, layouts.mask)
    for row, n in enumerate(sizes):
        alone = model.sample(scattered_layouts([n]), [seeds[row]], sampling)
        assert torch.equal(together.edges[row, :n, :n], alone.edges[0])
        assert torch.equal(together.parity[row, :n], alone.parity[0])


@pytest.mark.parametrize("name", ["acam", "gt-vae", "graph-vae"])
def test_other_seeds_give_other_graphs(name: str) -> None:
    model = _model(name)
    layouts = scattered_layouts([16] * 4)
    made = model.sample(layouts, [(k,) for k in range(4)], SamplerConfig(steps=5, temperature=1.0, decide=False))
    assert len({tuple(graph.flatten().tolist()) for graph in made.edges}) > 1


@pytest.mark.parametrize(
    "name",
    ["acam", "gt-vae"],
)
def test_padding_beyond_the_largest_layout_changes_no_graph(name: str) -> None:
    model = _model(name)
    sampling = SamplerConfig(steps=3)
    tight = model.sample(scattered_layouts([9, 12]), [(1,), (2,)], sampling)
    roomy = model.sample(scattered_layouts([9, 12], n=16), [(1,), (2,)], sampling)
    assert torch.equal(tight.edges, roomy.edges[:, :12, :12])
    assert torch.equal(tight.parity, roomy.parity[:, :12])


def test_a_generator_samples_what_its_denoiser_predicts() -> None:
    """Layouts are embedded once for all steps: the same as telling the denoiser the layouts in each of them."""
    model = _model("acam")
    assert isinstance(model, DiffusionGenerator)
    denoiser = model.denoiser
    layouts = scattered_layouts([9, 12])
    sampling = SamplerConfig(steps=4, temperature=1.0, decide=False)
    draws = layout_draws([(1,), (2,)], [9, 12], 4)
    with torch.no_grad():
        expected = Sampler(Process(3.0), sampling).sample(
            lambda state, time: denoiser(layouts, state, time), layouts.mask, draws
        )
    made = model.sample(layouts, [(1,), (2,)], sampling)
    assert torch.equal(made.edges, expected.edges)
    assert torch.equal(made.parity, expected.parity)


def test_unknown_kinds_of_models_are_refused() -> None:
    config = ModelConfig()
    object.__setattr__(config, "kind", "oracle")  # as a later version of the settings might
    with pytest.raises(ModelError, match="'oracle'"):
        build(config, Process(3.0))
