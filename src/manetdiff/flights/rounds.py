"""A transition: the rounds in which one topology becomes another, with the states in between and the times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from manetdiff.topology import Topology

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Round:
    """What is done at once.

    - kind: 'drop', 'add' or 'turn'. dropped, added: (k, 2) links with i < j.
    - node: that changes its parity, where one does. Its links go, it turns, and its new ones come up.
    """

    kind: Literal["drop", "add", "turn"]
    dropped: IntArray
    added: IntArray
    node: int | None = None


@dataclass(frozen=True, eq=False)
class Transition:
    """The way from one topology to another, in rounds.

    - old, new: on the present layout; new is what is reached, with the parity that needs fewer turns where that was
      asked for. gone: ids of the old links whose nodes have left.
    - connected: whether no state in between is in more parts than the old topology, without the links that break a
      rule, or the new one. proven: whether no other order would do better in this; False: the search for one gave up.
    - setup: seconds that it takes to add links, or to turn a node, until the next round may begin.
    """

    old: Topology
    new: Topology
    rounds: tuple[Round, ...]
    gone: tuple[tuple[str, str], ...]
    connected: bool
    proven: bool
    setup: float = 0.0

    def states(self) -> Iterator[Topology]:
        """The topology after each round; the last is the new one."""
        n, parity = len(self.new), self.old.parity.copy()
        up = set((self.old.links @ [n, 1]).tolist())
        for one in self.rounds:
            up -= set((one.dropped @ [n, 1]).tolist())
            up |= set((one.added @ [n, 1]).tolist())
            if one.node is not None:
                parity[one.node] = 1 - parity[one.node]
            codes = np.array(sorted(up), dtype=np.int64)
            yield Topology(np.column_stack(np.divmod(codes, n)), parity, layout=self.new.on())

    def times(self) -> tuple[float, ...]:
        """When each round begins, in seconds after the first one."""
        return tuple(accumulate(map(self._lasts, self.rounds[:-1]), initial=0.0)) if self.rounds else ()

    @property
    def seconds(self) -> float:
        """How long all of it takes."""
        return sum(map(self._lasts, self.rounds))

    def _lasts(self, one: Round) -> float:
        return 0.0 if one.kind == "drop" else self.setup

    @property
    def dropped(self) -> int:
        """How many links are dropped, those that are added again included."""
        return sum(len(one.dropped) for one in self.rounds)

    @property
    def added(self) -> int:
        """How many links are added."""
        return sum(len(one.added) for one in self.rounds)

    @property
    def turned(self) -> int:
        """How many nodes change their parity."""
        return sum(one.node is not None for one in self.rounds)

    def to_dict(self) -> dict[str, Any]:
        """The schedule, JSON-ready, with the ids of the nodes; parity: that each has at the end, which for parts of the
        network may be the complement of what was asked for (see `transition`)."""
        ids = self.new.on().fleet.ids

        def named(links: IntArray) -> list[list[str]]:
            return [[ids[i], ids[j]] for i, j in links.tolist()]

        return {
            "setup": self.setup,
            "seconds": self.seconds,
            "connected": self.connected,
            "proven": self.proven,
            "gone": [list(link) for link in self.gone],
            "parity": dict(zip(ids, self.new.parity.tolist(), strict=True)),
            "rounds": [
                {
                    "at": at,
                    "kind": one.kind,
                    "drop": named(one.dropped),
                    "add": named(one.added),
                    "turn": None
                    if one.node is None
                    else {"node": ids[one.node], "parity": int(self.new.parity[one.node])},
                }
                for at, one in zip(self.times(), self.rounds, strict=True)
            ],
        }
