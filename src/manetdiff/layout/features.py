"""The features of one layout: everything about nodes and pairs that no topology changes.

The physics comes from the radio's tables; nothing of it is written again here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import kernel
from manetdiff.fleet import Fleet
from manetdiff.radio.pairs import SIGMA2, THETA_MAX, PairValues, Placement
from manetdiff.radio.rates import within_cone

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


def layout_features(place: Placement) -> LayoutFeatures:
    """The features of a fleet under a radio."""
    fleet, every = place.fleet, place.every_pair
    positions, yaw = fleet.normalised_arrays()
    places = _drawn_in(positions[:, :2], fleet) if fleet.far_out.any() else positions[:, :2]
    node = np.column_stack([places, np.cos(yaw), np.sin(yaw)]).astype(np.float32)
    scale = place.unit / fleet.scale
    pair = np.zeros((len(fleet), len(fleet), len(PAIR_FEATURES)), dtype=np.float32)
    pair[..., IN_RANGE] = place.linkable(every)
    fill_pairs(every, _leaks(place), place.constants, fleet.mean_heading, scale, pair)
    if fleet.far_out.any():
        np.minimum(pair[..., LENGTH], FARTHEST, out=pair[..., LENGTH])
    sector = every.sector.astype(np.uint8)
    np.fill_diagonal(sector, 0)
    return LayoutFeatures(node, pair, sector)


def _leaks(place: Placement) -> npt.NDArray[np.float64]:
    """(n, n) power that a beam from the first node at the second spills on all others."""
    every = place.every_pair
    leak = np.zeros_like(every.fade)
    if not place.steers:
        fill_leaks(every, place.constants, leak)
        return leak
    others = ~np.eye(len(place), dtype=np.bool_)
    for k in range(len(place)):
        of_k = PairValues(*(value[k] for value in every))
        spilled = place.gain(of_k, of_k) * (every.fade[k] * others[k])
        leak[k] = every.sent[k] * (spilled * others).sum(axis=1)
    return leak


def _drawn_in(positions: npt.NDArray[np.float64], fleet: Fleet) -> npt.NDArray[np.float64]:
    """The normalised positions as if there were no nodes far out, and these in their direction, but no farther than
    FARTHEST: the network then reads of the others what it would read without them."""
    near = positions[~fleet.far_out]
    moved = (positions - near.mean(axis=0)) * (fleet.spread / fleet.scale)
    far = moved[fleet.far_out]
    moved[fleet.far_out] = far * (FARTHEST / np.linalg.norm(far, axis=1))[:, None]
    return np.asarray(moved)


@kernel
def fill_leaks(every, constants, leak):  # type: ignore[no-untyped-def]
    """Add to leak (n, n), zeros, what all-or-nothing beams from the first node at the second spill on all others."""
    n = len(leak)
    for k in range(n):
        for aim in range(n):
            for j in range(n):
                if (
                    k != aim
                    and j != k
                    and j != aim
                    and within_cone(every.bearing[k, aim], every.bearing[k, j], constants[THETA_MAX])
                ):
                    leak[k, aim] += every.sent[k, aim] * every.fade[k, j]


@kernel
def fill_pairs(every, leak, constants, heading, scale, pair):  # type: ignore[no-untyped-def]
    """Fill in pair (n, n, 7), zeros, all but IN_RANGE."""
    n = pair.shape[0]
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            angle = every.bearing[i, j] - heading
            pair[i, j, LENGTH] = scale * every.distance[i, j]
            pair[i, j, COS_ANGLE] = np.cos(angle)
            pair[i, j, SIN_ANGLE] = np.sin(angle)
            pair[i, j, RATE] = np.log2(1.0 + every.signal[i, j] / constants[SIGMA2])
            nearer = 0
            for k in range(n):
                if k != i and every.sector[i, k] == every.sector[i, j] and every.distance[i, k] < every.distance[i, j]:
                    nearer += 1
            pair[i, j, NEARER] = np.log(1.0 + nearer)
            pair[i, j, LEAK] = np.log(1.0 + leak[i, j] / constants[SIGMA2])
