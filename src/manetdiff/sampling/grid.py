"""Which times a sampler visits."""

from __future__ import annotations

import itertools
import math
from typing import Literal, get_args

from manetdiff.checks import check_choice, check_whole
from manetdiff.errors import ModelError

Grid = Literal["linear", "cosine", "late"]
# From so many steps on an even grid is as good as any.
EVEN_FROM = 20
# Beyond it somebody has mistaken a unit: after some hundreds a chain gets no better.
MOST_STEPS = 10_000
# Of the grid 'late'.
LATE = 1.7
# Few steps from pure noise spend themselves on which half of the fleet is of which parity. From the shortest spanning
# forest, taken as the state at a time, that is settled: one step from 0.6 is worth two from noise, two from 0.75 three.
FOREST_START, FOREST_START_OF_ONE = 0.75, 0.6


def grid_for(steps: int) -> Grid:
    """The better grid for so many steps, as measured."""
    return "linear" if steps >= EVEN_FROM else "late"


def forest_start(steps: int) -> float:
    """The time at which so many steps start from a spanning forest."""
    return FOREST_START_OF_ONE if steps == 1 else FOREST_START


def time_pairs(steps: int, grid: Grid = "linear", start: float = 1.0) -> list[tuple[float, float]]:
    """The steps as pairs of times, from (start, …) down to (…, 0). Times run over 0 … 1.

    'linear' spaces them evenly, as training does; 'cosine' puts more of them near the noise, sin(½π u) for even u;
    'late' puts more of them near the end, u^1.7: with few steps, most is decided there.
    """
    check_whole(ModelError, "steps", steps, 1, MOST_STEPS)
    check_choice(ModelError, "grid", grid, get_args(Grid))
    if not 0 < start <= 1:
        raise ModelError(f"start must be a time above 0 and at most 1, not {start!r}")
    even = [1 - k / steps for k in range(steps + 1)]
    times = even
    if grid == "cosine":
        times = [math.sin(0.5 * math.pi * u) for u in even]
    elif grid == "late":
        times = [u**LATE for u in even]
    times[-1] = 0.0
    return [(start * t, start * s) for t, s in itertools.pairwise(times)]
