"""Every solver on the benchmark sets: the table of targets and baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manetdiff.errors import SolverError
from manetdiff.evaluate.scores import Score
from manetdiff.measure.sets import benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.target_rows import TARGET, targets
from manetdiff.measure.ways.solvers import solved
from manetdiff.solvers import METHODS


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


def baseline_scores(
    store: RowStore,
    name: str,
    methods: Sequence[str] | None = None,
    layouts: int | None = None,
    moves: int | None = None,
) -> list[Score]:
    """Scores of the set's own topologies and of each method on the benchmark set `name`.

    methods: those to run; all by default. layouts: at most so many. moves: run the methods that take a number of moves
    once, with this one.
    """
    for method in methods or ():
        if method not in METHODS:
            raise SolverError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    chosen = benchmark_set(name).first(layouts)
    scores = [Score.of(TARGET, targets(chosen))]
    for entry in ENTRIES if moves is None else _with_moves(moves):
        if methods is None or entry.method in methods:
            some = chosen.first(entry.most_layouts)
            scores.append(
                Score.of(entry.label, solved(store, entry.method, some, seconds=entry.seconds, moves=entry.moves))
            )
    return scores


def _with_moves(moves: int) -> list[Entry]:
    methods = dict.fromkeys(entry.method for entry in ENTRIES if entry.moves is not None)
    return [Entry(f"{method}, {moves:,} moves", method, moves=moves) for method in methods]
