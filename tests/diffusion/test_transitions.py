"""Noise on one variable, and the way back: both against Bayes' rule in exact fractions."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from manetdiff.diffusion.schedule import alpha_bar
from manetdiff.diffusion.transitions import at_pace, stride
from manetdiff.sampling import STEPS, Grid, time_pairs
from support.diffusion_samples import bayes, grids, kept_at, noised_share, posterior_between, precise

# Shares of state 1 in the noise: the whole range, and closer to its ends than any fleet of 256 comes.
shares = st.one_of(st.floats(0.01, 0.99), st.sampled_from([1e-6, 1e-4, 1 - 1e-4, 1 - 1e-6]))
# Two of the paper's 50 steps and the clean state, or any other two times.
later_and_earlier = st.one_of(
    st.lists(st.integers(0, STEPS), min_size=2, max_size=2, unique=True).map(
        lambda steps: (max(steps) / STEPS, min(steps) / STEPS)
    ),
    st.tuples(st.floats(0.01, 1), st.floats(0, 0.98)).map(lambda drawn: (drawn[0], drawn[0] * drawn[1])),
    st.floats(0.01, 1).map(lambda time: (time, 0.0)),
)
paces = st.one_of(st.just(1.0), st.floats(0.2, 3))


def test_the_schedule_is_the_designs_cosine_and_keeps_all_at_time_zero() -> None:
    times = torch.linspace(0, 1, 201, dtype=torch.float64)
    for pace in (1.0, 0.3):
        expected = torch.tensor([kept_at(time, pace) for time in times.tolist()], dtype=torch.float64)
        torch.testing.assert_close(alpha_bar(times, pace), expected, rtol=1e-12, atol=1e-15)
    assert alpha_bar(torch.zeros(1)).item() == 1.0
    assert alpha_bar(torch.ones(1)).item() < 1e-12


@given(st.integers(0, 1), st.floats(0, 1), shares, later_and_earlier, paces)
@settings(max_examples=300)
def test_the_posterior_is_bayes_rule_between_any_two_times(
    state: int, predicted: float, share: float, moments: tuple[float, float], pace: float
) -> None:
    time, earlier = map(precise, moments)
    found = posterior_between(precise(state), precise(predicted), share, time, earlier, pace=pace).item()
    assert math.isclose(found, bayes(state, predicted, share, *moments, pace), rel_tol=0, abs_tol=1e-6)
    if earlier == 0:
        assert math.isclose(found, predicted, abs_tol=1e-9)
    noised = kept_at(moments[0], pace) * state + (1 - kept_at(moments[0], pace)) * share
    assert math.isclose(noised_share(precise(state), share, time, pace=pace).item(), noised, abs_tol=1e-12)


@given(st.integers(0, 1), st.floats(0, 1), st.floats(0.01, 0.99), st.integers(1, STEPS), grids)
@settings(max_examples=30)
def test_single_precision_is_enough_for_the_steps_of_a_sampler(
    state: int, predicted: float, share: float, steps: int, grid: Grid
) -> None:
    def posteriors(dtype: torch.dtype) -> Tensor:
        times, earlier = torch.tensor(time_pairs(steps, grid), dtype=dtype).T
        x_t, x_0, m = (torch.full((steps,), value, dtype=dtype) for value in (state, predicted, share))
        return posterior_between(x_t, x_0, m, times, earlier).double()

    # Of what is noised near time 0, some 1e-4, single precision has three digits.
    torch.testing.assert_close(posteriors(torch.float32), posteriors(torch.float64), rtol=0, atol=1e-3)


@pytest.mark.parametrize(("state", "share"), [(1, 0.0), (0, 1.0)])
def test_noise_of_one_state_only_leaves_the_prediction_at_time_zero_too(state: int, share: float) -> None:
    """As where a previous topology takes the place of the noise, and the state has left it."""
    left = posterior_between(precise(state), precise(0.7), share, precise(0.6), precise(0.0)).item()
    assert math.isclose(left, 0.7, abs_tol=1e-9)


# As short as steps may get, and from pure noise to the clean state.
short_or_whole = st.one_of(st.floats(0.01, 0.99).map(lambda time: (time, time - 1e-4)), st.just((1.0, 0.0)))


@given(st.one_of(later_and_earlier, short_or_whole), st.one_of(st.just(1.0), st.floats(1, 8)))
def test_a_stride_at_a_pace_is_that_of_the_schedule_raised_to_a_power(
    moments: tuple[float, float], pace: float
) -> None:
    time, earlier = (torch.tensor(moment) for moment in moments)
    own = torch.tensor(pace)
    log_kept_t, log_kept_s = (own.double() * alpha_bar(moment.double()).log() for moment in (time, earlier))
    made = at_pace(stride(time, earlier), own)
    assert math.isclose(made.kept.item(), (log_kept_t - log_kept_s).exp().item(), abs_tol=1e-6)
    assert math.isclose(made.earlier.item(), log_kept_s.exp().item(), rel_tol=1e-4, abs_tol=1e-7)
    # Of a short step little is lost: what there is must be right by itself, not only to the rounding of 1.
    assert math.isclose(made.lost.item(), -torch.expm1(log_kept_t - log_kept_s).item(), rel_tol=1e-5)
