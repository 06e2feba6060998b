"""Layouts of one size under one radio side by side: physics, tables and features of all of them at once.

What follows from a layout is what `Layout` says of it, to the last bit. The physics is NumPy's work on longer arrays;
what is compiled goes through all layouts in one call that holds no lock, so that threads can share the layouts out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder, kernel
from manetdiff.fleet import Fleet
from manetdiff.fleet.stack import FleetStack
from manetdiff.layout.choosing import ENOUGH, LINKABLE, ROUNDING, chosen_pairs, most_of_an_antenna
from manetdiff.layout.features import IN_RANGE, NODE_FEATURES, PAIR_FEATURES, fill_leaks, fill_pairs
from manetdiff.layout.padding import PaddedFeatures
from manetdiff.layout.tables import LinkTables, filled_tables, gains_of_pairs
from manetdiff.once import once
from manetdiff.radio import PairValues, Radio
from manetdiff.radio.bounds import WIDTH
from manetdiff.radio.pairs import EVERY_PAIR, SECTORS, linkable_pairs, pair_values, radio_constants, steered_gain
from manetdiff.radio.patterns import STEERED

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Of StackArrays.numbers.
REACH, MOST = range(2)


class StackArrays(NamedTuple):
    """What compiled code needs of b layouts of n nodes, see `layout_tables`.

    - positions: (b, n, d) and forward: (b, n), as of a Placement. linkable, sector: (b, n, n). floats: (b, 5, n, n),
      the rows of LinkTables.floats. gain: (b, n, n, n), empty for cones. constants: of the radio. numbers: (2,) REACH,
      how far a node reaches; MOST candidates of an antenna.
    """

    positions: FloatArray
    forward: FloatArray
    linkable: BoolArray
    sector: npt.NDArray[np.int64]
    floats: FloatArray
    gain: FloatArray
    constants: FloatArray
    numbers: FloatArray


@dataclass(frozen=True, eq=False)
class LayoutStack:
    """b fleets of n nodes under one radio. Not every layout can be in a stack: see `fits` and `plain`."""

    fleets: FleetStack
    radio: Radio

    @staticmethod
    def fits(fleet: Fleet) -> bool:
        """Whether a fleet may be stacked with others of its shape: not large ones, nor where azimuths are blocked."""
        return len(fleet) <= EVERY_PAIR and fleet.blocked is None

    @classmethod
    def of(cls, fleets: Sequence[Fleet], radio: Radio) -> LayoutStack:
        """Of fleets that fit and are of one shape."""
        return cls(FleetStack.of(fleets), radio)

    def __len__(self) -> int:
        return len(self.fleets)

    @property
    def nodes(self) -> int:
        """n."""
        return int(self.fleets.yaw.shape[1])

    def part(self, which: slice | BoolArray) -> LayoutStack:
        """Some of the layouts."""
        return LayoutStack(self.fleets.part(which), self.radio)

    @once
    def plain(self) -> BoolArray:
        """(b,) layouts that a stack can speak for: no node far out, nodes side by side, a width that the radio's unit
        can measure and, under steered beams that follow elevation, not all at one height. Others are rare."""
        fleets = self.fleets
        spread_out = ~fleets.far_out & (fleets.spread > 0)
        unit = np.where(spread_out, self.unit, 1.0)
        plain = spread_out & (WIDTH[0] * unit <= fleets.width) & (fleets.width <= WIDTH[1] * unit)
        if self._elevated:
            plain &= np.ptp(fleets.positions[..., 2], axis=1) > 0
        return np.asarray(plain)

    @property
    def _elevated(self) -> bool:
        return self._steers and self.fleets.positions.shape[-1] == 3

    @property
    def _steers(self) -> bool:
        return self.radio.pattern in STEERED

    @once
    def unit(self) -> FloatArray:
        """(b,) metres per unit of distance."""
        return self.fleets.spread if self.radio.unit is None else np.full(len(self), float(self.radio.unit))

    @once
    def positions(self) -> FloatArray:
        """(b, n, 2) or (b, n, 3), in units, about the middle of each fleet."""
        return np.asarray(self.fleets.centred / self.unit[:, None, None])

    @once
    def forward(self) -> FloatArray:
        """(b, n) bearing in which each node's sector 0 looks."""
        return self.fleets.yaw + self.radio.boresight

    @once
    def every_pair(self) -> PairValues:
        """(b, n, n) pairs."""
        offset = self.positions[:, None] - self.positions[:, :, None]
        return pair_values(self.radio, offset, self.forward[:, :, None], np.eye(self.nodes, dtype=np.bool_))

    @once
    def linkable(self) -> BoolArray:
        """(b, n, n) pairs that may be linked."""
        return linkable_pairs(self.radio, self.every_pair)

    @once
    def every_gain(self) -> FloatArray:
        """(b, n, n, n) see `Placement.every_gain`; (b, 0, 0, 0) for cones."""
        if not self._steers:
            return np.empty((len(self), 0, 0, 0))
        return steered_gain(self.radio, self.every_pair, self.every_pair, elevated=self._elevated)

    @once
    def arrays(self) -> StackArrays:
        """For compiled code."""
        every = self.every_pair
        return StackArrays(
            self.positions,
            self.forward,
            self.linkable,
            every.sector,
            np.stack([every.distance, every.bearing, every.sent, every.signal, every.fade], axis=1),
            self.every_gain,
            radio_constants(self.radio),
            np.array([self.radio.range * ROUNDING, most_of_an_antenna(ENOUGH, self.nodes)]),
        )

    @property
    def features(self) -> PaddedFeatures:
        """What a network on all pairs reads of them."""
        b, n, every = len(self), self.nodes, self.every_pair
        positions, yaw = self.fleets.normalised()
        node = np.empty((b, n, len(NODE_FEATURES)), dtype=np.float32)
        node[..., :2], node[..., 2], node[..., 3] = positions, np.cos(yaw), np.sin(yaw)
        pair = np.zeros((b, n, n, len(PAIR_FEATURES)), dtype=np.float32)
        pair[..., IN_RANGE] = self.linkable
        leak = self._steered_leaks() if self._steers else np.zeros((b, n, n))
        scale, heading = self.unit / self.fleets.spread, self.fleets.mean_heading
        _fill_features(every, leak, self._steers, radio_constants(self.radio), heading, scale, pair)
        sector = every.sector.astype(np.uint8)
        sector[:, np.arange(n), np.arange(n)] = 0
        return PaddedFeatures(node, pair, sector, np.ones((b, n), dtype=np.bool_))

    def _steered_leaks(self) -> FloatArray:
        """(b, n, n) power that a beam from the first node at the second spills on all others."""
        every, others = self.every_pair, ~np.eye(self.nodes, dtype=np.bool_)
        spilled = self.every_gain * (every.fade * others)[:, :, None]
        return np.asarray(every.sent * (spilled * others).sum(axis=-1))


@kernel
def _fill_features(every, leak, steered, constants, heading, scale, pair):  # type: ignore[no-untyped-def]
    for b in range(len(pair)):
        one = PairValues(
            every.offset[b], every.distance[b], every.bearing[b], every.sector[b], every.sent[b], every.signal[b],
            every.fade[b],
        )  # fmt: skip
        if not steered:
            fill_leaks(one, constants, leak[b])
        fill_pairs(one, leak[b], constants, heading[b], scale[b], pair[b])


@builder
def stacked_tables(arrays, b):  # type: ignore[no-untyped-def]
    """The tables of one layout of a stack; see `link_tables`."""
    linkable, sector = arrays.linkable[b], arrays.sector[b]
    n = len(linkable)
    sectors = int(arrays.constants[SECTORS])
    nothing = np.empty((0, 2), dtype=np.int64)
    first, second, grade, tree = chosen_pairs(
        arrays.positions[b], arrays.forward[b], arrays.numbers[REACH], sectors, int(arrays.numbers[MOST]),
        np.full(n, math.inf), nothing, nothing, ~linkable,
    )  # fmt: skip
    floats = np.empty((arrays.floats.shape[1], len(first)))
    looking = np.empty(len(first), dtype=np.int64)
    for at in range(len(first)):
        i, j = first[at], second[at]
        grade[at] = max(grade[at], LINKABLE) * linkable[i, j]
        looking[at] = sector[i, j]
        for row in range(len(floats)):
            floats[row, at] = arrays.floats[b, row, i, j]
    steered = arrays.gain.shape[1] > 0
    tables = filled_tables(first, second, looking, grade, floats, n, sectors, len(tree), arrays.constants, not steered)
    gain = gains_of_pairs(arrays.gain[b], tables.ints, tables.starts) if steered else tables.gain
    return LinkTables(
        tables.ints, tables.floats, tables.starts, tables.lists, tables.fan, tables.fan_fade, gain, tables.constants
    )
