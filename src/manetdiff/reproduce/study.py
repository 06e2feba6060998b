"""A study: one table (or a few) of the paper, made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from manetdiff.data import SolvedLayout, load_benchmark
from manetdiff.reproduce.cells import Cell
from manetdiff.reproduce.rows import RowStore

QUICK_LAYOUTS = {16: 11, 32: 4}
FULL_LAYOUTS = {16: 500, 32: 200}


@dataclass(frozen=True)
class Setting:
    """How much is measured, and where what was measured is kept."""

    quick: bool
    store: RowStore

    def layouts(self, nodes: int, most: int | None = None) -> list[SolvedLayout]:
        """The first layouts of a benchmark set; most: no more than so many, where a method is slow."""
        count = (QUICK_LAYOUTS if self.quick else FULL_LAYOUTS)[nodes]
        return list(benchmark(nodes)[: count if most is None else min(count, most)])


@cache
def benchmark(nodes: int) -> Sequence[SolvedLayout]:
    """The set of so many nodes, read once."""
    return load_benchmark(f"bench{nodes}")


@dataclass(frozen=True)
class Grid:
    """A table: a label and cells for each row. note: what must be known to read it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell | str]]]
    note: str = ""


@dataclass(frozen=True)
class Study:
    """name: as on the command line. claim: what the paper says of it, if anything, in one line.

    draw: pictures of what was measured, into a folder; their names.
    """

    name: str
    title: str
    claim: str
    run: Callable[[Setting], list[Grid]] = field(repr=False)
    draw: Callable[[Setting, Path], list[str]] | None = field(default=None, repr=False)


class UnavailableError(Exception):
    """A study needs what this machine does not have; what an earlier run left of it stays as it is."""
