"""Noise on one variable, and the way back: both against Bayes' rule in exact fractions and matrix powers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff.sampling import STEPS, Grid, time_pairs
from support.diffusion_samples import grids, noised_share, posterior_between, precise

# Shares of state 1 in the noise: the whole range, and closer to its ends than any fleet of 256 comes.
shares = st.one_of(st.floats(0.01, 0.99), st.sampled_from([1e-6, 1e-4, 1 - 1e-4, 1 - 1e-6]))
# Two of the paper's 50 steps and the clean state, or any other two times.
later_and_earlier = st.one_of(
    st.lists(st.integers(0, STEPS), min_size=2, max_size=2, unique=True).map(
        lambda steps: (max(steps) / STEPS, min(steps) / STEPS)
    ),
    st.tuples(st.floats(0.01, 1), st.floats(0, 0.98)).map(lambda drawn: (drawn[0], drawn[0] * drawn[1])),
)
Matrix = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]


def _kept(time: float) -> float:
    """ᾱ of the design; time 0 is the clean state."""
    return math.cos(0.5 * math.pi * (time + 0.008) / 1.008) ** 2 if time > 0 else 1.0


def _noise_matrix(kept: float, share: float) -> Matrix:
    """Q̄ = ᾱ I + (1-ᾱ) 1 mᵀ, from row to column, without rounding."""
    a, m = Fraction(kept), Fraction(share)
    return ((a + (1 - a) * (1 - m), (1 - a) * m), ((1 - a) * (1 - m), a + (1 - a) * m))


def _times(one: Matrix, other: Matrix) -> Matrix:
    (a, b), (c, d) = one
    (e, f), (g, h) = other
    return ((a * e + b * g, a * f + b * h), (c * e + d * g, c * f + d * h))


def _inverse(matrix: Matrix) -> Matrix:
    (a, b), (c, d) = matrix
    determinant = a * d - b * c
    return ((d / determinant, -b / determinant), (-c / determinant, a / determinant))


def _bayes(state: int, predicted: float, share: float, time: float, earlier: float) -> float:
    """p(x_s = 1 | x_t), by summing over every x_0 and x_s."""
    until_s, until_t = _noise_matrix(_kept(earlier), share), _noise_matrix(_kept(time), share)
    between = _times(_inverse(until_s), until_t)  # Q(t|s), from Q̄(t) = Q̄(s) Q(t|s)
    total = Fraction(0)
    for clean, weight in ((0, 1 - Fraction(predicted)), (1, Fraction(predicted))):
        joint = [until_s[clean][x] * between[x][state] for x in (0, 1)]
        total += weight * joint[1] / sum(joint)
    return float(total)


@given(st.integers(0, 1), st.floats(0, 1), shares, later_and_earlier)
@settings(max_examples=400)
def test_the_posterior_is_bayes_rule_between_any_two_times(
    state: int, predicted: float, share: float, moments: tuple[float, float]
) -> None:
    time, earlier = moments
    actual = posterior_between(precise(state), precise(predicted), share, precise(time), precise(earlier)).item()
    assert math.isclose(actual, _bayes(state, predicted, share, time, earlier), rel_tol=0, abs_tol=1e-6)


@given(st.integers(0, 1), st.floats(0, 1), st.floats(0.01, 0.99), st.integers(1, STEPS), grids)
def test_single_precision_is_enough_for_the_steps_of_a_sampler(
    state: int, predicted: float, share: float, steps: int, grid: Grid
) -> None:
    for t, s in time_pairs(steps, grid):
        single = posterior_between(
            *(torch.tensor(value, dtype=torch.float32) for value in (state, predicted, share, t, s))
        )
        double = posterior_between(*(precise(value) for value in (state, predicted, share, t, s)))
        # Of what is noised near time 0, some 1e-4, single precision has three digits.
        assert math.isclose(single.item(), double.item(), abs_tol=1e-3)


@given(st.integers(0, 1), st.floats(0, 1), shares, later_and_earlier)
def test_the_two_states_share_the_posterior(
    state: int, predicted: float, share: float, moments: tuple[float, float]
) -> None:
    """With the meaning of 0 and 1 exchanged everywhere, the posterior is that of the other state."""
    time, earlier = map(precise, moments)
    one = posterior_between(precise(state), precise(predicted), share, time, earlier)
    other = posterior_between(1 - precise(state), 1 - precise(predicted), 1 - precise(share), time, earlier)
    assert math.isclose(one.item() + other.item(), 1.0, abs_tol=1e-8)


@given(st.integers(0, 1), st.floats(0, 1), shares, st.floats(0.01, 1))
def test_at_time_zero_the_prediction_is_left(state: int, predicted: float, share: float, time: float) -> None:
    left = posterior_between(precise(state), precise(predicted), share, precise(time), precise(0.0)).item()
    assert math.isclose(left, predicted, abs_tol=1e-9)


@pytest.mark.parametrize(
    ("state", "share"),
    [
        (1, 0.0),
        (0, 1.0),
    ],
)
def test_noise_of_one_state_only_leaves_the_prediction_at_time_zero_too(state: int, share: float) -> None:
    """As where a previous topology takes the place of the noise, and the state has left it."""
    left = posterior_between(precise(state), precise(0.7), share, precise(0.6), precise(0.0)).item()
    assert math.isclose(left, 0.7, abs_tol=1e-9)


@given(st.integers(0, 1), shares, st.integers(1, 60), grids)
def test_steps_with_a_perfect_denoiser_pass_through_the_noise_process_backwards(
    clean: int, share: float, steps: int, grid: Grid
) -> None:
    """Chapman-Kolmogorov: from q(x_1|x_0) the steps lead to q(x_s|x_0) at every time on their way."""
    reached = noised_share(precise(clean), share, precise(1.0))
    for t, s in time_pairs(steps, grid):
        from_one, from_zero = (
            posterior_between(precise(state), precise(clean), share, precise(t), precise(s)) for state in (1, 0)
        )
        reached = reached * from_one + (1 - reached) * from_zero
        assert math.isclose(reached.item(), noised_share(precise(clean), share, precise(s)).item(), abs_tol=1e-8)


@given(shares, st.floats(0.5, 0.95), st.integers(1, 12))
def test_noise_of_k_equal_steps_is_the_kth_power_of_one(share: float, kept: float, k: int) -> None:
    # The time at which kept^k is left, from the schedule turned around.
    time = 1.008 * 2 / math.pi * math.acos(math.sqrt(kept**k)) - 0.008
    one_step = np.array(_noise_matrix(kept, share), dtype=np.float64)
    power = np.linalg.matrix_power(one_step, k)
    for clean in (0, 1):
        assert math.isclose(
            noised_share(precise(clean), share, precise(time)).item(), power[clean, 1], rel_tol=1e-9, abs_tol=1e-12
        )


@given(st.floats(0, 1), shares, st.floats(0, 1))
def test_noise_on_a_share_is_the_mixture_of_noise_on_states(clean: float, share: float, time: float) -> None:
    zero, one, mixed = (noised_share(precise(x), share, precise(time)).item() for x in (0.0, 1.0, clean))
    assert math.isclose(mixed, (1 - clean) * zero + clean * one, abs_tol=1e-12)
