"""Transitions of a variable with two states, and the exact posterior between any two times.

Q̄(t) = ᾱ(t) I + (1 - ᾱ(t)) 1 mᵀ. Here m is written as one number, the share of state 1 in pure noise; it may differ
from variable to variable, as it does when a previous topology takes its place.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from manetdiff.diffusion.schedule import alpha_bar

TINY = 1e-30
TRACE = 1e-6


class Stride(NamedTuple):
    """What is between two times s < t: ᾱ(t)/ᾱ(s), what that lacks to 1, and ᾱ(s). Each of the times' shape."""

    kept: Tensor
    lost: Tensor
    earlier: Tensor


def stride(time: Tensor, earlier: Tensor, *, pace: float = 1.0) -> Stride:
    """From time t back to s; pace: see alpha_bar."""
    # In double precision: over a short step the two are almost the same, and their difference is what counts.
    kept_s, kept_t = alpha_bar(earlier.double(), pace), alpha_bar(time.double(), pace)
    between = kept_t / kept_s
    return Stride(*(part.to(time.dtype) for part in (between, 1 - between, kept_s)))


def at_pace(between: Stride, pace: Tensor) -> Stride:
    """The same stride where ᾱ is raised to a power."""
    # By way of what is lost: over a short step it is too small to be told from 1 - kept.
    lost = -torch.expm1(pace * torch.log1p(-between.lost))
    return Stride(1 - lost, lost, between.earlier**pace)


def posterior(state: Tensor, predicted: Tensor, share: Tensor | float, between: Stride) -> Tensor:
    """p(x_s = 1 | x_t) = Σ_x0 q(x_s = 1 | x_t, x_0) p(x_0), for times s < t.

    - state: x_t, of 0 and 1. predicted: the predicted share of x_0 = 1. share: m. between: the stride from t to s.
    """
    # Noise of one state only could not have led to the other; a trace of it keeps the posterior defined.
    share = torch.as_tensor(share, dtype=state.dtype, device=state.device).clamp(TRACE, 1 - TRACE)
    # q(x_t | x_s = 1) and q(x_t | x_s = 0) for the x_t at hand.
    of_state = state * share + (1 - state) * (1 - share)
    from_one = between.kept * state + between.lost * of_state
    from_zero = between.kept * (1 - state) + between.lost * of_state
    total = torch.zeros_like(predicted)
    for clean, weight in ((0.0, 1 - predicted), (1.0, predicted)):
        one = mixed(clean, share, between.earlier)  # q(x_s = 1 | x_0)
        reached = from_one * one
        total = total + weight * reached / (reached + from_zero * (1 - one)).clamp(min=TINY)
    return total


def mixed(clean: Tensor | float, share: Tensor | float, kept: Tensor) -> Tensor:
    """q(x_t = 1 | x_0) = ᾱ x_0 + (1 - ᾱ) m. clean: states, or shares of state 1; share: m; kept: ᾱ(t)."""
    return kept * clean + (1 - kept) * share
