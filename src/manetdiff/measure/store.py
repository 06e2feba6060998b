"""Rows kept on disk: what was measured once is read, and only what is missing is measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from manetdiff.engine import Engine
from manetdiff.files import made_folder, write_whole
from manetdiff.json_settings import parsed_json
from manetdiff.measure.digests import content_digest, program_digest
from manetdiff.measure.rows import Row, Rows

# Raised when what a row holds changes, so that none is taken for another.
VERSION = 2
# The folder beside the pages of `reproduce`, which `bench` can share.
KEPT = ".rows"
# Tasks for each worker: so many that slow layouts do not leave the others idle. In a task the first layout is measured
# once more than the others, before the clock runs.
TASKS_A_WORKER, MOST_A_TASK = 4, 32
# Of a cluster that takes as many tasks as it has cores for.
MANY_WORKERS = 32


Thing = TypeVar("Thing", covariant=True)


class Things(Protocol[Thing]):
    """What rows are measured on, one each: layouts (measure/sets.py) or flights (measure/flown.py), by their index."""

    @property
    def name(self) -> str: ...
    @property
    def indices(self) -> tuple[int, ...]: ...
    @property
    def layout(self) -> Callable[[int], Thing]: ...
    @property
    def key(self) -> Mapping[str, Any]: ...
    @property
    def code(self) -> tuple[str, ...]: ...


class RowStore:
    """Rows by what they are and by layout. folder: None keeps nothing. fresh: kept ones are measured again.

    - report: is told what is about to be measured. watch: rows as they come go through it, with their number and what
      they are of.
    - engine: who measures, where rows need not be measured one after the other on a machine that does nothing else.
    """

    def __init__(
        self,
        folder: Path | None = None,
        report: Callable[[str], None] = lambda what: None,
        *,
        fresh: bool = False,
        engine: Engine | None = None,
        watch: Callable[[Iterable[Row], int, str], Iterable[Row]] = lambda rows, count, what: rows,
    ) -> None:
        self.folder, self.report, self.fresh, self.engine, self.watch = folder, report, fresh, engine, watch
        # What this run has measured already, which several tables may ask for: fresh is not twice.
        self._made: set[tuple[str, int]] = set()
        self._calls: list[_Call] = []

    def alone(self) -> RowStore:
        """The same without an engine, for rows whose times count."""
        if self.engine is None:
            return self
        store = RowStore(self.folder, self.report, fresh=self.fresh, watch=self.watch)
        store._made = self._made
        return store

    @contextmanager
    def calling(self, way: Callable[..., Rows], given: tuple[Any, ...], named: Mapping[str, Any]) -> Iterator[None]:
        """While a way is called: how."""
        self._calls.append(_Call(way, given, dict(named)))
        try:
            yield
        finally:
            self._calls.pop()

    def rows(
        self,
        label: str,
        what: Mapping[str, Any],
        layouts: Things[Thing],
        measure: Callable[[Iterator[Thing]], Iterable[Row]],
        *,
        code: str,
        together: int = 1,
    ) -> Rows:
        """A row for each layout. label: for people.

        - what: all that a row depends on beside its layout and the code; code: the module that measures.
        - measure: is given the layouts that are missing and gives their rows in the same order; what it has given is
          kept even if it is stopped before the last. together: how many of them it takes at a time.

        A row that was measured beside others, by an engine, has other times than one that was measured alone. It is
        kept as such, and never taken for one of those.
        """
        program = program_digest((code, *layouts.code))
        about = {"version": VERSION, "program": program, "set": layouts.key, **what}
        described = json.dumps(about, sort_keys=True)
        measured_alone: dict[int, Row] = {}
        call = self._calls[-1] if self._calls and self.engine is not None else None
        if call is not None:
            measured_alone = self._kept(described)
            described = json.dumps({**about, "beside others": True}, sort_keys=True)
        kept = self._kept(described)
        missing = [index for index in layouts.indices if index not in kept and index not in measured_alone]
        if missing:
            self.report(f"{label}, {layouts.name}")
            try:
                if call is None:
                    rows = measure(layouts.layout(index) for index in missing)
                else:
                    rows = self._spread(call, missing, together)
                for index, row in zip(missing, self.watch(rows, len(missing), label), strict=True):
                    kept[index] = _plain(row)
                    self._made.add((described, index))
            finally:
                self._keep(described, kept)
        kept = {**kept, **measured_alone}
        return Rows([kept[index] for index in layouts.indices])

    def _spread(self, call: _Call, missing: Sequence[int], together: int) -> Iterator[Row]:
        """The rows of these layouts, by the engine."""
        assert self.engine is not None
        most = -(-len(missing) // (TASKS_A_WORKER * (self.engine.workers or MANY_WORKERS)))
        # Layouts that are measured together are the same as if one process measured all.
        size = -(-min(most, MOST_A_TASK) // together) * together
        tasks = [(call, tuple(missing[start : start + size])) for start in range(0, len(missing), size)]
        with closing(self.engine.in_order(_rows_of_some, tasks)) as parts:
            for rows in parts:
                yield from rows

    def _kept(self, described: str) -> dict[int, Row]:
        """Rows that an earlier run left, if they are whole and what they are taken for."""
        if self.folder is None:
            return {}
        try:
            read = parsed_json(self._path(self.folder, described).read_text(encoding="utf-8"))
            rows = {int(index): row for index, row in read["rows"].items()} if read["what"] == described else {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
        return {index: row for index, row in rows.items() if not self.fresh or (described, index) in self._made}

    def _keep(self, described: str, rows: Mapping[int, Row]) -> None:
        if self.folder is not None and rows:
            made_folder(self.folder)
            content = json.dumps({"what": described, "rows": dict(sorted(rows.items()))})
            write_whole(self._path(self.folder, described), content.encode())

    @staticmethod
    def _path(folder: Path, described: str) -> Path:
        return folder / f"{content_digest(described.encode())}.json"


class _Call(NamedTuple):
    """Of a way, but for the store."""

    way: Callable[..., Rows]
    given: tuple[Any, ...]
    named: Mapping[str, Any]


class _SomeRows(RowStore):
    """Measures rows of these layouts alone, whichever are asked for, and keeps none."""

    def __init__(self, indices: tuple[int, ...]) -> None:
        super().__init__()
        self._indices = indices

    def rows(
        self,
        label: str,
        what: Mapping[str, Any],
        layouts: Things[Thing],
        measure: Callable[[Iterator[Thing]], Iterable[Row]],
        *,
        code: str,
        together: int = 1,
    ) -> Rows:
        return Rows([_plain(row) for row in measure(layouts.layout(index) for index in self._indices)])


def _rows_of_some(task: tuple[_Call, tuple[int, ...]]) -> list[Row]:
    call, indices = task
    return list(call.way(_SomeRows(indices), *call.given, **call.named).rows)


def _plain(row: Row) -> Row:
    return {name: float(value) for name, value in row.items()}
