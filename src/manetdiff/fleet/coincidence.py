"""Two nodes in one place, found in about linear time, however many nodes share a coordinate."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# Nodes closer than this share of the fleet's extent have no direction to each other that rounding would not change.
CLOSEST = 1e-9
# Side of a cell, in closest distances. Two grids that are half a side apart never part such a pair both.
SIDE = 3.0


def coincident_pair(positions: FloatArray) -> tuple[int, int] | None:
    """Two nodes (the first before the second) that coincide, or are so close that rounding hides which is where.

    - positions: (n, d), whose extent is a finite number.
    """
    extent = float(np.ptp(positions, axis=0).max())
    closest = CLOSEST * extent
    along = np.sort(positions[:, 0])
    if not (np.diff(along) <= closest).any():  # nearly every fleet: no two nodes are even abreast
        return None
    if extent == 0.0:
        return 0, 1
    places = (positions - positions.min(axis=0)) / extent / (CLOSEST * SIDE)
    for shift in itertools.product((0.0, 0.5), repeat=positions.shape[1]):
        cells = np.floor(places + shift).astype(np.int64)
        order = np.lexsort(cells.T)
        pair = _closest_in_cells(positions[order], cells[order], order, closest)
        if pair is not None:
            return pair
    return None


def _closest_in_cells(
    positions: FloatArray, cells: npt.NDArray[np.int64], order: npt.NDArray[np.int64], closest: float
) -> tuple[int, int] | None:
    """The first pair within one cell that is too close; all are sorted by cell.

    Few nodes fit into a cell unless two of them coincide, so that few rounds are needed.
    """
    for apart in range(1, len(order)):
        together = np.flatnonzero((cells[apart:] == cells[:-apart]).all(axis=1))
        if not len(together):
            return None
        distance = np.hypot.reduce(positions[together + apart] - positions[together], axis=1)
        found = together[distance <= closest]
        if len(found):
            pairs = np.sort(np.stack([order[found], order[found + apart]], axis=1), axis=1)
            first = pairs[np.lexsort(pairs.T[::-1])[0]]
            return int(first[0]), int(first[1])
    return None
