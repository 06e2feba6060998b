"""How near aircraft may be to one another, and how far the next one may be."""

from __future__ import annotations

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.scenarios.placing import ComplexArray, FloatArray

MIN_SEPARATION = 0.08  # spreads, up to CROWDED aircraft; above that it shrinks as the room for each aircraft does
MIN_METRES = 300.0
CROWDED = 32
PUSHES = 10
PUSH_MARGIN = 1.05  # pushing apart spreads the fleet a little, which raises what is required


def required_separation(fleet: Fleet) -> float:
    """Least distance between two aircraft, in metres."""
    in_spreads = MIN_SEPARATION * np.sqrt(CROWDED / max(len(fleet), CROWDED))
    return max(MIN_METRES, float(in_spreads) * fleet.spread)


def pair_distances(positions: FloatArray) -> FloatArray:
    """(n, n) distances between (n, 2) positions; infinite on the diagonal, where there is no pair."""
    x, y = positions.T
    distances: FloatArray = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(distances, np.inf)
    return distances


def connected(fleet: Fleet, reach: float) -> bool:
    """Whether links no longer than `reach` spreads can join all aircraft."""
    near = pair_distances(fleet.horizontal) <= reach * fleet.spread
    reached = near[0].copy()
    reached[0] = True
    while not reached.all():
        wider = reached | near[reached].any(axis=0)
        if wider.sum() == reached.sum():
            return False
        reached = wider
    return True


def pushed_apart(places: ComplexArray, separation: float) -> ComplexArray:
    """The places (n,) after a few rounds in which each pair too near shares the way to go between the two."""
    target = PUSH_MARGIN * separation
    for _ in range(PUSHES):
        gaps = places[:, None] - places
        distances = np.abs(gaps)
        np.fill_diagonal(distances, np.inf)
        missing = np.maximum(target - distances, 0.0)
        if not missing.any():
            break
        # Two aircraft at one very place have no direction to part in: they stay, and the layout is redrawn.
        directions = gaps / np.maximum(distances, 1.0)
        places = places + 0.55 * (missing * directions).sum(axis=1)
    return places
