"""Links as lines on maps of longitude and latitude, which end at the antimeridian and meet no pole.

A link is straight in the fleet's plane. On a map it bends, visibly only where meridians are close: there it gets points
between its ends. A line that crosses the antimeridian is cut there, as RFC 7946 asks for GeoJSON.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.fleet.fleet import FloatArray

LONGEST_STEP_DEG = 5.0
DIGITS = 7  # a centimetre

Place = list[float]  # longitude, latitude and, where the fleet has heights, metres


def map_places(fleet: Fleet) -> list[Place]:
    """Where the nodes of a fleet are that knows where on earth it is."""
    assert fleet.frame is not None
    return _written(_places(fleet, fleet.positions))


def map_line(fleet: Fleet, one: int, other: int) -> list[list[Place]]:
    """The line between two nodes, in one part or, across the antimeridian, in several."""
    ends = fleet.positions[[one, other]]
    turn = float(np.ptp(np.unwrap(_places(fleet, ends)[:, 0], period=360.0)))
    shares = np.linspace(0, 1, 1 + max(1, math.ceil(turn / LONGEST_STEP_DEG)))[:-1, None]
    points = _places(fleet, np.concatenate([ends[0] + shares * (ends[1] - ends[0]), ends[1:]]))
    points[:, 0] = np.unwrap(points[:, 0], period=360.0)
    return [_written(_within(part)) for part in _cut(points)]


def _places(fleet: Fleet, positions: FloatArray) -> FloatArray:
    """(k, 2) or (k, 3): longitude, latitude and height of positions in the fleet's frame."""
    assert fleet.frame is not None
    latitude, longitude = fleet.frame.to_degrees(positions)
    return np.column_stack([longitude, latitude, positions[:, 2:]])


def _cut(points: FloatArray) -> list[FloatArray]:
    """Parts of a line, none of which crosses the antimeridian. Longitudes may be beyond 180, without jumps."""
    parts: list[list[FloatArray]] = [[points[0]]]
    for here, there in pairwise(points):
        low, high = sorted((here[0], there[0]))
        border = 360.0 * math.floor((low + 180.0) / 360.0) + 180.0
        if low < border < high:
            crossing = here + (border - here[0]) / (there[0] - here[0]) * (there - here)
            parts[-1].append(crossing)
            parts.append([crossing])
        parts[-1].append(there)
    return [np.array(part) for part in parts]


def _within(part: FloatArray) -> FloatArray:
    """The same part with longitudes from -180 to 180."""
    turned = part.copy()
    turned[:, 0] -= 360.0 * round(float(part[:, 0].mean()) / 360.0)
    return turned


def _written(points: FloatArray) -> list[Place]:
    rounded: list[Place] = (np.round(points, DIGITS) + 0.0).tolist()  # not -0.0
    return rounded
