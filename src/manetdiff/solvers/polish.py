"""Polish: a short local search from a given topology, which never returns anything worse or less valid.

First every pair is tried until nothing improves; what is left of the budget goes into short annealings from the best
topology so far, each followed by such a descent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.fleet import Fleet
from manetdiff.radio import LinkTables, Radio, link_tables
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.loading import load
from manetdiff.solvers.moves import LEAST_GAIN, anneal, descend
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.state import read_links, reset, total
from manetdiff.solvers.walks import count_parts
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology, antenna_loads, component_labels, out_of_range, same_parity
from manetdiff.topology.metrics import metrics_from_tables

IntArray = npt.NDArray[np.int64]

DEFAULT_BUDGET = Budget(moves=2_000)


class Heat(NamedTuple):
    """The annealings of a local search: temperatures at their beginning and end, in Mbit/s a MHz of bandwidth, how many
    moves a node each takes, and what a part costs while one goes on."""

    warm: float
    cold: float
    moves_a_node: int
    penalty: float


# More than any move gains: a connected network stays so.
PENALTY = 1e6
# Warm enough to leave a local optimum, cool enough to stay near it.
GENTLE = Heat(warm=0.6, cold=0.1, moves_a_node=30, penalty=PENALTY)
# Far enough from where it began to find something else, by ways through networks in parts.
THOROUGH = Heat(warm=1.2, cold=0.1, moves_a_node=200, penalty=2.0)

# A raw topology with more links than this on one antenna is nothing to polish: it wants correcting first.
MOST_CROWDED = 8


def polish(
    topology: Topology,
    fleet: Fleet,
    radio: Radio | None = None,
    *,
    budget: float | None = None,
    moves: int | None = None,
    seed: int = 0,
) -> Topology:
    """A topology at least as good: no more components, violations or saturated antennas, and no less T.

    A topology with more than eight links on an antenna comes back as it is: correct it first.
    budget: seconds; or moves: a number of moves, which gives the same answer on every machine (default 2,000).
    """
    asked = Budget.of(budget, moves, DEFAULT_BUDGET)
    if budget is not None:
        load(_try_polish)
    meter = Meter(asked)
    return polish_from_tables(topology, link_tables(fleet, radio or Radio()), meter, seed)


def _try_polish(tables: LinkTables) -> None:
    polish_from_tables(Topology(*spanning_forest(tables)), tables, Meter(DEFAULT_BUDGET), 0)


def polish_from_tables(topology: Topology, tables: LinkTables, meter: Meter, seed: int) -> Topology:
    """The same where the layout's tables are at hand and the clock runs already."""
    topology.check_fits(tables.nodes)
    sound = topology.links[~(same_parity(topology) | out_of_range(topology, tables))]
    # A topology without saturated antennas stays so; one with them may keep as many, but is not driven to it.
    loads = antenna_loads(Topology(sound, topology.parity), tables)
    saturated = bool((loads > 1).any())
    if loads.max(initial=0) > MOST_CROWDED:
        return _with_report(topology, meter, improved=False)
    bench = Workbench(tables)
    bench.put(sound, topology.parity)
    search_on(bench, meter, seed, limit=2 if saturated else 1, heat=GENTLE)
    found = Topology(bench.links, bench.parity)
    improved = _no_worse(found, topology, tables) and found != topology
    return _with_report(found if improved else topology, meter, improved, topology)


def search_on(bench: Workbench, meter: Meter, seed: int, *, limit: int, heat: Heat) -> None:
    """Search from the topology on the bench, and leave the best that is found there: never one in more parts.

    limit: most links on an antenna.
    """
    tables, state, near, near_start = bench.tables, bench.state, bench.near, bench.near_start
    scale = tables.megahertz
    rng = seeded(seed, 0)
    best_total, parts = total(state), count_parts(state)
    best_links, best_parity = read_links(state), state.parity.copy()
    # A time budget is looked at after so many moves.
    step = 10 * tables.nodes
    while True:
        cursor = np.zeros(2, dtype=np.int64)
        while (left := meter.moves_left(at_least=step)) > 0:
            most = left if meter.budget.moves is not None else min(left, step)
            tried = descend(tables, state, near, near_start, limit, scale * PENALTY, scale * LEAST_GAIN, most, cursor)
            meter.moves += tried
            if tried < most:
                break
        better = count_parts(state) <= parts and total(state) > best_total + scale * LEAST_GAIN
        if better:
            best_links, best_parity, best_total = read_links(state), state.parity.copy(), total(state)
        left = meter.moves_left(at_least=0)
        if left <= 0:
            if not better:
                reset(tables, state, best_links, best_parity)
            return
        if not better:
            reset(tables, state, best_links, best_parity)
        kick = min(left, heat.moves_a_node * tables.nodes)
        anneal(
            tables,
            state,
            rng,
            near,
            near_start,
            kick,
            scale * heat.warm,
            scale * heat.cold,
            limit,
            scale * heat.penalty,
        )
        meter.moves += kick


def _no_worse(new: Topology, old: Topology, tables: LinkTables) -> bool:
    """Whether nothing that validity looks at has got worse, nor T."""
    after, before = metrics_from_tables(new, tables), metrics_from_tables(old, tables)
    n = tables.nodes
    parts = [len(np.unique(component_labels(one.links, n))) for one in (new, old)]
    saturated = [int((antenna_loads(one, tables) > 1).sum()) for one in (new, old)]
    return (
        parts[0] <= parts[1]
        and saturated[0] <= saturated[1]
        and after["parity"] >= before["parity"]
        and after["throughput"] >= before["throughput"]
    )


def _with_report(topology: Topology, meter: Meter, improved: bool, given: Topology | None = None) -> Topology:
    report = dict((given or topology).report)
    report["polish"] = {"moves": meter.moves, "seconds": meter.seconds, "improved": improved}
    return Topology(topology.links, topology.parity, report)
