from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from manetdiff import Fleet, Radio
from manetdiff.errors import ModelError
from manetdiff.layout import Layout, pad
from manetdiff.layout.features import COS_ANGLE, SIN_ANGLE
from manetdiff.model.losses import LossWeights, cosine_loss, losses
from manetdiff.model.tensors import Graphs, Layouts, Prediction
from manetdiff.model.vae import Latents, divergence
from support.graph_samples import flipped, graphs_in_double, mask_of, scattered_graphs, scattered_layouts

ALL = LossWeights(1.0, 1.0, 1.0, 1.0, 1.0)
TERMS = ("edges", "parity", "sector", "cosine", "odd")
some_sizes = st.lists(st.integers(2, 9), min_size=1, max_size=4)


def _prediction(layouts: Layouts, seed: int, spread: float = 3.0) -> Prediction:
    """Random log-odds, symmetric; they depend on the layout's size and the seed, not on padding or the others."""
    edges, parity = np.zeros(layouts.sector.shape), np.zeros(layouts.mask.shape)
    for row, n in enumerate(layouts.mask.sum(1).tolist()):
        rng = np.random.default_rng((seed, n))
        above = np.triu(rng.normal(scale=spread, size=(n, n)), 1)
        edges[row, :n, :n] = above + above.T
        parity[row, :n] = rng.normal(scale=spread, size=n)
    return Prediction(torch.from_numpy(edges), torch.from_numpy(parity))


def _sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def _surprise(clean: float, share: float) -> float:
    """Cross-entropy of one variable."""
    return -math.log(share if clean else 1 - share)


def _plain_losses(prediction: Prediction, clean: Graphs, layouts: Layouts, row: int) -> dict[str, float]:
    """The terms of one graph: node by node, pair by pair and, for the cosine, by pairs of links."""
    n = int(layouts.mask[row].sum())
    share = [[_sigmoid(float(prediction.edges[row, i, j])) if i != j else 0.0 for j in range(n)] for i in range(n)]
    odd = [_sigmoid(float(prediction.parity[row, i])) for i in range(n)]
    pairs = list(itertools.combinations(range(n), 2))
    saturated = 0.0
    for i in range(n):
        for antenna in range(4):
            load = sum(share[i][j] for j in range(n) if j != i and int(layouts.sector[row, i, j]) == antenna)
            saturated += max(0.0, load - 1)
    straight = 0.0
    for h in range(n):
        angle = [math.atan2(layouts.pair[row, h, j, SIN_ANGLE], layouts.pair[row, h, j, COS_ANGLE]) for j in range(n)]
        links = [(i, j) for i, j in pairs if h not in (i, j)]
        # The way into h from i is against the way from h to i.
        cosine = sum(share[h][i] * share[h][j] * -math.cos(angle[i] - angle[j]) for i, j in links)
        weight = sum(share[h][i] * share[h][j] for i, j in links)
        # A node with hardly a pair of links has no say: 2 Σ_{i<j} is held above 1e-3.
        straight += 2 * cosine / max(2 * weight, 1e-3)
    links_in_all = sum(share[i][j] for i, j in pairs)
    return {
        "edges": sum(_surprise(float(clean.edges[row, i, j]), share[i][j]) for i, j in pairs) / n,
        "parity": sum(_surprise(float(clean.parity[row, i]), odd[i]) for i in range(n)) / n,
        "sector": saturated / n,
        "cosine": 1 - straight / n,
        "odd": sum(share[i][j] * (1 - abs(odd[i] - odd[j])) for i, j in pairs) / (1 + links_in_all),
    }


@given(some_sizes, st.integers(0, 2**16))
@settings(max_examples=25)
def test_losses_are_means_over_graphs_of_the_plain_transcription(sizes: list[int], seed: int) -> None:
    layouts = scattered_layouts(sizes, seed, 10)
    clean, prediction = graphs_in_double(scattered_graphs(layouts, seed)), _prediction(layouts, seed)
    made = losses(prediction, clean, layouts, 4, ALL)
    assert set(made) == set(TERMS)
    each = [_plain_losses(prediction, clean, layouts, row) for row in range(len(sizes))]
    for name in TERMS:
        expected = sum(terms[name] for terms in each) / len(sizes)
        # Features are in single precision, whose rounding the cosine loss divides by as little as 1e-3.
        assert math.isclose(made[name].item(), expected, rel_tol=1e-6, abs_tol=3e-4 if name == "cosine" else 1e-6), name


@given(some_sizes, st.integers(0, 2**16), st.integers(1, 5))
@settings(max_examples=25)
def test_padding_and_the_rest_of_the_batch_have_no_say(sizes: list[int], seed: int, more: int) -> None:
    layouts = scattered_layouts(sizes, seed)
    clean, prediction = graphs_in_double(scattered_graphs(layouts, seed)), _prediction(layouts, seed)
    together = losses(prediction, clean, layouts, 4, ALL)
    total = dict.fromkeys(TERMS, 0.0)
    for n in sizes:
        roomy = scattered_layouts([n], seed, n + more)
        logits = _prediction(roomy, seed)
        # A network leaves 0 at padding; a loss must not rely on it.
        there = roomy.pair_mask, roomy.mask
        spoilt = Prediction(*(part.masked_fill(~mask, 7.0) for part, mask in zip(logits, there, strict=True)))
        alone = losses(spoilt, graphs_in_double(scattered_graphs(roomy, seed)), roomy, 4, ALL)
        for name, value in alone.items():
            total[name] += value.item() / len(sizes)
    for name in TERMS:
        assert math.isclose(together[name].item(), total[name], rel_tol=1e-6, abs_tol=1e-6), name


@pytest.mark.parametrize("name", TERMS)
def test_a_weight_of_zero_switches_its_term_off(name: str) -> None:
    layouts = scattered_layouts([5, 7])
    clean, prediction = graphs_in_double(scattered_graphs(layouts)), _prediction(layouts, 0)
    without = losses(prediction, clean, layouts, 4, LossWeights(**{**ALL.to_dict(), name: 0.0}))
    assert set(without) == set(TERMS) - {name}
    alone = losses(prediction, clean, layouts, 4, LossWeights(**{**dict.fromkeys(TERMS, 0.0), name: 0.5}))
    # Terms come unweighted: only whether a weight is 0 counts here.
    assert {key: value.item() for key, value in alone.items()} == {
        name: losses(prediction, clean, layouts, 4, ALL)[name].item()
    }


def test_the_losses_of_a_certain_and_right_prediction() -> None:
    # A square whose nodes look along its sides: a ring of four links, each on an antenna of its own.
    fleet = Fleet([[0, 0], [1, 0], [1, 1], [0, 1]], np.zeros(4))
    layouts = Layouts.from_numpy(pad([Layout(fleet, Radio()).features]))
    ring = torch.zeros(1, 4, 4)
    for i in range(4):
        ring[0, i, (i + 1) % 4] = ring[0, (i + 1) % 4, i] = 1
    clean = Graphs(ring, torch.tensor([[0.0, 1.0, 0.0, 1.0]]))
    certain = Prediction(60 * (2 * clean.edges - 1), 60 * (2 * clean.parity - 1))
    made = {name: value.item() for name, value in losses(certain, clean, layouts, 4, ALL).items()}
    # Right angles are neither straight nor sharp: the cosine loss is 1.
    expected = {"edges": 0.0, "parity": 0.0, "sector": 0.0, "cosine": 1.0, "odd": 0.0}
    assert made == pytest.approx(expected, abs=1e-6)
    # With all of one parity, 4 of 4 + 1 links are against it.
    same = losses(Prediction(certain.edges, torch.full((1, 4), 60.0)), clean, layouts, 4, ALL)
    assert math.isclose(same["odd"].item(), 4 / 5, rel_tol=1e-6)
    # And with no idea at all, a bit for each of 6 pairs and 4 nodes, per node.
    unknowing = losses(Prediction(torch.zeros(1, 4, 4), torch.zeros(1, 4)), clean, layouts, 4, ALL)
    assert math.isclose(unknowing["edges"].item(), 6 / 4 * math.log(2), rel_tol=1e-6)
    assert math.isclose(unknowing["parity"].item(), math.log(2), rel_tol=1e-6)


def _unit_vectors(fleet: Fleet) -> tuple[Tensor, Tensor]:
    pair = torch.from_numpy(Layout(fleet, Radio()).features.pair)[None]
    return pair[..., COS_ANGLE], pair[..., SIN_ANGLE]


@pytest.mark.parametrize(
    ("third", "counts"),
    [([1.0, 0.0], 1.0), ([-2.0, 0.0], -1.0), ([0.0, 3.0], 0.0), ([0.5, math.sqrt(0.75)], 0.5)],
)
def test_a_node_counts_the_cosine_between_its_two_links(third: list[float], counts: float) -> None:
    # Node 0 in the middle, node 1 to the west; the third straight on, behind node 1, across, or 60° off straight.
    fleet = Fleet([[0.0, 0.0], [-1.0, 0.0], third], [0.3, 0.7, 0.5])
    shares = torch.tensor([[[0.0, 1, 1], [1, 0, 0], [1, 0, 0]]])
    loss = cosine_loss(shares, *_unit_vectors(fleet), torch.tensor([3]))
    # The other two nodes have one link each, and count nothing.
    assert math.isclose(loss.item(), 1 - counts / 3, abs_tol=1e-3)


def test_a_single_link_counts_nothing_with_features_in_half_precision() -> None:
    # As training keeps them; 37° is among the worst.
    angle = 0.64
    cos, sin = (value.half().float() for value in (torch.tensor(math.cos(angle)), torch.tensor(math.sin(angle))))
    way = torch.tensor([[[0.0, 1.0], [-1.0, 0.0]]])
    loss = cosine_loss(way.abs(), way * cos, way * sin, torch.tensor([2]))
    assert math.isclose(loss.item(), 1.0, abs_tol=0.01)


def test_the_cosine_loss_has_a_gradient_where_nothing_is_linked() -> None:
    fleet = Fleet([[0.0, 0.0], [-1.0, 0.0], [1.0, 0.2]], np.zeros(3))
    shares = torch.zeros(1, 3, 3, requires_grad=True)
    cosine_loss(shares, *_unit_vectors(fleet), torch.tensor([3])).backward()  # type: ignore[no-untyped-call]
    assert shares.grad is not None and bool(torch.isfinite(shares.grad).all())


@given(some_sizes, st.integers(0, 2**16))
@settings(max_examples=25)
def test_flipping_every_parity_leaves_the_losses_as_they_are(sizes: list[int], seed: int) -> None:
    layouts = scattered_layouts(sizes, seed)
    clean, prediction = graphs_in_double(scattered_graphs(layouts, seed)), _prediction(layouts, seed)
    before = losses(prediction, clean, layouts, 4, ALL)
    after = losses(Prediction(prediction.edges, -prediction.parity), flipped(clean, layouts.mask), layouts, 4, ALL)
    for name in TERMS:
        assert math.isclose(before[name].item(), after[name].item(), rel_tol=1e-9, abs_tol=1e-12), name


def test_the_divergence_is_that_of_normal_distributions_per_node() -> None:
    sizes = [3, 6]
    generator = torch.Generator().manual_seed(8)
    latents = Latents(torch.randn(2, 6, 4, generator=generator), torch.randn(2, 6, 4, generator=generator))
    made = divergence(latents, mask_of(sizes))
    expected = 0.0
    for row, n in enumerate(sizes):
        normal = torch.distributions.Normal(latents.mean[row, :n], (0.5 * latents.log_variance[row, :n]).exp())
        standard = torch.distributions.Normal(torch.zeros(n, 4), torch.ones(n, 4))
        each = torch.distributions.kl_divergence(normal, standard)
        expected += each.sum().item() / n / len(sizes)
    assert math.isclose(made.item(), expected, rel_tol=1e-5)
    nothing = Latents(torch.zeros(2, 6, 4), torch.zeros(2, 6, 4))
    assert divergence(nothing, mask_of(sizes)).item() == 0.0


def test_cross_entropy_alone_has_no_penalties() -> None:
    assert LossWeights.cross_entropy_only() == LossWeights(edges=1.0, parity=1.0, sector=0.0, cosine=0.0, odd=0.0)


@pytest.mark.parametrize("name", TERMS)
def test_bad_weights_are_refused_by_name(name: str) -> None:
    for value in (-0.1, math.nan, math.inf, True, "1", None):
        with pytest.raises(ModelError, match=name):
            LossWeights.from_dict({name: value})
