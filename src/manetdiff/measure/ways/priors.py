"""The runtime's local search from a prior without a network: what the network is worth is what it is ahead of this."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from manetdiff.layout import Layout
from manetdiff.measure.spreading import spreadable
from manetdiff.measure.ways.timing import timed
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.heuristics import huang_links, mst_greedy_links
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology

if TYPE_CHECKING:
    from manetdiff.data import SolvedLayout
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.sets import LayoutSet
    from manetdiff.measure.store import RowStore

# Raw links and parity. Nearest in sector: of several that ask for one antenna, the correction keeps the nearest, so
# that pairs who ask for each other come first.
PRIORS = {"nearest in sector": huang_links, "MST+greedy": mst_greedy_links}

# Moves that no time is long enough for.
ENDLESS = 10**12


@spreadable
def searched(
    store: RowStore,
    prior: str,
    layouts: LayoutSet,
    *,
    seconds: float | None = None,
    moves_a_node: int | None = None,
) -> Rows:
    """One of PRIORS for each layout, corrected and searched from as a preset does with its samples, with the layout's
    index as seed.

    - seconds: for all of it; or moves_a_node: of the search. With neither, it is only corrected.
    """
    budget = "" if seconds is None else f", {1e3 * seconds:g} ms"
    budget += "" if moves_a_node is None else f", {moves_a_node:,} moves a node"

    def ready(one: SolvedLayout) -> Callable[[], Topology]:
        # On a layout whose tables are computed while the clock runs.
        return lambda: _made(Layout(one.fleet, one.layout.radio), prior, seconds, moves_a_node, one.index)

    what = {"prior": prior, "seconds": seconds, "moves_a_node": moves_a_node}
    return store.rows(f"{prior} + search{budget}", what, layouts, lambda some: timed(some, ready), code=__name__)


def _made(layout: Layout, prior: str, seconds: float | None, moves_a_node: int | None, seed: int) -> Topology:
    began = time.perf_counter()
    bench = Workbench(layout)
    correct_onto(bench, *PRIORS[prior](layout), flip_parts=True)
    if seconds is not None:
        # By a deadline, as the runtime has it: the clock is looked at more often than by a time budget.
        _search(bench, Budget(moves=ENDLESS, deadline=began + seconds), seed)
    elif moves_a_node is not None:
        _search(bench, Budget(moves=moves_a_node * len(layout)), seed)
    return Topology(bench.links, bench.parity, layout=layout)


def _search(bench: Workbench, budget: Budget, seed: int) -> None:
    search_on(bench, Meter(budget), seed, limit=1, annealing=THOROUGH)
