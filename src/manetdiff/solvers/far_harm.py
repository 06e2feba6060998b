"""What a beam does to receivers far away, at the margin: the price of sending, in T per airtime.

A search counts what a beam does to the nodes nearby one by one. On each of the many others it leaks very little, and
all of them together can matter as much: without a price, a search would crowd a large fleet with links. To first order
it is the leaked power times what a little more noise costs each of those that listen, added up when a search looks
afar.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import kernel
from manetdiff.layout import Layout
from manetdiff.layout.choosing import LINKABLE
from manetdiff.layout.tables import ANTENNAS, BEARING, DISTANCE, GRADE, OWNER, PEER, SENT, SIGNAL, SLOTS
from manetdiff.radio.pairs import HEARS, HEARS_BEAM, HEARS_SECTOR, LEAST_SNR, MEGAHERTZ, MOST_STATES, SECTORS, SIGMA2
from manetdiff.radio.patterns import STEERED, half_power_width
from manetdiff.solvers.far_field import gain_at, gains_by_angle
from manetdiff.solvers.state import AIRTIME, HARM, LINKED, NOISE, PLACE, SearchState

FloatArray = npt.NDArray[np.float64]

# Directions in a turn: so many within the width of a beam, at least and at most.
DIRECTIONS, FEWEST, MOST = 8, 32, 512
EPSILON = 0


class FarHarm:
    """Room and tables for the price of sending in one layout."""

    def __init__(self, layout: Layout, mute: npt.NDArray[np.bool_]) -> None:
        radio, place = layout.radio, layout.placement
        self.layout, self.mute = layout, mute
        width = half_power_width(radio) if place.steers else 2 * min(radio.theta_max, math.pi)
        directions = min(max(FEWEST, math.ceil(2 * math.pi * DIRECTIONS / max(width, 1e-3))), MOST)
        self.beam = self._mean_gains(directions)
        sectored = place.constants[HEARS] == HEARS_SECTOR
        hears_beam = place.steers and radio.reception != "omni"
        self.cost = np.zeros((len(layout), radio.sectors if sectored else directions if hears_beam else 1))
        self.spilled = np.zeros((len(layout), directions, 2))
        self.near = np.zeros(len(layout), dtype=np.int64)
        self.numbers = np.array([radio.epsilon])
        # Azimuths do not say where a beam that follows elevation leaks to.
        self.by_node = place.steers and place.elevated
        self.gain = gains_by_angle(radio) if self.by_node else np.empty(0)
        self.slope = np.zeros(layout.tables.slots if self.by_node else 0)

    def _mean_gains(self, directions: int) -> FloatArray:
        """(directions,) mean gain of a beam over the width of a direction so many steps off its axis."""
        radio, width = self.layout.radio, 2 * math.pi / directions
        off_axis = np.arange(directions)[:, None] * width + np.linspace(-width / 2, width / 2, 65)
        off_axis = np.abs(np.mod(off_axis + math.pi, 2 * math.pi) - math.pi)
        if self.layout.placement.steers:
            return np.asarray(STEERED[radio.pattern](off_axis, radio).mean(axis=1))
        return np.asarray((off_axis <= radio.theta_max).mean(axis=1))

    def weigh(self, state: SearchState) -> None:
        """Bring the prices that the state holds up to date, by the rates and the interference that it holds."""
        place, tables = self.layout.placement, self.layout.tables
        self.cost[:], self.spilled[:], self.near[:] = 0.0, 0.0, -1
        if self.by_node:
            _price_by_node(tables, state, place.positions, self.mute, self.gain, self.numbers, self.near, self.slope)
            return
        _add_costs(tables, state, self.beam, self.cost)
        _spill(
            tables, state, place.positions, place.forward, self.mute, self.numbers, self.near, self.cost, self.spilled
        )
        _set_prices(tables, state, self.beam, self.spilled)


@kernel
def _add_costs(tables, state, beam, cost):  # type: ignore[no-untyped-def]
    """Fill cost (n, bins): what a little power from each direction costs each node, in T, by its links as they are."""
    sectors = int(tables.constants[SECTORS])
    bins = cost.shape[1]
    for antenna in range(len(state.load)):
        begin = tables.starts[ANTENNAS, antenna]
        for at in range(begin, begin + state.load[antenna]):
            slot = state.ints[LINKED, at]
            slope = _slope(tables, state, slot)
            j = antenna // sectors
            if bins == 1:
                cost[j, 0] += slope
            elif tables.constants[HEARS] == HEARS_SECTOR:
                cost[j, antenna % sectors] += slope
            else:
                axis = int((tables.floats[BEARING, slot] / (2 * math.pi) + 1.0) * bins + 0.5)
                for towards in range(bins):
                    cost[j, towards] += slope * beam[(towards - axis) % bins]


@kernel
def _slope(tables, state, slot):  # type: ignore[no-untyped-def]
    """What a little more noise at a linked slot costs, in T per power."""
    noise = tables.constants[SIGMA2] + state.floats[NOISE, slot]
    signal = tables.floats[SIGNAL, slot]
    if signal < noise * tables.constants[LEAST_SNR] or noise + signal > noise * tables.constants[MOST_STATES]:
        return 0.0  # a little changes nothing
    airtime = state.floats[AIRTIME, slot]
    return airtime * tables.constants[MEGAHERTZ] / math.log(2.0) * signal / (noise * (noise + signal))


@kernel
def _price_by_node(tables, state, positions, mute, gain, numbers, near, slope):  # type: ignore[no-untyped-def]
    """Set the prices by every pair of nodes that do not follow each other, by angles in space."""
    n = len(state.parity)
    listens = tables.constants[HEARS] == HEARS_BEAM
    slope[:] = 0.0
    for slot in range(tables.ints.shape[1]):
        state.floats[HARM, slot], state.floats[HARM + 1, slot] = 0.0, 0.0
        if state.ints[PLACE, slot] >= 0:
            slope[slot] = _slope(tables, state, slot)
    for k in range(n):
        for slot in range(tables.starts[SLOTS, k], tables.starts[SLOTS, k + 1]):
            near[tables.ints[PEER, slot]] = k
        near[k] = k
        for j in range(n):
            if near[j] == k or (len(mute) > 0 and mute[k, j]):
                continue
            cost = 0.0
            for slot in range(tables.starts[SLOTS, j], tables.starts[SLOTS, j + 1]):
                if slope[slot] > 0.0:
                    cost += slope[slot] * (_gain_towards(tables, positions, gain, slot, k) if listens else 1.0)
            if cost > 0.0:
                squared = numbers[EPSILON]
                for axis in range(positions.shape[1]):
                    squared += (positions[j, axis] - positions[k, axis]) ** 2
                side = 1 - state.parity[j]
                for slot in range(tables.starts[SLOTS, k], tables.starts[SLOTS, k + 1]):
                    if tables.ints[GRADE, slot] >= LINKABLE:
                        leak = tables.floats[SENT, slot] / squared * _gain_towards(tables, positions, gain, slot, j)
                        state.floats[HARM + side, slot] += cost * leak


@kernel
def _gain_towards(tables, positions, gain, slot, node):  # type: ignore[no-untyped-def]
    """Of the beam from a slot's owner at its peer towards another node."""
    i, aim = tables.ints[OWNER, slot], tables.ints[PEER, slot]
    along, squared = 0.0, 0.0
    for axis in range(positions.shape[1]):
        offset = positions[node, axis] - positions[i, axis]
        along += (positions[aim, axis] - positions[i, axis]) * offset
        squared += offset * offset
    return gain_at(gain, along / (tables.floats[DISTANCE, slot] * math.sqrt(squared)))


@kernel
def _spill(tables, state, positions, forward, mute, numbers, near, cost, spilled):  # type: ignore[no-untyped-def]
    """Add up in spilled (n, directions, 2) what power from each node costs far receivers of either parity."""
    n = len(state.parity)
    bins, directions = cost.shape[1], spilled.shape[1]
    deep = positions.shape[1] == 3
    sectored = tables.constants[HEARS] == HEARS_SECTOR
    for k in range(n):
        for slot in range(tables.starts[SLOTS, k], tables.starts[SLOTS, k + 1]):
            near[tables.ints[PEER, slot]] = k
        near[k] = k
        for j in range(n):
            if near[j] == k or (len(mute) > 0 and mute[k, j]):
                continue
            x, y = positions[j, 0] - positions[k, 0], positions[j, 1] - positions[k, 1]
            z = positions[j, 2] - positions[k, 2] if deep else 0.0
            turn = math.atan2(y, x) / (2 * math.pi)
            back = 0
            if sectored:
                back = int((turn + 4.5 - forward[j] / (2 * math.pi) % 1.0) * bins + 0.5) % bins
            elif bins > 1:
                back = int((turn + 1.5) * bins + 0.5) % bins
            if cost[j, back] > 0.0:
                to = int((turn + 1.0) * directions + 0.5) % directions
                spilled[k, to, state.parity[j]] += cost[j, back] / (x * x + y * y + z * z + numbers[EPSILON])


@kernel
def _set_prices(tables, state, beam, spilled):  # type: ignore[no-untyped-def]
    """What a beam at each slot's peer costs, if its owner sends with parity 0, and with parity 1."""
    directions = spilled.shape[1]
    for slot in range(tables.ints.shape[1]):
        if tables.ints[GRADE, slot] >= LINKABLE:
            k = tables.ints[OWNER, slot]
            axis = int((tables.floats[BEARING, slot] / (2 * math.pi) + 1.0) * directions + 0.5)
            for side in range(2):
                total = 0.0
                for to in range(directions):
                    if spilled[k, to, 1 - side] > 0.0:
                        total += spilled[k, to, 1 - side] * beam[(to - axis) % directions]
                state.floats[HARM + side, slot] = total * tables.floats[SENT, slot]
