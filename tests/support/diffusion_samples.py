"""What several tests of the diffusion need: sizes, numbers in double precision, and what chance allows."""

from __future__ import annotations

import math
from fractions import Fraction

import torch
from hypothesis import strategies as st
from torch import Tensor

from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.diffusion.transitions import mixed, posterior, stride
from manetdiff.model.tensors import Graphs

SIZES = (2, 5, 9)
grids = st.sampled_from(["linear", "cosine", "late"])


def precise(value: float) -> Tensor:
    """A number as a tensor in double precision."""
    return torch.tensor(value, dtype=torch.float64)


def noised_share(clean: Tensor, share: Tensor | float, time: Tensor, *, pace: float = 1.0) -> Tensor:
    """q(x_t = 1 | x_0)."""
    return mixed(clean, share, alpha_bar(time, pace))


def posterior_between(
    state: Tensor, predicted: Tensor, share: Tensor | float, time: Tensor, earlier: Tensor, *, pace: float = 1.0
) -> Tensor:
    """p(x_s = 1 | x_t) for two times s < t."""
    return posterior(state, predicted, share, stride(time, earlier, pace=pace))


def kept_at(time: float, pace: float = 1.0) -> float:
    """ᾱ of the design, and a power of it; time 0 is the clean state."""
    return math.cos(0.5 * math.pi * (time + 0.008) / 1.008) ** (2 * pace) if time > 0 else 1.0


def bayes(state: int, predicted: float, share: float, time: float, earlier: float, pace: float = 1.0) -> float:
    """p(x_s = 1 | x_t) without rounding, by summing over every x_0 and x_s."""
    kept_t, kept_s = Fraction(kept_at(time, pace)), Fraction(kept_at(earlier, pace))

    def likely(before: int, after: int, kept: Fraction) -> Fraction:
        return kept * (before == after) + (1 - kept) * (Fraction(share) if after else 1 - Fraction(share))

    total = Fraction(0)
    for clean, weight in ((0, 1 - Fraction(predicted)), (1, Fraction(predicted))):
        joint = [likely(clean, between, kept_s) * likely(between, state, kept_t / kept_s) for between in (0, 1)]
        total += weight * joint[1] / sum(joint)
    return float(total)


def assert_graphs(graphs: Graphs, mask: Tensor) -> None:
    """States of 0 and 1, symmetric, nothing on the diagonal or at padding."""
    for part in graphs:
        assert bool(((part == 0) | (part == 1)).all())
    assert torch.equal(graphs.edges, graphs.edges.transpose(1, 2))
    assert not graphs.edges.diagonal(dim1=1, dim2=2).any()
    assert not graphs.edges[~(mask[:, :, None] & mask[:, None, :])].any()
    assert not graphs.parity[~mask].any()


def within_chance(count: float, share: float, trials: int) -> bool:
    """Whether so many of the trials is what a share promises, to five standard deviations."""
    return abs(count - share * trials) <= 5 * math.sqrt(share * (1 - share) * trials) + 1e-9
