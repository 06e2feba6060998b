"""The layout: a fleet and the radio it flies with. What follows from the two is computed once, when first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from manetdiff.errors import FleetError, RadioError
from manetdiff.fleet import Fleet
from manetdiff.layout.arcs import Arcs, layout_arcs
from manetdiff.layout.choosing import (
    CANDIDATE,
    ENOUGH,
    NO_LINKS,
    NOTHING_BANNED,
    Choice,
    Limits,
    choose_pairs,
    joining_length,
    within_range,
)
from manetdiff.layout.features import LayoutFeatures, layout_features
from manetdiff.layout.tables import GRADE, OWNER, PEER, LinkTables, link_tables
from manetdiff.radio import PairValues, Placement, Radio
from manetdiff.radio.pairs import EVERY_PAIR

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Layout:
    """A fleet under a radio; by default the radio that the benchmark sets use.

    - limits: how much of it searches look at.
    - keep: (m, 2) links that must stay. banned: (n, n) pairs that may not be linked; empty where there are none.
    - extra: (m, 2) links that are candidates besides those that follow from the fleet.
    """

    fleet: Fleet
    radio: Radio = field(default_factory=Radio)
    limits: Limits = ENOUGH
    keep: IntArray = field(default_factory=lambda: NO_LINKS, repr=False)
    banned: BoolArray = field(default_factory=lambda: NOTHING_BANNED, repr=False)
    extra: IntArray = field(default_factory=lambda: NO_LINKS, repr=False)

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

    @cached_property
    def placement(self) -> Placement:
        """The fleet in the radio's units."""
        return Placement(self.fleet, self.radio)

    @property
    def unit(self) -> float:
        """Metres per unit of distance."""
        return self.placement.unit

    @cached_property
    def choice(self) -> Choice:
        """The pairs that tables and searches look at, and the shortest spanning forest."""
        return choose_pairs(self.placement, self.limits, self.keep, self.extra, self.banned)

    @cached_property
    def tables(self) -> LinkTables:
        """What compiled code looks up: distances, antennas, powers, beams, candidates."""
        return link_tables(self.placement, self.choice, self.banned)

    @cached_property
    def candidates(self) -> IntArray:
        """(c, 2) pairs that searches propose, with i < j."""
        ints = self.tables.ints
        chosen = (ints[GRADE] >= CANDIDATE) & (ints[OWNER] < ints[PEER])
        return np.asarray(ints[[OWNER, PEER]][:, chosen].T, dtype=np.int64)

    @property
    def connectable(self) -> bool:
        """Whether some network joins all nodes."""
        return len(self.choice.tree) == len(self) - 1

    @property
    def range_tree(self) -> IntArray:
        """(t, 2) links of the shortest spanning forest of all pairs within range, whatever else keeps them apart."""
        return within_range(self.placement)

    @property
    def joining_range(self) -> float:
        """The shortest range, in units, that would connect the whole fleet."""
        return joining_length(self.placement)

    @cached_property
    def features(self) -> LayoutFeatures:
        """What a network on all pairs reads of it."""
        return layout_features(self.placement)

    @cached_property
    def arcs(self) -> Arcs:
        """Its candidates as a network on sparse graphs reads them."""
        return layout_arcs(self.placement, self.tables)

    def pairs(self, links: IntArray) -> PairValues:
        """What the physics says of links (m, 2), in shape (m, 2): from the first node to the second, and back."""
        i, j = links, links[:, ::-1]
        if len(self) <= EVERY_PAIR:
            return PairValues._make(value[i, j] for value in self.placement.every_pair)
        return self.placement.pairs(i, j)

    def linkable(self, links: IntArray) -> BoolArray:
        """(m,) which of the pairs may be linked: within range, and neither blocked nor banned."""
        i, j = links[:, 0], links[:, 1]
        if len(self) <= EVERY_PAIR:
            return self._every_linkable[i, j]
        possible = self.placement.linkable(self.placement.pairs(i, j))
        return possible & ~self.banned[i, j] if len(self.banned) else possible

    @cached_property
    def _every_linkable(self) -> BoolArray:
        """(n, n) the same of every pair."""
        possible = self.placement.linkable(self.placement.every_pair)
        return possible & ~self.banned if len(self.banned) else possible

    def pinned(self, keep: IntArray, avoid: BoolArray) -> Layout:
        """The same layout, but the links keep, (m, 2), must stay, and the pairs avoid, (n, n), may not be linked."""
        made = replace(self, keep=keep, banned=avoid)
        made.__dict__["placement"] = self.placement
        return made

    def including(self, links: IntArray) -> Layout:
        """The layout with those of links (m, 2) that may be linked among what searches can hold: itself where they
        are."""
        if len(self) <= EVERY_PAIR or len(links) == 0:
            return self
        n = len(self)
        known = self.candidates[:, 0] * n + self.candidates[:, 1]
        return self.proposing(links[~np.isin(links.min(axis=1) * n + links.max(axis=1), known)])

    def proposing(self, links: IntArray) -> Layout:
        """The layout with those of links (m, 2) that may be linked among its candidates. Which ones are already is not
        looked up: that would take its tables."""
        wanted = links[self.linkable(links)]
        if len(wanted) == 0:
            return self
        made = replace(self, extra=np.concatenate([self.extra, wanted]))
        made.__dict__["placement"] = self.placement
        return made
