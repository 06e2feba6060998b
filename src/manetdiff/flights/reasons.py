"""Why links were dropped and added: by who is where, which antenna looks at whom, and who sends when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from manetdiff.flights.changes import Link, all_named
from manetdiff.layout import Layout
from manetdiff.topology import Topology, carried_over, component_labels, places_in

# The id of a node, and which of its sectors.
Antenna = tuple[str, int]
Antennas = dict[Link, frozenset[Antenna]]

NODE_GONE, OUT_OF_RANGE, SECTOR_LEFT = "node gone", "out of range", "sector left"
PARITY, PUSHED_OFF, BY_CHOICE = "parity", "pushed off", "by choice"
NODE_JOINED, JOINS_PARTS, SECTOR_FREE = "node joined", "joins parts", "sector free"
# Nobody chose these.
FORCED = (NODE_GONE, OUT_OF_RANGE, SECTOR_LEFT)


class Comparison:
    """Two topologies of fleets that differ. Links are named by the ids of their nodes, in the order of the old fleet.

    - layout: the new topology's. carried: the old one on it. index: where in it each node stands, by its id.
    - dropped, added, kept: links, in that order too; nodes that joined come last.
    """

    def __init__(self, old: Topology, new: Topology) -> None:
        before = old.on()
        self.new, self.layout = new, new.on()
        self.carried = carried_over(old, self.layout)
        self.index = {name: k for k, name in enumerate(self.layout.fleet.ids)}
        self._was = places_in(before.fleet, self.layout.fleet)
        joined = [self.layout.fleet.ids[k] for k in np.flatnonzero(self._was < 0)]
        self._order = {name: k for k, name in enumerate((*before.fleet.ids, *joined))}
        # Antennas of the old links as they were, of those whose nodes are all there as they would be now, and of the
        # new ones.
        self._before = self._antennas(old, before)
        self._carried = self._antennas(self.carried, self.layout)
        self._after = self._antennas(new, self.layout)
        self.dropped = self._in_order(self._before.keys() - self._after.keys())
        self.added = self._in_order(self._after.keys() - self._before.keys())
        self.kept = self._in_order(self._before.keys() & self._after.keys())
        possible = self.carried.links[self.layout.linkable(self.carried.links)]
        self._possible = set(self._named(possible, self.layout))
        self._parts_of_old = component_labels(possible, len(new))

    def why_dropped(self, link: Link) -> str:
        """Why an old link is not among the new ones."""
        if link not in self._carried:
            return NODE_GONE
        if link not in self._possible:
            return OUT_OF_RANGE
        held = self._carried[link]
        # Two links have at most one node in common, so if they share an antenna it is there.
        if any(held & self._after[one] and not self._before[link] & self._before[one] for one in self.kept):
            return SECTOR_LEFT
        if self.of_one_parity(link):
            return PARITY
        return PUSHED_OFF if any(held & self._after[one] for one in self.added) else BY_CHOICE

    def why_added(self, link: Link) -> str:
        """Why a new link was not among the old ones."""
        if any(self._was[self.index[end]] < 0 for end in link):
            return NODE_JOINED
        held = self._after[link]
        freed = [one for one in self.dropped if held & self._places(one)]
        if freed:
            return f"takes the place of {all_named(freed)}"
        if self._joins_parts(link):
            return JOINS_PARTS
        return BY_CHOICE if any(held & self._after[one] for one in self.kept) else SECTOR_FREE

    def turned(self) -> list[tuple[str, str]]:
        """Nodes, by id, whose parity is another than their surroundings would make it, and why.

        To flip all nodes of a part of the network changes nothing: most of its nodes count as unchanged, and of two
        equal halves the one that has the first node of the old fleet.
        """
        known = self._was >= 0
        differs = known & (self.new.parity != self.carried.parity)
        part = component_labels(self.new.links, len(self.new))
        for label in np.unique(part[known]):
            nodes = np.flatnonzero(known & (part == label))
            flipped = 2 * int(differs[nodes].sum()) - len(nodes)
            if flipped > 0 or (flipped == 0 and differs[nodes[self._was[nodes].argmin()]]):
                differs[nodes] = ~differs[nodes]
        turned = {self.layout.fleet.ids[k] for k in np.flatnonzero(differs)}
        return [(name, self._why_turned(name, turned)) for name in sorted(turned, key=self._order.__getitem__)]

    def of_one_parity(self, link: Link) -> bool:
        """Whether the ends of a link of present nodes send at the same time now."""
        first, second = self.new.parity[[self.index[end] for end in link]]
        return bool(first == second)

    def name_of(self, link: npt.NDArray[np.int64]) -> Link:
        """The name of a link (2,) of the new layout."""
        return next(self._named(link[None], self.layout))

    def _why_turned(self, name: str, turned: set[str]) -> str:
        fresh = [link for link in self.added if name in link]
        if fresh:
            return f"to link {all_named(fresh)}"
        neighbours = {end for link in self.kept if name in link for end in link} - {name}
        return "with its neighbours" if neighbours & turned else BY_CHOICE

    def _places(self, link: Link) -> frozenset[Antenna]:
        """Antennas that an old link held, and those that it would hold now if it can still be."""
        return self._before[link] | self._carried[link] if link in self._possible else self._before[link]

    def _joins_parts(self, link: Link) -> bool:
        """Whether neither the other new links nor the old ones that could still be there join its ends."""
        first, second = (self.index[end] for end in link)
        others = self.new.links[(self.new.links != sorted((first, second))).any(axis=1)]
        parts = component_labels(others, len(self.new))
        return bool(parts[first] != parts[second] and self._parts_of_old[first] != self._parts_of_old[second])

    def _named(self, links: npt.NDArray[np.int64], layout: Layout) -> Iterator[Link]:
        ids = layout.fleet.ids
        for i, j in links:
            first, second = sorted((ids[i], ids[j]), key=self._order.__getitem__)
            yield first, second

    def _antennas(self, topology: Topology, layout: Layout) -> Antennas:
        """Of each link, the two antennas that hold it."""
        sectors = layout.pairs(topology.links).sector.tolist()
        ids = layout.fleet.ids
        held = (
            frozenset((ids[end], sector) for end, sector in zip(link, pair, strict=True))
            for link, pair in zip(topology.links.tolist(), sectors, strict=True)
        )
        return dict(zip(self._named(topology.links, layout), held, strict=True))

    def _in_order(self, links: Iterable[Link]) -> list[Link]:
        return sorted(links, key=lambda link: [self._order[end] for end in link])
