"""Solvers and presets on the benchmark sets, scored: the rows of `manetdiff evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from manetdiff.errors import ModelError, SolverError
from manetdiff.measure.rows import TARGET, Rows, targets
from manetdiff.measure.sets import benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways.runtime import generated
from manetdiff.measure.ways.solvers import solved
from manetdiff.runtime.effort import PRESETS
from manetdiff.solvers import METHODS
from manetdiff.topology import METRICS


@dataclass(frozen=True)
class Score:
    """Means over the layouts.

    - metrics: by their names. ratio: T over the target's on the same layouts. seconds: time a layout, where it was
      taken.
    """

    method: str
    layouts: int
    metrics: dict[str, float]
    ratio: float
    seconds: float | None

    @classmethod
    def of(cls, method: str, rows: Rows) -> Score:
        """The means of what was measured."""
        seconds = rows.mean("milliseconds") / 1e3 if rows.has("milliseconds") else None
        return cls(method, rows.layouts, rows.means(METRICS), rows.mean("ratio"), seconds)


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

    - methods: those to run; all by default. layouts: at most so many. moves: run the methods that take a number of
      moves once, with this one.
    """
    for method in methods or ():
        if method not in METHODS:
            raise SolverError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    chosen = benchmark_set(name).first(layouts)
    scores = [Score.of(TARGET, targets(chosen))]
    for entry in ENTRIES if moves is None else _with_moves(moves):
        if methods is None or entry.method in methods:
            some = chosen.first(entry.most_layouts)
            rows = solved(store, entry.method, some, seconds=entry.seconds, moves=entry.moves)
            scores.append(Score.of(entry.label, rows))
    return scores


def preset_scores(
    store: RowStore, benchmark: str, presets: Sequence[str], *, layouts: int | None = None, seed: int = 0
) -> list[Score]:
    """The set's own topologies, then those of each preset, on one core. seed: of the first layout, the next has the
    next one."""
    for preset in presets:
        if preset not in PRESETS:
            raise ModelError(f"unknown preset {preset!r}; known are {', '.join(PRESETS)}")
    chosen = benchmark_set(benchmark).first(layouts)
    made = {preset: generated(store, chosen, first_seed=seed, preset=preset) for preset in presets}
    return [Score.of(TARGET, targets(chosen)), *(Score.of(preset, rows) for preset, rows in made.items())]


def _with_moves(moves: int) -> list[Entry]:
    methods = dict.fromkeys(entry.method for entry in ENTRIES if entry.moves is not None)
    return [Entry(f"{method}, {moves:,} moves", method, moves=moves) for method in methods]
