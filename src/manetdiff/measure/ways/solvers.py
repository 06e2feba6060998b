"""A solver on each layout."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from manetdiff.layout import Layout
from manetdiff.measure.spreading import spreadable
from manetdiff.measure.ways.timing import timed
from manetdiff.solvers import polish, solve
from manetdiff.solvers.budget import Budget
from manetdiff.solvers.reference import search
from manetdiff.topology import Topology

if TYPE_CHECKING:
    from manetdiff.data import SolvedLayout
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.sets import LayoutSet
    from manetdiff.measure.store import RowStore


@spreadable
def solved(
    store: RowStore, method: str, layouts: LayoutSet, *, seconds: float | None = None, moves: int | None = None
) -> Rows:
    """For the radio of each layout, with the layout's index as seed; the omnidirectional protocol is scored by its own
    physics, as its topologies say."""
    budget = "" if seconds is None else f", {1e3 * seconds:g} ms"
    budget += "" if moves is None else f", {moves:,} moves"
    return store.rows(
        f"{method}{budget}",
        {"method": method, "seconds": seconds, "moves": moves},
        layouts,
        lambda some: timed(
            some,
            # From the fleet, not from a layout whose tables may be computed already.
            lambda one: partial(solve, one.fleet, one.layout.radio, method, seconds, one.index, moves=moves),
        ),
        code=__name__,
    )


@spreadable
def alone_on_antennas(store: RowStore, layouts: LayoutSet, *, seconds: float) -> Rows:
    """The reference held to one link an antenna, as presets are; where its first spanning forest cannot be, that may
    stay."""

    def made(one: SolvedLayout) -> Topology:
        layout = Layout(one.fleet, one.layout.radio)
        found = search(layout, Budget(seconds=seconds), one.index, crowd=1)
        return Topology(found.links, found.parity, layout=layout)

    told = f"reference, one link an antenna, {1e3 * seconds:g} ms"
    what = {"method": "reference", "crowd": 1, "seconds": seconds}
    return store.rows(told, what, layouts, lambda some: timed(some, lambda one: partial(made, one)), code=__name__)


@spreadable
def solved_by_size(
    store: RowStore, method: str, layouts: LayoutSet, *, moves_a_node: int | None = None, polish_a_node: int = 0
) -> Rows:
    """The same for fleets of many sizes. polish_a_node: moves a node of the polish that follows."""
    told = "" if moves_a_node is None else f", {moves_a_node:,} moves a node"
    told += f", polish of {polish_a_node:,} moves a node" if polish_a_node else ""

    def ready(one: SolvedLayout) -> Callable[[], Topology]:
        nodes = len(one.fleet)

        def make() -> Topology:
            moves = moves_a_node and moves_a_node * nodes
            topology = solve(one.fleet, one.layout.radio, method, seed=one.index, moves=moves)
            return polish(topology, moves=polish_a_node * nodes, seed=one.index) if polish_a_node else topology

        return make

    what = {"method": method, "moves_a_node": moves_a_node, "polish_a_node": polish_a_node}
    return store.rows(f"{method}{told}", what, layouts, lambda some: timed(some, ready), code=__name__)
