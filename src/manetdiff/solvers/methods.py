"""One entrance to all solvers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from manetdiff.checks import check_seed, check_whole
from manetdiff.errors import SolverError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.solvers import annealing, reference
from manetdiff.solvers.budget import Budget
from manetdiff.solvers.cpsat import DEFAULT_BUDGET as CPSAT_BUDGET
from manetdiff.solvers.cpsat import load_cpsat, solve_relaxation
from manetdiff.solvers.exact import enumerate_all
from manetdiff.solvers.greedy_construction import greedy_links
from manetdiff.solvers.heuristics import huang_links, mst_greedy_links
from manetdiff.solvers.regions import search_by_regions
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.solvers.result import Found, found
from manetdiff.topology import Topology, find_parts, warn_of_parts

MOST_WORKERS = 1024


@dataclass(frozen=True)
class _Task:
    layout: Layout
    budget: Budget | None
    seed: int
    started: float
    workers: int | None


def solve(
    fleet: Fleet | Layout,
    radio: Radio | None = None,
    method: str = "reference",
    budget: float | None = None,
    seed: int = 0,
    *,
    moves: int | None = None,
    workers: int | None = None,
) -> Topology:
    """A topology for the fleet.

    - method: one of METHODS. budget: seconds; moves: a number of moves instead, which gives the same topology for the
      same seed on every machine. Methods that construct rather than search take neither.
    - workers: cores for method 'regions', which has no say in what a number of moves finds; by default all usable ones.

    A fleet that cannot be connected within range gets the best forest, a DisconnectedWarning, and in the topology's
    report `components` > 1 and `parts`: which nodes are out of range, and what range would join them. What `omni` makes
    is for the omnidirectional radio, which its layout says.
    """
    if method not in METHODS:
        raise SolverError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    check_seed(SolverError, seed)
    if workers is not None:
        check_whole(SolverError, "workers", workers, 1, MOST_WORKERS)
    asked = None if budget is None and moves is None else Budget(budget, moves)
    layout = Layout.of(fleet, radio)
    rehearse()
    if method == "cpsat":
        load_cpsat()
    start = time.perf_counter()
    if method == "omni":
        layout = Layout(layout.fleet, layout.radio.omnidirectional())
    result = METHODS[method](_Task(layout, asked, int(seed), start, workers))
    parts = find_parts(result.links, layout)
    warn_of_parts(parts)
    report = result.report.replace(
        method=method,
        seconds=time.perf_counter() - start,
        seed=int(seed),
        components=result.components,
        parts=parts,
        connected=result.components == 1,
        throughput=result.throughput,
    )
    return Topology(result.links, result.parity, report, layout)


def _reference(task: _Task) -> Found:
    return reference.search(task.layout, task.budget or reference.DEFAULT_BUDGET, task.seed, task.started)


def _regions(task: _Task) -> Found:
    budget = task.budget or Budget(moves=reference.MOVES_A_NODE * len(task.layout))
    return search_by_regions(task.layout, budget, task.seed, task.started, task.workers)


def _annealing(task: _Task) -> Found:
    return annealing.anneal_plainly(task.layout, task.budget or annealing.DEFAULT_BUDGET, task.seed, task.started)


def _mst_greedy(task: _Task) -> Found:
    return found(task.layout, *mst_greedy_links(task.layout), "mst-greedy")


def _omni(task: _Task) -> Found:
    """MST with greedy additions by the physics of one antenna that covers everything, and that links share."""
    return found(task.layout, *mst_greedy_links(task.layout, share_antennas=True), "omni")


METHODS: dict[str, Callable[[_Task], Found]] = {
    "exact": lambda task: enumerate_all(task.layout),
    "reference": _reference,
    "regions": _regions,
    "annealing": _annealing,
    "cpsat": lambda task: solve_relaxation(task.layout, task.budget or CPSAT_BUDGET, task.seed),
    "greedy": lambda task: found(task.layout, *greedy_links(task.layout), "greedy"),
    "mst-greedy": _mst_greedy,
    "huang": lambda task: found(task.layout, *huang_links(task.layout), "huang"),
    "omni": _omni,
}
