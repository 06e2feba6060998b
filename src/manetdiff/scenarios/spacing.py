"""How near nodes may be to one another, and how far the next one may be."""

from __future__ import annotations

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.scenarios.placing import ComplexArray, FloatArray

MIN_SEPARATION = 0.08  # spreads, up to CROWDED aircraft; above that it shrinks as the room for each aircraft does
MIN_METRES = 300.0
CROWDED = 32
CLOSEST = 0.2  # of the spacing, where one was asked for, and on the ground and at sea
PUSHES = 10
PUSH_MARGIN = 1.05  # pushing apart spreads the fleet a little, which raises what is required


def required_separation(fleet: Fleet) -> float:
    """Least distance between two aircraft, in metres."""
    in_spreads = MIN_SEPARATION * np.sqrt(CROWDED / max(len(fleet), CROWDED))
    return max(MIN_METRES, float(in_spreads) * fleet.spread)


def spacing_of(fleet: Fleet) -> float:
    """Median horizontal distance of a node to its nearest neighbour, in metres."""
    return float(np.median(pair_distances(fleet.horizontal).min(axis=1)))


def pair_distances(positions: FloatArray) -> FloatArray:
    """(n, n) distances between (n, 2) positions, or (n, 3); infinite on the diagonal, where there is no pair."""
    x, y, *heights = positions.T
    distances: FloatArray = np.hypot(x[:, None] - x, y[:, None] - y)
    for z in heights:
        distances = np.hypot(distances, z[:, None] - z)
    np.fill_diagonal(distances, np.inf)
    return distances


def connected(fleet: Fleet, within: float) -> bool:
    """Whether links no longer than so many metres can join all nodes."""
    near = pair_distances(fleet.positions) <= within
    reached = np.zeros(len(fleet), dtype=np.bool_)
    newly = np.arange(1)
    while len(newly):
        reached[newly] = True
        newly = np.flatnonzero(near[newly].any(axis=0) & ~reached)
    return bool(reached.all())


def closed_up(places: ComplexArray, longest: float) -> ComplexArray:
    """The places (n,) with every gap wider than `longest` closed to it, whatever lies behind it moved along.

    Gaps are the edges of the shortest tree that joins all places, so that what stands together stays as it is.
    """
    closed = places.copy()
    nearest = np.zeros(len(places), dtype=np.int64)  # of those joined, to each that is not
    distance = np.abs(places - places[0])
    distance[0] = np.inf
    waiting = np.ones(len(places), dtype=np.bool_)
    waiting[0] = False
    for _ in range(len(places) - 1):
        node = int(distance.argmin())
        gap = places[node] - places[nearest[node]]
        closed[node] = closed[nearest[node]] + gap * min(1.0, longest / float(distance[node]))
        waiting[node] = False
        distance[node] = np.inf
        to_node = np.abs(places - places[node])
        closer = waiting & (to_node < distance)
        distance[closer] = to_node[closer]
        nearest[closer] = node
    return closed


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
