"""A solver on each layout."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from manetdiff.measure.ways.timing import timed
from manetdiff.solvers import solve

if TYPE_CHECKING:
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.sets import LayoutSet
    from manetdiff.measure.store import RowStore


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
