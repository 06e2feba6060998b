"""What nodes hear from afar: exact when it is looked at, and held until the next look.

In fleets of more than `EVERY_PAIR` nodes a search follows the signals of the nearest nodes one by one. What comes from
farther away is many small parts of which a move changes few; it is added up over the whole topology, direction by
direction, when a search starts and now and then while it goes on. Receivers that hear a sector, or everything, hear it
by that alone; steered ones through their pattern: from directions that are as close as `DIRECTIONS` to a beam or, where
beams follow elevation, from each node. What comes from between two directions is shared between them: a node alone is
then heard to about 1 % of a beam's gain, and many together much better.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import kernel
from manetdiff.layout import Layout
from manetdiff.layout.choosing import LINKABLE
from manetdiff.layout.tables import ANTENNA, ANTENNAS, BEARING, DISTANCE, GRADE, OWNER, PEER, SENT, SLOTS
from manetdiff.radio import Radio
from manetdiff.radio.pairs import HEARS, HEARS_BEAM, HEARS_SECTOR, SECTORS
from manetdiff.radio.patterns import STEERED, half_power_width
from manetdiff.solvers.state import AIRTIME, FAR, LINKED, SearchState

FloatArray = npt.NDArray[np.float64]

# Of the far field, within the half-power width of a beam; and how many there are in a turn at least and at most.
DIRECTIONS, FEWEST, MOST = 8, 16, 1024
# Entries of the table of gains by azimuth for each direction.
FINER = 32
# Entries of a table of gains, by the sine of half the angle off the axis.
STEPS = 4096
EPSILON, COS_THETA = 0, 1


class FarField:
    """Room and tables for looking at what comes from afar in one layout."""

    def __init__(self, layout: Layout) -> None:
        place, tables = layout.placement, layout.tables
        self.layout = layout
        self.empty = tables.slots == len(layout) * (len(layout) - 1)
        if self.empty:
            return
        radio = layout.radio
        hears = place.constants[HEARS]
        bins = radio.sectors if hears == HEARS_SECTOR else 1
        if hears == HEARS_BEAM:
            bins = min(max(FEWEST, math.ceil(2 * math.pi * DIRECTIONS / half_power_width(radio))), MOST)
        self.field = np.zeros((len(layout), bins, 2))
        self.gain = gains_by_angle(radio) if place.steers else np.empty(0)
        # Azimuths do not say what a beam that follows elevation hears.
        self.by_node = bool(hears == HEARS_BEAM and place.elevated)
        self.heard = self._gain_by_azimuth(bins * FINER) if hears == HEARS_BEAM else np.empty(0)
        self.numbers = np.array([radio.epsilon, math.cos(min(radio.theta_max, math.pi))])
        self.near = np.zeros(len(layout), dtype=np.int64)
        self.mute = place.mute

    def look(self, state: SearchState) -> None:
        """Bring what the state holds from afar up to date; rates wait for `compute_rates`."""
        if self.empty:
            return
        place, tables = self.layout.placement, self.layout.tables
        self.field[:] = 0.0
        self.near[:] = -1
        state.floats[FAR:] = 0.0
        _gather(
            tables, state, place.positions, place.forward, self.mute, self.gain, self.numbers, self.near, self.field,
            self.by_node,
        )  # fmt: skip
        if not self.by_node:
            _spread(tables, state, self.heard, self.field)

    def _gain_by_azimuth(self, steps: int) -> FloatArray:
        """(steps,) gain at so many steps of a turn off the axis."""
        off_axis = np.arange(steps) * (2 * math.pi / steps)
        return STEERED[self.layout.radio.pattern](np.minimum(off_axis, 2 * math.pi - off_axis), self.layout.radio)


def gains_by_angle(radio: Radio) -> FloatArray:
    """(STEPS + 1,) gains of a steered beam, for `gain_at`."""
    half_angle = np.arcsin(np.linspace(0.0, 1.0, STEPS + 1))
    return STEERED[radio.pattern](2 * half_angle, radio)


@kernel
def _gather(tables, state, positions, forward, mute, gain, numbers, near, field, by_node):  # type: ignore[no-untyped-def]
    """Add up in field (n, bins, 2) what each node gets from nodes that it does not follow, by direction and parity.

    - mute: (n, n) pairs that do not hear each other; empty where there are none. near: (n,) room.
    """
    n = len(state.parity)
    sectors = int(tables.constants[SECTORS])
    bins, hears = field.shape[1], tables.constants[HEARS]
    deep = positions.shape[1] == 3
    for k in range(n):
        for slot in range(tables.starts[SLOTS, k], tables.starts[SLOTS, k + 1]):
            near[tables.ints[PEER, slot]] = k
        near[k] = k
        side = state.parity[k]
        for j in range(n):
            if near[j] == k or (len(mute) > 0 and mute[k, j]):
                continue
            x, y = positions[j, 0] - positions[k, 0], positions[j, 1] - positions[k, 1]
            z = positions[j, 2] - positions[k, 2] if deep else 0.0
            across = x * x + y * y
            squared = across + z * z
            leak = 0.0
            for antenna in range(k * sectors, (k + 1) * sectors):
                begin = tables.starts[ANTENNAS, antenna]
                for at in range(begin, begin + state.load[antenna]):
                    slot = state.ints[LINKED, at]
                    aim = tables.ints[PEER, slot]
                    power = state.floats[AIRTIME, slot] * tables.floats[SENT, slot]
                    ax, ay = positions[aim, 0] - positions[k, 0], positions[aim, 1] - positions[k, 1]
                    if len(gain) > 0:
                        az = positions[aim, 2] - positions[k, 2] if deep else 0.0
                        cosine = (ax * x + ay * y + az * z) / (tables.floats[DISTANCE, slot] * math.sqrt(squared))
                        leak += power * gain_at(gain, cosine)
                    elif ax * x + ay * y >= numbers[COS_THETA] * math.sqrt((ax * ax + ay * ay) * across):
                        leak += power
            if leak == 0.0:
                continue
            leak /= squared + numbers[EPSILON]
            if by_node:
                _hear(tables, state, positions, gain, j, -x, -y, -z, leak, side)
                continue
            if bins == 1:
                field[j, 0, side] += leak
            elif hears == HEARS_SECTOR:
                ahead = (math.atan2(-y, -x) - forward[j] % (2 * math.pi)) / (2 * math.pi)
                field[j, int((ahead + 4.0) * bins + 0.5) % bins, side] += leak
            else:
                direction = (math.atan2(-y, -x) / (2 * math.pi) + 1.0) * bins
                towards = int(direction)
                field[j, towards % bins, side] += leak * (towards + 1 - direction)
                field[j, (towards + 1) % bins, side] += leak * (direction - towards)


@kernel
def gain_at(gain, cosine):  # type: ignore[no-untyped-def]
    """From a table of gains, at the cosine of an angle off the axis."""
    return gain[min(STEPS, int(math.sqrt(max(0.0, (1.0 - cosine) / 2)) * STEPS + 0.5))]


@kernel
def _hear(tables, state, positions, gain, j, x, y, z, leak, side):  # type: ignore[no-untyped-def]
    """Count what reaches j from the direction x, y, z at each of its slots that may be linked."""
    far = math.sqrt(x * x + y * y + z * z)
    for slot in range(tables.starts[SLOTS, j], tables.starts[SLOTS, j + 1]):
        if tables.ints[GRADE, slot] >= LINKABLE:
            peer = tables.ints[PEER, slot]
            ax, ay = positions[peer, 0] - positions[j, 0], positions[peer, 1] - positions[j, 1]
            az = positions[peer, 2] - positions[j, 2]
            cosine = (ax * x + ay * y + az * z) / (far * tables.floats[DISTANCE, slot])
            state.floats[FAR + side, slot] += leak * gain_at(gain, cosine)


@kernel
def _spread(tables, state, heard, field):  # type: ignore[no-untyped-def]
    """Say of each slot that may be linked what is heard there from afar."""
    bins = field.shape[1]
    sectors = int(tables.constants[SECTORS])
    for slot in range(tables.ints.shape[1]):
        if tables.ints[GRADE, slot] < LINKABLE:
            continue
        j = tables.ints[OWNER, slot]
        for side in range(2):
            if len(heard) == 0:
                at = tables.ints[ANTENNA, slot] % sectors if bins > 1 else 0
                state.floats[FAR + side, slot] = field[j, at, side]
            else:
                at = int((1.0 - tables.floats[BEARING, slot] / (2 * math.pi)) * len(heard) + 0.5)
                total = 0.0
                for towards in range(bins):
                    total += field[j, towards, side] * heard[(at + towards * FINER) % len(heard)]
                state.floats[FAR + side, slot] = total
