"""Which directions are blocked at the nodes themselves: see `Fleet.blocked`."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from manetdiff.fleet import Fleet
from manetdiff.fleet.azimuths import width_of

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


def blocked_directions(fleet: Fleet, node: IntArray, bearing: FloatArray) -> BoolArray:
    """Whether the nodes have no antenna in these directions.

    - node: indices, of the shape of bearing or broadcast to it. bearing: in radians, of any shape.
    """
    blocked = np.zeros(np.broadcast_shapes(node.shape, bearing.shape), dtype=np.bool_)
    if fleet.blocked is None:
        return blocked
    azimuth = bearing - fleet.yaw[node]
    for start, width in _arcs(fleet):
        blocked |= np.mod(azimuth - start[node], 2 * math.pi) <= width[node]
    return blocked


def _arcs(fleet: Fleet) -> list[tuple[FloatArray, FloatArray]]:
    """Start and width, each (n,), of every node's first arc, of every node's second …; below 0 where it has none."""
    assert fleet.blocked is not None
    rounds = []
    for place in range(max(len(arcs) for arcs in fleet.blocked)):
        start, width = np.zeros(len(fleet)), np.full(len(fleet), -1.0)
        for node, arcs in enumerate(fleet.blocked):
            if place < len(arcs):
                start[node], width[node] = arcs[place][0], width_of(arcs[place])
        rounds.append((start, width))
    return rounds
