"""What the physics says of a pair of nodes: how far, which way, over which antenna, with what power.

Written once, for any arrays of pairs: every pair of a small fleet, the neighbours in a large one, the links of a
topology.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.fleet import Fleet
from manetdiff.radio.blocked import blocked_directions
from manetdiff.radio.bounds import check_size
from manetdiff.radio.patterns import STEERED, angles_in_space, angles_of_bearing
from manetdiff.radio.radio import Radio

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Up to so many nodes every pair is looked at and kept; of more, what is near is.
EVERY_PAIR = 64

# How a receiver weighs what comes from elsewhere than its peer.
HEARS_SECTOR, HEARS_ALL, HEARS_BEAM = 0, 1, 2
# Places in Placement.constants.
SIGMA2, MEGAHERTZ, THETA_MAX, SECTORS, HEARS, LEAST_SNR, MOST_STATES = range(7)


class Directions(NamedTuple):
    """From first nodes to second ones. offset: (…, 2) or (…, 3) in units; bearing: (…,) in radians."""

    offset: FloatArray
    bearing: FloatArray


class PairValues(NamedTuple):
    """Of pairs in any shape, from the first node to the second; of a node with itself they mean nothing.

    - offset: (…, 2) or (…, 3) in units. distance in units. bearing in radians. sector: the first node's antenna that
      looks at the second. sent: transmit power R. signal: received power P. fade: what share of a transmitter's power
      reaches the other, 1 / (d² + ε).
    """

    offset: FloatArray
    distance: FloatArray
    bearing: FloatArray
    sector: IntArray
    sent: FloatArray
    signal: FloatArray
    fade: FloatArray


@dataclass(frozen=True, eq=False)
class Placement:
    """A fleet in a radio's units: what every pair is computed from."""

    fleet: Fleet
    radio: Radio

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.fleet)

    @cached_property
    def unit(self) -> float:
        """Metres per unit of distance."""
        return self.radio.unit_for(self.fleet)

    @cached_property
    def positions(self) -> FloatArray:
        """(n, 2) or (n, 3), in units, about their middle."""
        check_size(self.fleet, self.unit)
        return np.asarray((self.fleet.positions - self.fleet.positions.mean(axis=0)) / self.unit)

    @cached_property
    def constants(self) -> FloatArray:
        """What compiled code needs of the radio, see `radio_constants`."""
        return radio_constants(self.radio)

    @property
    def steers(self) -> bool:
        """Whether beams have a gain for every angle."""
        return self.radio.pattern in STEERED

    @cached_property
    def elevated(self) -> bool:
        """Whether beams follow elevation. Where all nodes are at one height, angles are differences of bearings."""
        return self.fleet.has_heights and bool(np.ptp(self.fleet.heights) > 0)

    def directions(self, first: npt.ArrayLike, second: npt.ArrayLike) -> Directions:
        """From the nodes of one array to those of another, broadcast against each other."""
        offset = self.positions[np.asarray(second)] - self.positions[np.asarray(first)]
        return Directions(offset, np.arctan2(offset[..., 1], offset[..., 0]))

    def sectors(self, first: npt.ArrayLike, bearing: FloatArray) -> IntArray:
        """The antennas of nodes that look in these directions. Sector 0 looks forward; they count counter-clockwise."""
        return _sectors(self.radio, self.forward[np.asarray(first)], bearing)

    def pairs(self, first: npt.ArrayLike, second: npt.ArrayLike) -> PairValues:
        """Of the pairs of two arrays of nodes, broadcast against each other."""
        i, j = np.asarray(first), np.asarray(second)
        offset = self.positions[j] - self.positions[i]
        values = pair_values(self.radio, offset, self.forward[i], i == j)
        if self.fleet.blocked is not None:
            # Nothing is sent, received or spilled where either end has no antenna.
            back = np.arctan2(-offset[..., 1], -offset[..., 0])
            blocked = blocked_directions(self.fleet, i, values.bearing) | blocked_directions(self.fleet, j, back)
            for power in (values.sent, values.signal, values.fade):
                power[blocked] = 0.0
        return values

    def linkable(self, values: PairValues) -> BoolArray:
        """Which of the pairs may be linked: of two nodes, within range and min_snr, blocked at neither end."""
        possible = linkable_pairs(self.radio, values)
        return possible & (values.fade > 0) if self.fleet.blocked is not None else possible

    @cached_property
    def forward(self) -> FloatArray:
        """(n,) bearing in which each node's sector 0 looks."""
        return self.fleet.yaw + self.radio.boresight

    @cached_property
    def mute(self) -> BoolArray:
        """(n, n) pairs of which neither hears the other, because either has no antenna there; empty where all have."""
        if self.fleet.blocked is None:
            return np.empty((0, 0), dtype=np.bool_)
        nodes = np.arange(len(self))
        blocks = np.split(nodes, range(EVERY_PAIR, len(nodes), EVERY_PAIR))
        return np.concatenate([self.pairs(block[:, None], nodes).fade == 0 for block in blocks])

    @property
    def bans_pairs(self) -> bool:
        """Whether anything but the range keeps a pair from being linked."""
        return self.fleet.blocked is not None or self.radio.min_snr is not None

    def gain(self, aims: Directions | PairValues, others: Directions | PairValues) -> FloatArray:
        """(…, a, b): gain of steered beams at some nodes, each aiming at nodes (…, a), towards others (…, b)."""
        return steered_gain(self.radio, aims, others, elevated=self.elevated)

    @cached_property
    def every_pair(self) -> PairValues:
        """(n, n) pairs."""
        nodes = np.arange(len(self))
        return self.pairs(nodes[:, None], nodes)

    @cached_property
    def every_gain(self) -> FloatArray:
        """(n, n, n): gain at the first node, steered at the second, in the direction of the third; empty for cones."""
        if not self.steers:
            return np.empty((0, 0, 0))
        return self.gain(self.every_pair, self.every_pair)


def pair_values(radio: Radio, offset: FloatArray, forward: FloatArray, itself: BoolArray) -> PairValues:
    """Of pairs by the offset (…, 2) or (…, 3), in units, of the second node from the first.

    - forward: bearing in which the first node's sector 0 looks. itself: which are a node and itself. Both broadcast.
    """
    bearing = np.arctan2(offset[..., 1], offset[..., 0])
    distance = np.hypot(offset[..., 0], offset[..., 1])
    if offset.shape[-1] == 3:
        distance = np.hypot(distance, offset[..., 2])
    sent = np.minimum(radio.p_max, radio.p_0 * distance ** (2 * radio.alpha))
    # A node is at no distance from itself: 1 in its place keeps that from dividing by zero.
    squared = (distance + itself) ** 2
    signal, fade = sent / squared, 1.0 / (squared + radio.epsilon)
    return PairValues(offset, distance, bearing, _sectors(radio, forward, bearing), sent, signal, fade)


def steered_gain(
    radio: Radio, aims: Directions | PairValues, others: Directions | PairValues, *, elevated: bool
) -> FloatArray:
    """(…, a, b): gain of steered beams at some nodes, each aiming at nodes (…, a), towards others (…, b).

    - elevated: whether beams follow elevation.
    """
    if elevated:
        off_axis = angles_in_space(aims.offset, others.offset)
    else:
        off_axis = angles_of_bearing(aims.bearing, others.bearing)
    return STEERED[radio.pattern](off_axis, radio)


def linkable_pairs(radio: Radio, values: PairValues) -> BoolArray:
    """Which of the pairs may be linked where nothing is blocked: of two nodes, within range and min_snr."""
    possible = (values.distance <= radio.range) & (values.distance > 0)
    if radio.min_snr is not None:
        possible &= values.signal / radio.sigma2 >= radio.least_snr
    return np.asarray(possible)


def radio_constants(radio: Radio) -> FloatArray:
    """What compiled code needs of the radio: SIGMA2, MEGAHERTZ (bandwidth), THETA_MAX, SECTORS (Q), HEARS (one of
    HEARS_*), LEAST_SNR (a direction below carries nothing; 0: none) and MOST_STATES (1 + SNR counts up to this;
    infinite: none)."""
    directional = HEARS_BEAM if radio.pattern in STEERED else HEARS_SECTOR
    hears = HEARS_ALL if radio.reception == "omni" else directional
    physics = (radio.sigma2, radio.bandwidth / 1e6, radio.theta_max, radio.sectors, hears)
    return np.array([*physics, radio.least_snr, radio.most_states], np.float64)


def _sectors(radio: Radio, forward: FloatArray, bearing: FloatArray) -> IntArray:
    width = 2 * math.pi / radio.sectors
    ahead = np.mod(bearing - forward + width / 2, 2 * math.pi)
    # mod can round up to a full turn, which is sector 0 again.
    return np.asarray(np.floor(ahead / width).astype(np.int64) % radio.sectors)
