"""Going through a grid: parts of the table lie beside it until all are there, so a stopped run goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from manetdiff import __version__
from manetdiff.data.parts import Kind, filling, remove_parts
from manetdiff.data.settings import first_difference
from manetdiff.data.shards import write_sealed
from manetdiff.engine import Engine, LocalEngine, Outcome, failure_text
from manetdiff.errors import DataError
from manetdiff.files import write_whole
from manetdiff.formats import check_writable
from manetdiff.json_settings import parsed_json
from manetdiff.measure.digests import program_digest
from manetdiff.measure.ways.runtime import runtime_files
from manetdiff.sweeps.grid import Grid, Place, Way
from manetdiff.sweeps.rows import Row, Task, rows_of
from manetdiff.sweeps.table import Cell, cells_of, part_bytes, read_part, read_sweep, sweep_bytes, table_of

PARTS = ".parts"
KIND = Kind("a sweep", "sweep.json", r"sweep\.json|part-\d{5}\.parquet(\.sha256)?")
# Places whose rows lie in one file, and the most files: a run that is killed loses the file that it was at.
PLACES_A_PART, MOST_PARTS = 8, 10_000


class Progress(NamedTuple):
    """How far a run is, in rows. failed: of those that are done."""

    done: int
    total: int
    failed: int


class Failure(NamedTuple):
    """A row that there is none of, and why."""

    place: Place
    way: Way
    message: str


@dataclass(frozen=True)
class Swept:
    """The whole table; rows that were made now; and those that failed, which the next run tries again."""

    table: pa.Table
    made: int
    failures: Sequence[Failure]


def sweep(
    grid: Grid,
    out: Path,
    *,
    engine: Engine | None = None,
    report: Callable[[Progress], None] = lambda progress: None,
) -> Swept:
    """The table of a grid as one Parquet file; made rows lie in `out`.parts until none is missing.

    Its bytes depend on the grid and on the code alone: not on who did the work, or how often a run or a worker was
    stopped; unless rows have times. A row that fails ends nothing: it is in the table with what was wrong, and is tried
    again by the next run.
    """
    if out.is_dir():
        raise DataError(f"{out}: a folder; a sweep is one file, such as sweep.parquet")
    check_writable(out)
    described = _described(grid)
    folder = out.with_name(out.name + PARTS)
    if out.exists():
        table, said = read_sweep(out)
        _refuse_other(out, said, described)
        if table["error"].null_count == len(table):
            # Only a run without failures gets here: what is left to do is at most to clear up after it.
            remove_parts(folder, KIND)
            return Swept(table, 0, ())
    if (folder / KIND.description).exists():
        _refuse_other(folder, _read(folder), described)
    content = (json.dumps(described, indent=2) + "\n").encode()
    with filling(folder, KIND, described, content=content, read=_read):
        table, made, failures = _fill(grid, folder, engine or LocalEngine(), report)
        write_whole(out, sweep_bytes(table, described))
    if not failures:
        remove_parts(folder, KIND)
    return Swept(table, made, failures)


def _fill(
    grid: Grid, folder: Path, engine: Engine, report: Callable[[Progress], None]
) -> tuple[pa.Table, int, list[Failure]]:
    parts = [_Part(grid, folder, number, places) for number, places in enumerate(_in_parts(grid))]
    there = done = sum(len(part.kept) for part in parts)
    failures: list[Failure] = []
    report(Progress(done, grid.rows, 0))
    tables = []
    with closing(engine.outcomes(rows_of, (task for part in parts for task in part.tasks()))) as outcomes:
        for part in parts:
            try:
                for task, outcome in zip(part.tasks(), outcomes, strict=False):
                    part.take(task, outcome)
                    failed = len(failures) + len(part.failures)
                    done += len(task.ways)
                    report(Progress(done, grid.rows, failed))
            finally:
                # What is there is kept, also where a run is stopped in the middle.
                part.write()
            failures += part.failures
            tables.append(part.table())
    return pa.concat_tables(tables), done - there - len(failures), failures


def _in_parts(grid: Grid) -> Iterator[list[Place]]:
    places = list(grid.places())
    size = max(PLACES_A_PART, -(-len(places) // MOST_PARTS))
    return (places[start : start + size] for start in range(0, len(places), size))


class _Part:
    """Some places, in a file that holds the rows that went well."""

    def __init__(self, grid: Grid, folder: Path, number: int, places: Sequence[Place]) -> None:
        self._grid, self._places = grid, places
        self._path = folder / f"part-{number:05d}.parquet"
        self._cells = [(place, way) for place in places for way in grid.ways]
        table = read_part(self._path, grid)
        wanted = set(self._cells)
        self.kept: dict[Cell, Row] = {
            cell: row for cell, row in zip(cells_of(table), table.to_pylist(), strict=True) if cell in wanted
        }
        self._on_disk = len(self.kept)
        self._missing = [cell for cell in self._cells if cell not in self.kept]
        self._failed: dict[Cell, str] = {}

    @property
    def failures(self) -> list[Failure]:
        return [Failure(*cell, message) for cell, message in self._failed.items()]

    def tasks(self) -> Iterator[Task]:
        """What was missing when it was opened."""
        for place in self._places:
            ways = tuple(way for where, way in self._missing if where == place)
            if ways:
                yield Task(self._grid, place, ways)

    def take(self, task: Task, outcome: Outcome[list[Row | str]]) -> None:
        """What became of a task. One that was lost has failed in all its ways."""
        if outcome.error is not None:
            made: Sequence[Row | str] = [failure_text(outcome.error)] * len(task.ways)
        else:
            made = outcome.value()
        for way, row in zip(task.ways, made, strict=True):
            if isinstance(row, str):
                self._failed[task.place, way] = row
            else:
                self.kept[task.place, way] = row

    def write(self) -> None:
        """Where there is anything new."""
        if len(self.kept) > self._on_disk:
            rows = [(cell, self.kept[cell]) for cell in self._cells if cell in self.kept]
            write_sealed(self._path, part_bytes(table_of(self._grid, rows)))

    def table(self) -> pa.Table:
        """All of its rows, also those that failed."""
        return table_of(
            self._grid, [(cell, self.kept[cell] if cell in self.kept else self._failed[cell]) for cell in self._cells]
        )


def _described(grid: Grid) -> dict[str, Any]:
    """Which sweep it is: the grid, and what makes its rows."""
    networks = runtime_files(grid.weights)["bundles"] if grid.presets else {}
    code = program_digest(("manetdiff.sweeps.rows",))
    return {"grid": grid.to_dict(), "package": __version__, "code": code, "networks": networks}


def _read(folder: Path) -> dict[str, Any]:
    path = folder / KIND.description
    try:
        described = parsed_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{path}: {error}; restore it or give another file") from None
    if not isinstance(described, dict):
        raise DataError(f"{path}: not the description of a sweep: restore it or give another file")
    return described


def _refuse_other(place: Path, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise unless what is there is of this very grid, made by this very code."""
    difference = first_difference(there.get("grid", {}), wanted["grid"], "")
    if difference:
        name, old, new = difference
        raise DataError(
            f"{place}: holds a sweep with {name} = {json.dumps(old)}, not {json.dumps(new)}: give the same grid to "
            "continue it, or another file"
        )
    for name, what in (("package", "version"), ("code", "code"), ("networks", "weights")):
        if there.get(name) != wanted[name]:
            raise DataError(f"{place}: of a sweep that was made by other {what}: remove it, or give another file")
