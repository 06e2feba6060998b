"""The same fleets after a movement, with a search from scratch there as the target, and topologies that follow."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from manetdiff.measure.spreading import made_once
from manetdiff.measure.ways.timing import timed
from manetdiff.scenarios import move_by
from manetdiff.solvers import solve
from manetdiff.topology import Topology, continuity, metrics

if TYPE_CHECKING:
    from manetdiff.data import SolvedLayout
    from manetdiff.fleet import Fleet
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.sets import LayoutSet
    from manetdiff.measure.store import RowStore


@dataclass(frozen=True)
class Moved:
    """A set of layouts, and by how much its fleets move. moves: of the search that finds each target."""

    before: LayoutSet
    movement: float
    moves: int

    @cached_property
    def after(self) -> LayoutSet:
        """The layouts after the movement."""

        @cache
        def layout(index: int) -> SolvedLayout:
            old = self.before.layout(index)
            fleet = move_by(old.fleet, self.movement, np.random.default_rng(index))
            target = solve(fleet, old.layout.radio, "reference", moves=self.moves)
            return dataclasses.replace(
                old, step=1, displacement=self.movement, fleet=fleet, topology=target, metrics=metrics(target)
            )

        before = self.before
        key = {"before": before.key, "movement": self.movement, "moves": self.moves}
        of = f"{before.of} moved by {self.movement:g}"
        code, recipe = (*before.code, __name__), (_after, (self,))
        return dataclasses.replace(before, of=of, layout=layout, key=key, code=code, recipe=recipe)

    def __reduce__(self) -> tuple[Any, ...]:
        return made_once, (Moved, self.before, self.movement, self.moves)


def _after(moved: Moved) -> LayoutSet:
    return moved.after


def followed(
    store: RowStore,
    label: str,
    what: Mapping[str, Any],
    moved: Moved,
    follow: Callable[[Topology, Fleet, int], Topology],
    *,
    code: str,
) -> Rows:
    """Rows of what is made of each old topology for its moved fleet, with its continuity. follow: gets the index."""

    def ready(solved: SolvedLayout) -> Callable[[], Topology]:
        old = moved.before.layout(solved.index).topology
        return lambda: follow(old, solved.fleet, solved.index)

    def same(solved: SolvedLayout, topology: Topology) -> dict[str, float]:
        return {"continuity": continuity(moved.before.layout(solved.index).topology, topology)}

    return store.rows(label, what, moved.after, lambda layouts: timed(layouts, ready, same), code=code)
