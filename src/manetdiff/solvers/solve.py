"""One entrance to all solvers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from manetdiff.errors import DisconnectedWarning, SolverError
from manetdiff.fleet import Fleet
from manetdiff.radio import LinkTables, Radio, link_tables
from manetdiff.solvers import annealing, reference
from manetdiff.solvers.budget import Budget, is_whole
from manetdiff.solvers.cpsat import DEFAULT_BUDGET as CPSAT_BUDGET
from manetdiff.solvers.cpsat import solve_relaxation
from manetdiff.solvers.exact import enumerate_all
from manetdiff.solvers.greedy import greedy_links
from manetdiff.solvers.heuristics import huang_links, mst_greedy_links, omni_links
from manetdiff.solvers.loading import load
from manetdiff.solvers.result import Found, found
from manetdiff.solvers.spanning import bottleneck
from manetdiff.topology import Topology


@dataclass(frozen=True)
class _Task:
    fleet: Fleet
    radio: Radio
    tables: LinkTables
    budget: Budget | None
    seed: int
    started: float


def solve(
    fleet: Fleet,
    radio: Radio | None = None,
    method: str = "reference",
    budget: float | None = None,
    seed: int = 0,
    *,
    moves: int | None = None,
) -> Topology:
    """A topology for the fleet.

    method: one of METHODS. budget: seconds; moves: a number of moves instead, which gives the same topology for the
    same seed on every machine. Methods that construct rather than search take neither.

    A fleet that cannot be connected within range gets the best forest, a DisconnectedWarning, and `components` > 1 in
    the topology's report.
    """
    if method not in METHODS:
        raise SolverError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    if not is_whole(seed) or not 0 <= seed < 2**63:
        raise SolverError(f"seed must be a whole number from 0 to 2^63 - 1, not {seed!r}")
    chosen = radio or Radio()
    asked = None if budget is None and moves is None else Budget(budget, moves)
    if budget is not None and method in _SEARCHES:
        load(_SEARCHES[method])
    start = time.perf_counter()
    tables = link_tables(fleet, chosen)
    result = METHODS[method](_Task(fleet, chosen, tables, asked, int(seed), start))
    report = {
        "method": method,
        "seconds": time.perf_counter() - start,
        "seed": seed,
        "components": result.components,
        **result.report,
    }
    if result.components > 1:
        _warn_disconnected(fleet, chosen, tables, method, result.components)
    return Topology(result.links, result.parity, report)


def _warn_disconnected(fleet: Fleet, radio: Radio, tables: LinkTables, method: str, components: int) -> None:
    needed = bottleneck(tables)
    if needed > radio.range:
        metres = radio.unit_for(fleet)
        reason = (
            f"the fleet cannot be connected: the range is {radio.range:g} units of {metres:,.6g} m, "
            f"and {needed:.4g} would be needed (set the radio's range, or its unit)"
        )
    else:
        reason = f"method {method!r} found no connected topology"
    warnings.warn(f"{reason}; returning a forest of {components} components", DisconnectedWarning, stacklevel=3)


def _omni(task: _Task) -> Found:
    links, parity = omni_links(task.fleet, task.radio)
    # Scored by its own physics, as its users should: see Radio.omnidirectional.
    return found(link_tables(task.fleet, task.radio.omnidirectional()), links, parity, "omni")


def _reference(task: _Task) -> Found:
    budget = task.budget or reference.DEFAULT_BUDGET
    return reference.search(task.tables, budget, task.seed, task.started)


def _annealing(task: _Task) -> Found:
    budget = task.budget or annealing.DEFAULT_BUDGET
    return annealing.anneal_plainly(task.tables, budget, task.seed, task.started)


def _try_reference(tables: LinkTables) -> None:
    reference.search(tables, Budget(moves=300), 0)


def _try_annealing(tables: LinkTables) -> None:
    annealing.anneal_plainly(tables, Budget(moves=300), 0)


# What to run once before a time budget begins.
_SEARCHES = {"reference": _try_reference, "annealing": _try_annealing}

METHODS: dict[str, Callable[[_Task], Found]] = {
    "exact": lambda task: enumerate_all(task.tables),
    "reference": _reference,
    "annealing": _annealing,
    "cpsat": lambda task: solve_relaxation(task.tables, task.budget or CPSAT_BUDGET, task.seed),
    "greedy": lambda task: found(task.tables, *greedy_links(task.tables), "greedy"),
    "mst-greedy": lambda task: found(task.tables, *mst_greedy_links(task.tables), "mst-greedy"),
    "huang": lambda task: found(task.tables, *huang_links(task.tables), "huang"),
    "omni": _omni,
}
