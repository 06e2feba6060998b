"""The times a sampler steps through, and settings of a sampler that are refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.errors import ModelError
from manetdiff.sampling import STEPS, Grid, SamplerConfig, time_pairs
from support.diffusion_samples import grids


@given(st.integers(1, 200), grids, st.floats(0.001, 1))
def test_steps_lead_from_the_start_to_zero_without_a_gap(steps: int, grid: Grid, start: float) -> None:
    pairs = time_pairs(steps, grid, start)
    assert len(pairs) == steps
    assert pairs[0][0] == start and pairs[-1][1] == 0.0
    assert all(t > s for t, s in pairs)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(pairs))


def test_a_linear_grid_of_all_steps_is_the_papers_and_a_cosine_grid_begins_slowly() -> None:
    assert np.allclose([t for t, _ in time_pairs(STEPS)], [t / 50 for t in range(50, 0, -1)])
    assert np.allclose(time_pairs(2, "late"), [(1, 0.5**1.7), (0.5**1.7, 0)])
    assert np.allclose(time_pairs(3, "cosine"), [(1, math.sin(math.pi / 3)), (math.sin(math.pi / 3), 0.5), (0.5, 0)])
    widths = [t - s for t, s in time_pairs(20, "cosine")]
    assert widths == sorted(widths)


@pytest.mark.parametrize("steps", [0, -3, 2.0, True, "5"])
def test_step_counts_that_are_none_are_refused(steps: object) -> None:
    with pytest.raises(ModelError, match="steps"):
        time_pairs(steps)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="steps"):
        SamplerConfig(steps=steps)  # type: ignore[arg-type]


def test_unknown_grids_and_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ModelError, match="grid"):
        time_pairs(5, "square")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="grid"):
        SamplerConfig(grid="square")  # type: ignore[arg-type]
    for start in (0.0, -0.5, 1.01, math.nan):
        with pytest.raises(ModelError, match="start"):
            time_pairs(5, "linear", start)
    for temperature in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ModelError, match="temperature"):
            SamplerConfig(temperature=temperature)
    for redundancy in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ModelError, match="redundancy"):
            SamplerConfig(redundancy=redundancy)
