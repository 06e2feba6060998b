"""A table of the paper (or a few that belong together), made again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from manetdiff.measure.flown import FlightSet
from manetdiff.measure.measures import Cell, labels
from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet, benchmark_set
from manetdiff.measure.store import RowStore

QUICK_LAYOUTS = {16: 11, 32: 4}
FULL_LAYOUTS = {16: 500, 32: 200}


@dataclass(frozen=True)
class Setting:
    """The setting of a run: how much is measured, and where what was measured is kept. flown: a flight to measure
    instead of those that are drawn."""

    quick: bool
    store: RowStore
    flown: FlightSet | None = None

    def layouts(self, nodes: int, most: int | None = None) -> LayoutSet:
        """The first layouts of a benchmark set; most: no more than so many, where a method is slow."""
        count = (QUICK_LAYOUTS if self.quick else FULL_LAYOUTS)[nodes]
        return benchmark_set(f"bench{nodes}").first(count if most is None else min(count, most))


@dataclass(frozen=True)
class Grid:
    """A label and cells for each row. note: what must be known to read it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell | str]]]
    note: str = ""

    @classmethod
    def of(
        cls,
        title: str,
        first: str,
        metrics: Sequence[str],
        rows: Mapping[str, Rows],
        paper: Mapping[str, Mapping[str, float]] | None = None,
        note: str = "",
    ) -> Grid:
        """The metrics of what was measured, by label, under the names of the metrics. first: of the column of labels.

        - paper: its figures by the same labels.
        """
        beside = paper or {}
        cells = [(label, made.cells(metrics, beside.get(label))) for label, made in rows.items()]
        return cls(title, [first, *labels(metrics)], cells, note)


@dataclass(frozen=True)
class PaperTable:
    """A page of results. name: as on the command line. claim: what the paper says of it, if anything, in one line.

    - draw: pictures of what was measured, into a folder; their names.
    """

    name: str
    title: str
    claim: str
    run: Callable[[Setting], list[Grid]] = field(repr=False)
    draw: Callable[[Setting, Path], list[str]] | None = field(default=None, repr=False)
