"""Nodes so far out that they alone would set the scale of a fleet."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Times as far from the middle as all the others, and one node in so many at most. No formation that is drawn comes near
# (the widest gap of 37,500 was 3.8), and whoever lies beyond is out of the default range, whatever the rest looks like.
FAR, ONE_IN = 10.0, 4


def far_out(positions: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """(n,) nodes more than FAR times as far from the middle, the median of each axis, as all the nodes that are nearer.

    At most one node in ONE_IN is far out: where there are more of them, they are the fleet. Nor is anyone where the
    others stand in one place, above each other: they have no spread. positions: (n, 2).
    """
    # Halved, so that coordinates near the limits of float64 do not overflow.
    centred = (positions - np.median(positions, axis=0)) / 2
    distance = np.hypot(centred[:, 0], centred[:, 1])
    outwards = np.sort(distance)
    fewest = len(outwards) - len(outwards) // ONE_IN
    nearer, farther = outwards[fewest - 1 : -1], outwards[fewest:]
    beyond = np.flatnonzero((nearer > 0) & (farther / FAR > nearer))
    if len(beyond) == 0:
        return np.zeros(len(distance), dtype=np.bool_)
    return np.asarray(distance >= outwards[fewest + beyond[0]])
