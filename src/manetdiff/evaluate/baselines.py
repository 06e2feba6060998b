"""Every solver on the benchmark sets: the table of targets and baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from manetdiff.data import SolvedLayout, load_benchmark
from manetdiff.errors import SolverError
from manetdiff.evaluate.scores import Score, first_of, score, stored
from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.solvers import METHODS, solve
from manetdiff.topology import Topology

TARGET = "target"


@dataclass(frozen=True)
class Entry:
    """A row of the table: a method, its budget, and how many layouts it is run on at most (it may be slow)."""

    label: str
    method: str
    moves: int | None = None
    seconds: float | None = None
    most_layouts: int | None = None


ENTRIES = (
    Entry("reference, 50,000 moves", "reference", moves=50_000),
    Entry("reference, 5,000 moves", "reference", moves=5_000),
    Entry("annealing, 50,000 moves", "annealing", moves=50_000),
    Entry("CP-SAT, 2 s", "cpsat", seconds=2.0, most_layouts=55),
    Entry("MST+greedy", "mst-greedy"),
    Entry("Huang-style", "huang"),
    Entry("greedy (Algorithm 1)", "greedy"),
    Entry("omnidirectional", "omni"),
)


def baselines(
    name: str,
    methods: Sequence[str] | None = None,
    layouts: int | None = None,
    moves: int | None = None,
    report: Callable[[str], None] = lambda label: None,
) -> list[Score]:
    """Scores of the set's own topologies and of each method on the benchmark set `name`.

    methods: those to run; all by default. layouts: at most so many. moves: run the methods that take a number of moves
    once, with this one. report is told each row before it is run.
    """
    for method in methods or ():
        if method not in METHODS:
            raise SolverError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    everything = first_of(load_benchmark(name), layouts)
    rows = [stored(TARGET, everything)]
    for entry in ENTRIES if moves is None else _with_moves(moves):
        if methods is None or entry.method in methods:
            report(f"{name}: {entry.label}")
            rows.append(_row(entry, first_of(everything, entry.most_layouts)))
    return rows


def _with_moves(moves: int) -> list[Entry]:
    methods = dict.fromkeys(entry.method for entry in ENTRIES if entry.moves is not None)
    return [Entry(f"{method}, {moves:,} moves", method, moves=moves) for method in methods]


def _row(entry: Entry, layouts: Sequence[SolvedLayout]) -> Score:
    radio = Radio()
    solve_one = partial(_solve, entry, radio)
    # The omnidirectional protocol is scored by its own physics.
    judged_by = radio.omnidirectional() if entry.method == "omni" else radio
    return score(entry.label, layouts, solve_one, judged_by)


def _solve(entry: Entry, radio: Radio, fleet: Fleet, index: int) -> Topology:
    return solve(fleet, radio, entry.method, entry.seconds, seed=index, moves=entry.moves)
