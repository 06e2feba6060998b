"""The features of one layout: everything about nodes and pairs that no topology changes.

The physics comes from the radio's tables; nothing of it is written again here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import kernel
from manetdiff.fleet import Fleet
from manetdiff.radio import LinkTables
from manetdiff.radio.tables import BEAM_START, BEAM_STOP, BEARING, DISTANCE, SECTOR, SIGMA2, SIGNAL

# Raised when the meaning of a feature changes: weights trained on others are refused.
FEATURES_VERSION = 2

NODE_FEATURES = ("x", "y", "cos_yaw", "sin_yaw")
PAIR_FEATURES = ("distance", "cos_angle", "sin_angle", "candidate", "rate", "nearer", "leak")
# Spreads from the middle at which the network is shown nodes that are far out: about as far as it has ever seen one.
FARTHEST = 5.0
X, Y, COS_YAW, SIN_YAW = range(len(NODE_FEATURES))
LENGTH, COS_ANGLE, SIN_ANGLE, IN_RANGE, RATE, NEARER, LEAK = range(len(PAIR_FEATURES))


class LayoutFeatures(NamedTuple):
    """What the network reads of one layout of n nodes.

    - node: (n, 4) float32: x, y, cosine and sine of the yaw, in the normalised frame; height shows in the distances.
    - pair: (n, n, 7) float32, from the first node's point of view, 0 on the diagonal: distance in the fleet's scale,
      whatever the radio's unit; cosine and sine of the angle to the axis of the mean heading; whether the pair is
      within range; the rate that the link would have alone, in bit/s/Hz; how many other nodes its antenna sees nearer
      than the peer, as log(1 + count); the power that a beam at the peer spills on others, over the noise, as log(1 +
      ratio).
    - sector: (n, n) uint8, the first node's antenna that looks at the second; 0 on the diagonal.
    """

    node: npt.NDArray[np.float32]
    pair: npt.NDArray[np.float32]
    sector: npt.NDArray[np.uint8]


def layout_features(fleet: Fleet, tables: LinkTables, unit: float) -> LayoutFeatures:
    """The features of a fleet, from its tables under a radio; unit: metres per unit of distance in them."""
    positions, yaw = fleet.normalised_arrays()
    n = len(fleet)
    places = _drawn_in(positions[:, :2], fleet) if fleet.far_out.any() else positions[:, :2]
    node = np.column_stack([places, np.cos(yaw), np.sin(yaw)]).astype(np.float32)
    scale = unit / fleet.scale
    pair = np.zeros((n, n, len(PAIR_FEATURES)), dtype=np.float32)
    pair[..., IN_RANGE] = tables.candidate
    _fill_pairs(tables.floats, tables.ints, tables.beam_power, tables.constants, fleet.mean_heading, scale, pair)
    if fleet.far_out.any():
        np.minimum(pair[..., LENGTH], FARTHEST, out=pair[..., LENGTH])
    sector = tables.sector.astype(np.uint8)
    np.fill_diagonal(sector, 0)
    return LayoutFeatures(node, pair, sector)


def _drawn_in(positions: npt.NDArray[np.float64], fleet: Fleet) -> npt.NDArray[np.float64]:
    """The normalised positions as if there were no nodes far out, and these in their direction, but no farther than
    FARTHEST: the network then reads of the others what it would read without them."""
    near = positions[~fleet.far_out]
    moved = (positions - near.mean(axis=0)) * (fleet.spread / fleet.scale)
    far = moved[fleet.far_out]
    moved[fleet.far_out] = far * (FARTHEST / np.linalg.norm(far, axis=1))[:, None]
    return np.asarray(moved)


@kernel
def _fill_pairs(floats, ints, beam_power, constants, heading, scale, pair):  # type: ignore[no-untyped-def]
    n = pair.shape[0]
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            angle = floats[BEARING, i, j] - heading
            pair[i, j, LENGTH] = scale * floats[DISTANCE, i, j]
            pair[i, j, COS_ANGLE] = np.cos(angle)
            pair[i, j, SIN_ANGLE] = np.sin(angle)
            pair[i, j, RATE] = np.log2(1.0 + floats[SIGNAL, i, j] / constants[SIGMA2])
            nearer = 0
            for k in range(n):
                if (
                    k != i
                    and ints[SECTOR, i, k] == ints[SECTOR, i, j]
                    and floats[DISTANCE, i, k] < floats[DISTANCE, i, j]
                ):
                    nearer += 1
            leak = 0.0
            for b in range(ints[BEAM_START, i, j], ints[BEAM_STOP, i, j]):
                leak += beam_power[b]
            pair[i, j, NEARER] = np.log(1.0 + nearer)
            pair[i, j, LEAK] = np.log(1.0 + leak / constants[SIGMA2])
