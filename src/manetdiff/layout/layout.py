"""The layout: a fleet and the radio it flies with. What follows from the two is computed once, when first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.errors import FleetError, RadioError
from manetdiff.fleet import Fleet
from manetdiff.layout.features import LayoutFeatures, layout_features
from manetdiff.radio import LinkTables, Radio, link_tables, with_pins

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class Peers(NamedTuple):
    """Candidate peers of all nodes, each node's nearest first, and (n + 1,) where each node's begin."""

    nearest: IntArray
    start: IntArray


@dataclass(frozen=True, eq=False)
class Layout:
    """A fleet under a radio; by default the radio that the benchmark sets use."""

    fleet: Fleet
    radio: Radio = field(default_factory=Radio)

    def __post_init__(self) -> None:
        if not isinstance(self.fleet, Fleet):
            raise FleetError(f"give a Fleet, not {type(self.fleet).__name__}")
        if not isinstance(self.radio, Radio):
            raise RadioError(f"radio must be a Radio, not {self.radio!r}")

    @classmethod
    def of(cls, where: Fleet | Layout, radio: Radio | None = None) -> Layout:
        """A layout as it is, or that of a fleet; radio: another than the layout's own, or than the default."""
        if isinstance(where, Layout):
            return where if radio is None or radio == where.radio else cls(where.fleet, radio)
        return cls(where) if radio is None else cls(where, radio)

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.fleet)

    @property
    def unit(self) -> float:
        """Metres per unit of distance."""
        return self.radio.unit_for(self.fleet)

    @cached_property
    def tables(self) -> LinkTables:
        """What compiled code looks up: distances, sectors, powers, beams."""
        return link_tables(self.fleet, self.radio)

    @cached_property
    def peers(self) -> Peers:
        """The candidates as lists, which searches draw from."""
        candidate = self.tables.candidate
        order = np.argsort(np.where(candidate, self.tables.distance, np.inf), axis=1, kind="stable")
        counts = candidate.sum(axis=1)
        nearest = [order[i, : counts[i]] for i in range(len(self))]
        start = np.concatenate([[0], np.cumsum(counts)])
        return Peers(np.concatenate(nearest).astype(np.int64), start.astype(np.int64))

    @cached_property
    def features(self) -> LayoutFeatures:
        """What a network reads of it."""
        return layout_features(self.fleet, self.tables, self.unit)

    def pinned(self, keep: IntArray, avoid: BoolArray) -> Layout:
        """The same layout, but the links keep, (m, 2), must stay, and the pairs avoid, (n, n), may not be linked."""
        made = Layout(self.fleet, self.radio)
        # In the place of those that it would compute.
        made.__dict__["tables"] = with_pins(self.tables, keep, avoid)
        return made
