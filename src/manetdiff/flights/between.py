"""What may happen between two topologies: which links are in each other's way, and what a step does.

Three things keep the search for an order small. New links never share an antenna, so whatever can be added is added at
once. An old link that is in nobody's way can stay to the end. And a link that is in the way need not go before the
very step that it stands in the way of: a step therefore drops all that is in the way of one new link, or turns a node,
before which it drops what is in the way of that node's new links.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import numpy.typing as npt

from manetdiff.flights.steps import Effect, Goal, Kind, Phase, State, Step, flags
from manetdiff.flights.transition_start import Start
from manetdiff.topology import component_labels, count_components

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class Between:
    """The u links that are up now or are to be, by number, and what may be done with them.

    - links: (u, 2) nodes of each. first: the state once all that breaks a rule has gone. most: parts that a state in
      between may have. goals: new links that are not up in it, and nodes that have to turn.
    """

    def __init__(self, links: IntArray, antennas: IntArray, is_new: BoolArray, first: State, most: int) -> None:
        """antennas: (u, 2) that each link leaves from; below 0 where nothing can be in its way. is_new: (u,)."""
        self.links, self.antennas, self.is_new = links, antennas, is_new
        self.first, self.most, self.n = first, most, len(first.final)
        self._new = is_new.tobytes()
        self._ends: list[list[int]] = links.tolist()
        self._antennas: list[list[int]] = antennas.tolist()
        up, final = (flags(first.up), flags(first.final))
        # Of each antenna the link that has to leave it, and the one that has to come.
        self._leaves = {a: k for k in np.flatnonzero(~is_new).tolist() for a in self._antennas[k] if a >= 0}
        self._comes = {a: k for k in np.flatnonzero(is_new & ~up).tolist() for a in self._antennas[k] if a >= 0}
        turns: list[int] = np.flatnonzero(~final).tolist()
        self.links_of: dict[int, list[int]] = {node: [] for node in turns}
        for k in np.flatnonzero(~final[links].all(axis=1)).tolist():
            for node in self._ends[k]:
                if node in self.links_of:
                    self.links_of[node].append(k)
        # Links that are never touched make one place of the nodes that they join.
        stays = up & is_new & final[links].all(axis=1)
        places, place_of = np.unique(component_labels(links[stays], self.n), return_inverse=True)
        self._changing = np.flatnonzero(~stays)
        self._joins, self._places = place_of[links[self._changing]], len(places)
        self._place_of: list[list[int]] = place_of[links].tolist()
        missing: list[int] = np.flatnonzero(is_new & ~up).tolist()
        self.goals = [Goal(link=k) for k in missing] + [Goal(node=k) for k in turns]

    @classmethod
    def of(cls, start: Start) -> Between:
        """Of a whole transition."""
        old, new, layout = start.old.links[~start.must_go], start.new.links, start.new.on()
        n = len(layout)
        codes = np.unique(np.concatenate([old @ [n, 1], new @ [n, 1]]))
        links = np.column_stack(np.divmod(codes, n))
        antennas = links * layout.radio.sectors + layout.pairs(links).sector
        up = np.isin(codes, old @ [n, 1])
        final = start.old.parity == start.new.parity
        first = State(up.tobytes(), final.tobytes(), count_components(old, n))
        return cls(links, antennas, np.isin(codes, new @ [n, 1]), first, max(first.parts, count_components(new, n)))

    @property
    def fewest_parts(self) -> int:
        """Parts that the network would be in with all links up."""
        return count_components(self._joins, self._places)

    def opened(self) -> Phase | None:
        """What can be added before anything else; None where nothing can."""
        up = bytearray(self.first.up)
        added = self._add(up, self.first.final, [goal.link for goal in self.goals if goal.node is None])
        return Phase("add", None, self.state(up, self.first.final)) if added else None

    @property
    def start(self) -> State:
        """The state after that, from which steps are taken."""
        opened = self.opened()
        return self.first if opened is None else opened.state

    def goals_left(self, state: State) -> list[Goal]:
        """Those that are not reached yet."""
        return [one for one in self.goals if not (state.up[one.link] if one.node is None else state.final[one.node])]

    def done(self, state: State) -> bool:
        """Whether all new links are up, so that all others can go; every node has turned then."""
        return 0 not in state.final and bool(flags(state.up)[self.is_new].all())

    def ended(self, state: State) -> Phase | None:
        """The last phase, after all goals: old links that were in nobody's way go; None where there are none."""
        return None if state.up == self._new else Phase("drop", None, self.state(self._new, state.final))

    def steps_to(self, state: State, goal: Goal, *, every: bool = True) -> Iterator[Step]:
        """Steps that reach a goal at once; none where it is reached, or where nodes of the link have to turn before.

        A node turns as it is, or after some of what is in the way of its new links has been dropped.

        - every: all choices of what to drop before a turn; else none of it, or all of it.
        """
        if goal.node is None:
            if not state.up[goal.link] and self._ready(state.final, goal.link):
                yield Step(tuple(self._in_the_way(state.up, goal.link)))
        elif not state.final[goal.node]:
            useful = self._in_the_way_of_turned(state, goal.node)
            for count in range(len(useful) + 1) if every else sorted({0, len(useful)}):
                for drops in combinations(useful, count):
                    yield Step(drops, goal.node)

    def effect(self, state: State, step: Step) -> Effect:
        """What a step does, one change after the other: drops, a turn, and all that can be added then."""
        up, final = bytearray(state.up), state.final
        changes: list[tuple[Kind, bytes]] = []
        lost = list(step.drops)
        added: list[int] = []
        if lost:
            _set(up, lost, 0)
            changes.append(("drop", bytes(up)))
        if step.node is not None:
            # The links of a node lead to nodes of the other parity, which is its own after the turn: all of them go.
            of_node = [k for k in self.links_of[step.node] if up[k]]
            _set(up, of_node, 0)
            lost += of_node
            final = final[: step.node] + b"\1" + final[step.node + 1 :]
            added += self._add(up, final, self.links_of[step.node])
            changes.append(("turn", bytes(up)))
        freed = [self._comes[a] for k in lost for a in self._antennas[k] if a in self._comes]
        if more := self._add(up, final, freed):
            added += more
            changes.append(("add", bytes(up)))
        return Effect(changes, final, lost, added)

    def phases(self, state: State, step: Step) -> list[Phase]:
        """The same with the states after each change."""
        effect, phases = self.effect(state, step), []
        for kind, up in effect.changes:
            # Drops come before the turn.
            final = state.final if kind == "drop" else effect.final
            phases.append(Phase(kind, step.node if kind == "turn" else None, self.state(up, final)))
        return phases

    def lasting_places(self, state: State) -> list[int]:
        """Of each place its label: places are labelled alike where links that stay to the end join them."""
        up, final = (flags(state.up), flags(state.final))
        stay = up & self.is_new & final[self.links].all(axis=1)
        label: list[int] = component_labels(self._joins[stay[self._changing]], self._places).tolist()
        return label

    def replaces(self, label: list[int], effect: Effect) -> bool:
        """Whether links that stay to the end join all that the links joined that a step drops.

        - label: the lasting places of the state before. Whatever is added stays, for its nodes have turned already.
        """
        joined: dict[int, int] = {}

        def root(place: int) -> int:
            at = label[place]
            while at in joined:
                at = joined[at]
            return at

        for link in effect.added:
            first, second = (root(place) for place in self._place_of[link])
            if first != second:
                joined[first] = second
        return all(root(first) == root(second) for first, second in (self._place_of[k] for k in effect.lost))

    def parts(self, up: bytes | bytearray) -> int:
        """How many parts the network is in; up: as of a state."""
        return count_components(self._joins[flags(up)[self._changing]], self._places)

    def state(self, up: bytes | bytearray, final: bytes) -> State:
        """With the parts counted."""
        return State(bytes(up), final, self.parts(up))

    def sharing(self, link: int) -> list[int]:
        """Links of the other topology on its antennas, which cannot be up at the same time."""
        found = [table.get(a) for a in self._antennas[link] for table in (self._leaves, self._comes)]
        return [k for k in found if k is not None and k != link]

    def without(self, state: State, links: BoolArray) -> State:
        """The same state without some links, (u,)."""
        return self.state((flags(state.up) & ~links).tobytes(), state.final)

    def _in_the_way_of_turned(self, state: State, node: int) -> list[int]:
        """Links that would keep new ones of a node from coming up at once when it turns."""
        found = []
        after = state.final[:node] + b"\1" + state.final[node + 1 :]
        for link in self.links_of[node]:
            if self._new[link] and not state.up[link] and self._ready(after, link):
                # Those of the node itself go when it turns.
                found += [k for k in self._in_the_way(state.up, link) if node not in self._ends[k]]
        # One that lets another link come up when it goes is a step of its own, which is better taken before.
        return [k for k in found if not self._lets_add(state, k)]

    def _lets_add(self, state: State, link: int) -> bool:
        waiting = [self._comes[a] for a in self._antennas[link] if a in self._comes]
        return any(self._ready(state.final, k) and self._in_the_way(state.up, k) == [link] for k in waiting)

    def _in_the_way(self, up: bytes | bytearray, link: int) -> list[int]:
        """Old links on the antennas of a new one: none, one or two."""
        return [k for a in self._antennas[link] if (k := self._leaves.get(a)) is not None and up[k]]

    def _ready(self, final: bytes | bytearray, link: int) -> bool:
        first, second = self._ends[link]
        return bool(final[first] and final[second])

    def _add(self, up: bytearray, final: bytes, links: list[int]) -> list[int]:
        """Add those of some links that can be, and say which."""
        added = []
        for link in links:
            if self._new[link] and not up[link] and self._ready(final, link) and not self._in_the_way(up, link):
                up[link] = 1
                added.append(link)
        return added


def _set(up: bytearray, links: list[int], value: int) -> None:
    for link in links:
        up[link] = value
