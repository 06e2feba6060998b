"""Everything about a fleet's possible links that no topology changes, computed once per layout.

The searches score millions of topologies of one layout; what they look up is here: distances, sectors, transmit and
received power, and for each beam the receivers that it reaches.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder, kernel
from manetdiff.fleet import Fleet
from manetdiff.radio.blocked import blocked_pairs
from manetdiff.radio.bounds import check_size
from manetdiff.radio.patterns import steered_gain
from manetdiff.radio.radio import Radio

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# How a receiver weighs what comes from elsewhere than its peer.
HEARS_SECTOR, HEARS_ALL, HEARS_BEAM = 0, 1, 2

# Planes of LinkTables.floats and LinkTables.ints, and places in LinkTables.constants.
DISTANCE, BEARING, SENT, SIGNAL, FADE = 0, 1, 2, 3, 4
CANDIDATE, SECTOR, BEAM_START, BEAM_STOP, FACING, FACING_START = 0, 1, 2, 3, 4, 5
SIGMA2, MEGAHERTZ, THETA_MAX, SECTORS, HEARS, PINS, LEAST_SNR, MOST_STATES = 0, 1, 2, 3, 4, 5, 6, 7
# In the plane CANDIDATE: a pair within range whose link must stay.
PINNED = 2


class LinkTables(NamedTuple):
    """What compiled code looks up, in few arrays: passing many of them around costs more than reading them.

    - floats: (5, n, n). DISTANCE in units; BEARING from the first node to the second; SENT, transmit power R; SIGNAL,
      received power P; FADE, what share of a transmitter's power reaches another node, 1 / (d² + ε).
    - ints: (6, n, max(n, Q + 1)). CANDIDATE, 1 within range, PINNED if its link must stay; SECTOR, the first node's
      antenna that looks at the second; BEAM_START and BEAM_STOP, where the receivers under the beam first→second stand
      in the next two; FACING, the other nodes in the order of the sector that looks at them; FACING_START, where each
      sector begins.
    - beam_node, beam_power: receivers under a beam, other than its ends, and the power that they get per airtime.
    - gain: (n, n, n) gain of a steered beam at the first node between the directions of the other two; empty for cones.
    - constants: SIGMA2, MEGAHERTZ (bandwidth), THETA_MAX, SECTORS (Q), HEARS (one of HEARS_*), PINS (pinned links),
      LEAST_SNR (a direction below carries nothing; 0: none), MOST_STATES (1 + SNR counts up to this; infinite: none).
    """

    floats: FloatArray
    ints: IntArray
    beam_node: IntArray
    beam_power: FloatArray
    gain: FloatArray
    constants: FloatArray

    @property
    def nodes(self) -> int:
        """n."""
        return len(self.floats[DISTANCE])

    @property
    def distance(self) -> FloatArray:
        """(n, n) in units."""
        return np.asarray(self.floats[DISTANCE])

    @property
    def bearing(self) -> FloatArray:
        """(n, n) in radians."""
        return np.asarray(self.floats[BEARING])

    @property
    def signal(self) -> FloatArray:
        """(n, n) received power."""
        return np.asarray(self.floats[SIGNAL])

    @property
    def candidate(self) -> BoolArray:
        """(n, n) whether the pair may be linked: within range and min_snr, its direction blocked at neither end."""
        return np.asarray(self.ints[CANDIDATE, :, : self.nodes] > 0)

    @property
    def pinned(self) -> BoolArray:
        """(n, n) whether the pair's link must stay."""
        return np.asarray(self.ints[CANDIDATE, :, : self.nodes] == PINNED)

    @property
    def sector(self) -> IntArray:
        """(n, n) the first node's antenna that looks at the second."""
        return np.asarray(self.ints[SECTOR, :, : self.nodes])

    @property
    def megahertz(self) -> float:
        """Bandwidth."""
        return float(self.constants[MEGAHERTZ])

    @property
    def sectors(self) -> int:
        """Q."""
        return int(self.constants[SECTORS])


def link_tables(fleet: Fleet, radio: Radio) -> LinkTables:
    """The tables of one layout under one radio."""
    unit = radio.unit_for(fleet)
    check_size(fleet, unit)
    positions = (fleet.positions - fleet.positions.mean(axis=0)) / unit
    offset = positions[None, :, :] - positions[:, None, :]
    distance = np.hypot(offset[..., 0], offset[..., 1])
    if fleet.has_heights:
        distance = np.hypot(distance, offset[..., 2])
    bearing = np.arctan2(offset[..., 1], offset[..., 0])
    # The diagonal is never used; its 1 keeps it from dividing by zero.
    off_diagonal = distance + np.eye(len(fleet))
    sent = _transmit_power(distance, radio)
    gain = steered_gain(offset, bearing, radio)
    floats = np.stack([distance, bearing, sent, sent / off_diagonal**2, 1.0 / (off_diagonal**2 + radio.epsilon)])
    ints = np.zeros((6, len(fleet), max(len(fleet), radio.sectors + 1)), dtype=np.int64)
    possible = (distance <= radio.range) & ~np.eye(len(fleet), dtype=np.bool_)
    if fleet.blocked is not None:
        blocked = blocked_pairs(fleet, bearing)
        possible &= ~blocked
        floats[SENT:, blocked] = 0.0  # nothing is sent, received or spilled that way
    if radio.min_snr is not None:
        possible &= floats[SIGNAL] / radio.sigma2 >= radio.least_snr
    ints[CANDIDATE, :, : len(fleet)] = possible
    ints[SECTOR, :, : len(fleet)] = _sectors(bearing, fleet.yaw + radio.boresight, radio.sectors)
    _order_by_sector(ints, len(fleet), radio.sectors)
    directional = HEARS_BEAM if len(gain) else HEARS_SECTOR
    hears = HEARS_ALL if radio.reception == "omni" else directional
    physics = (radio.sigma2, radio.bandwidth / 1e6, radio.theta_max, radio.sectors, hears)
    constants = np.array([*physics, 0, radio.least_snr, radio.most_states], np.float64)
    beam_node, beam_power = _beams(floats, ints, gain, float(radio.theta_max))
    return LinkTables(floats, ints, beam_node, beam_power, gain, constants)


def with_pins(tables: LinkTables, keep: IntArray, avoid: BoolArray) -> LinkTables:
    """The same layout, but the links keep, (m, 2), must stay, and the pairs avoid, (n, n), may not be linked."""
    ints, constants = tables.ints.copy(), tables.constants.copy()
    ints[CANDIDATE, :, : tables.nodes][avoid] = 0
    for i, j in (keep.T, keep.T[::-1]):
        ints[CANDIDATE, i, j] = PINNED
    constants[PINS] = len(keep)
    return tables._replace(ints=ints, constants=constants)


def _transmit_power(distance: FloatArray, radio: Radio) -> FloatArray:
    return np.minimum(radio.p_max, radio.p_0 * distance ** (2 * radio.alpha))


def _sectors(bearing: FloatArray, forward: FloatArray, sectors: int) -> IntArray:
    """Sector 0 looks in the direction forward, (n,); they count counter-clockwise."""
    width = 2 * math.pi / sectors
    ahead = np.mod(bearing - forward[:, None] + width / 2, 2 * math.pi)
    # mod can round up to a full turn, which is sector 0 again.
    return np.floor(ahead / width).astype(np.int64) % sectors


@kernel
def leaked_power(floats, gain, theta_max, k, aim, j):  # type: ignore[no-untyped-def]
    """Power that j gets from k per airtime while k sends to `aim`."""
    if gain.shape[0] > 0:
        return gain[k, aim, j] * floats[SENT, k, aim] * floats[FADE, k, j]
    off_axis = abs(floats[BEARING, k, aim] - floats[BEARING, k, j])
    if off_axis > math.pi:
        off_axis = 2 * math.pi - off_axis
    return floats[SENT, k, aim] * floats[FADE, k, j] if off_axis <= theta_max else 0.0


@builder
def _beams(floats, ints, gain, theta_max):  # type: ignore[no-untyped-def]
    """Fill in BEAM_START and BEAM_STOP; return the nodes under all beams and the power that they get."""
    n = floats.shape[1]
    node = np.empty(0, dtype=np.int64)
    power = np.empty(0)
    size = 0
    for sweep in range(2):  # count, then fill
        if sweep == 1:
            node = np.empty(size, dtype=np.int64)
            power = np.empty(size)
            size = 0
        for k in range(n):
            for aim in range(n):
                ints[BEAM_START, k, aim] = size
                for j in range(n):
                    if k != aim and j != k and j != aim:
                        leak = leaked_power(floats, gain, theta_max, k, aim, j)
                        if leak > 0.0:
                            if sweep == 1:
                                node[size] = j
                                power[size] = leak
                            size += 1
                ints[BEAM_STOP, k, aim] = size
    return node, power


@builder
def _order_by_sector(ints, n, sectors):  # type: ignore[no-untyped-def]
    """Fill in FACING and FACING_START."""
    for j in range(n):
        size = 0
        for a in range(sectors):
            ints[FACING_START, j, a] = size
            for k in range(n):
                if k != j and ints[SECTOR, j, k] == a:
                    ints[FACING, j, size] = k
                    size += 1
        ints[FACING_START, j, sectors] = size
