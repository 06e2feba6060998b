"""Solvers and presets on the benchmark sets, scored: the rows of `manetdiff evaluate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manetdiff.data import BENCHMARKS, DEFAULT_SETS
from manetdiff.errors import ModelError, SolverError
from manetdiff.measure.rows import TARGET, Rows, targets
from manetdiff.measure.sets import LayoutSet, benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways.runtime import generated
from manetdiff.measure.ways.solvers import solved, solved_by_size
from manetdiff.runtime.presets import PRESETS
from manetdiff.solvers import METHODS
from manetdiff.topology import METRICS


@dataclass(frozen=True)
class Score:
    """Means over the layouts.

    - metrics: by their names. ratio: T over the target's on the same layouts. seconds, processor_seconds: time a
      layout, where it was taken; the latter of all cores together.
    """

    method: str
    layouts: int
    metrics: dict[str, float]
    ratio: float
    seconds: float | None
    processor_seconds: float | None

    @classmethod
    def of(cls, method: str, rows: Rows, *, by_layout: bool = False) -> Score:
        """The means of what was measured. by_layout: whether the ratio is the mean of the layouts' ratios, as it must
        be where their radios differ, and not that of the sums."""
        seconds, processor = (
            rows.mean(name) / 1e3 if rows.has(name) else None for name in ("milliseconds", "processor_milliseconds")
        )
        ratio = float(rows.ratios.mean()) if by_layout else rows.mean("ratio")
        return cls(method, rows.layouts, rows.means(METRICS), ratio, seconds, processor)


@dataclass(frozen=True)
class Entry:
    """A row of the table: a method, its budget, and how many layouts it is run on at most (it may be slow).

    - moves_a_node: a budget for fleets of any size; polish_a_node: the same of a polish that follows.
    """

    label: str
    method: str
    moves: int | None = None
    seconds: float | None = None
    most_layouts: int | None = None
    moves_a_node: int | None = None
    polish_a_node: int = 0


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
# Of sets with other sizes and radios.
MOVES_A_NODE = (1_000, 200, 50)
ENTRIES_BY_SIZE = (
    *(
        Entry(f"{method}, {moves:,} moves a node", method, moves_a_node=moves)
        for method in ("reference", "annealing")
        for moves in MOVES_A_NODE
    ),
    *(
        Entry(f"MST+greedy, polish of {moves:,} moves a node", "mst-greedy", polish_a_node=moves)
        for moves in MOVES_A_NODE
    ),
    Entry("MST+greedy", "mst-greedy"),
    Entry("Huang-style", "huang"),
    Entry("greedy (Algorithm 1)", "greedy"),
)


def baseline_rows(
    store: RowStore,
    name: str,
    methods: Sequence[str] | None = None,
    layouts: int | None = None,
    moves: int | None = None,
) -> dict[str, Rows]:
    """Rows of the set's own topologies and of each method on the benchmark set `name`.

    - methods: those to run; all by default. layouts: at most so many. moves: run the methods that take a number of
      moves once, with this one.
    """
    for method in methods or ():
        if method not in METHODS:
            raise SolverError(f"unknown method {method!r}; known are {', '.join(METHODS)}")
    chosen = benchmark_set(name).first(layouts)
    entries = ENTRIES if name in DEFAULT_SETS else ENTRIES_BY_SIZE
    rows = {TARGET: targets(chosen)}
    for entry in entries if moves is None else _with_moves(moves):
        if methods is None or entry.method in methods:
            rows[entry.label] = _rows(store, entry, chosen.first(entry.most_layouts))
    return rows


def baseline_scores(
    store: RowStore,
    name: str,
    methods: Sequence[str] | None = None,
    layouts: int | None = None,
    moves: int | None = None,
) -> list[Score]:
    """Scores of the same."""
    rows = baseline_rows(store, name, methods, layouts, moves)
    return [Score.of(label, made, by_layout=has_radios(name)) for label, made in rows.items()]


def has_radios(name: str) -> bool:
    """Whether the layouts of a benchmark set have several radios, by name."""
    return isinstance(BENCHMARKS[name].radio, Mapping)


def ratios_by_radio(name: str, rows: Mapping[str, Rows]) -> dict[str, dict[str, float]]:
    """For each radio of a set that has several, by label: the mean over its layouts of T over the target's.

    - rows: by label, on the first layouts of the set.
    """
    names = [solved.radio_name for solved in benchmark_set(name)]
    found: dict[str, dict[str, float]] = {}
    for radio in dict.fromkeys(filter(None, names)):
        by_label = {
            label: made.ratios[:, [one == radio for one in names[: made.layouts]]] for label, made in rows.items()
        }
        found[radio] = {label: float(ratios.mean()) for label, ratios in by_label.items() if ratios.size}
    return {radio: ratios for radio, ratios in found.items() if ratios}


def preset_rows(
    store: RowStore, benchmark: str, presets: Sequence[str], *, layouts: int | None = None, seed: int = 0
) -> dict[str, Rows]:
    """Rows of the set's own topologies and of each preset, on one core. seed: of the first layout, the next has the
    next one."""
    for preset in presets:
        if preset not in PRESETS:
            raise ModelError(f"unknown preset {preset!r}; known are {', '.join(PRESETS)}")
    chosen = benchmark_set(benchmark).first(layouts)
    made = {preset: generated(store, chosen, first_seed=seed, preset=preset) for preset in presets}
    return {TARGET: targets(chosen), **made}


def _rows(store: RowStore, entry: Entry, layouts: LayoutSet) -> Rows:
    if entry.moves_a_node is None and not entry.polish_a_node:
        return solved(store, entry.method, layouts, seconds=entry.seconds, moves=entry.moves)
    return solved_by_size(
        store, entry.method, layouts, moves_a_node=entry.moves_a_node, polish_a_node=entry.polish_a_node
    )


def _with_moves(moves: int) -> list[Entry]:
    methods = dict.fromkeys(entry.method for entry in ENTRIES if entry.moves is not None)
    return [Entry(f"{method}, {moves:,} moves", method, moves=moves) for method in methods]
