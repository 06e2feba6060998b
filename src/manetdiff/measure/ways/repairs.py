"""What solvers make of the old topology of a fleet that has moved: what an update must be better than."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.measure.moved import Moved, followed
from manetdiff.measure.spreading import spreadable
from manetdiff.solvers import correct, polish
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology

if TYPE_CHECKING:
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.store import RowStore

# An annealing that goes on from the previous topology: as long as an update takes.
ANNEALED_MOVES = 4_000
POLISH_MOVES = 2_000


def _annealed(old: Topology, fleet: Fleet) -> Topology:
    """The strongest search from the previous topology that takes about as long as an update: corrected, then annealed,
    warm enough to leave it and kept to one link an antenna."""
    layout = Layout(fleet, old.on().radio)
    bench = Workbench(layout)
    correct_onto(bench, old.links, old.parity, flip_parts=True)
    search_on(bench, Meter(Budget(moves=ANNEALED_MOVES)), 0, limit=1, annealing=THOROUGH)
    return Topology(bench.links, bench.parity, layout=layout)


WAYS: dict[str, Callable[[Topology, Fleet], Topology]] = {
    "annealing from the old links": _annealed,
    "old links, corrected": lambda old, fleet: correct(old, fleet, flip_parts=True),
    "old links, corrected and polished": lambda old, fleet: polish(correct(old, fleet), fleet, moves=POLISH_MOVES),
}


@spreadable
def repaired(store: RowStore, moved: Moved, way: str) -> Rows:
    """The old links in one of WAYS."""
    follow = WAYS[way]
    return followed(store, way, {"repaired": way}, moved, lambda old, fleet, index: follow(old, fleet), code=__name__)
