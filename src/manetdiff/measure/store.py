"""Rows kept on disk: what was measured once is read, and only what is missing is measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from manetdiff.files import made_folder, write_whole
from manetdiff.json_settings import parsed_json
from manetdiff.measure.digests import content_digest, program_digest
from manetdiff.measure.rows import Row, Rows

# Raised when what a row holds changes, so that none is taken for another.
VERSION = 2
# The folder beside the pages of `reproduce`, which `bench` can share.
KEPT = ".rows"


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

    - report: is told what is about to be measured.
    """

    def __init__(
        self, folder: Path | None = None, report: Callable[[str], None] = lambda what: None, *, fresh: bool = False
    ) -> None:
        self.folder, self.report, self.fresh = folder, report, fresh
        # What this run has measured already, which several tables may ask for: fresh is not twice.
        self._made: set[tuple[str, int]] = set()

    def rows(
        self,
        label: str,
        what: Mapping[str, Any],
        layouts: Things[Thing],
        measure: Callable[[Iterator[Thing]], Iterable[Row]],
        *,
        code: str,
    ) -> Rows:
        """A row for each layout. label: for people.

        - what: all that a row depends on beside its layout and the code; code: the module that measures.
        - measure: is given the layouts that are missing and gives their rows in the same order; what it has given is
          kept even if it is stopped before the last.
        """
        program = program_digest((code, *layouts.code))
        described = json.dumps({"version": VERSION, "program": program, "set": layouts.key, **what}, sort_keys=True)
        kept = self._kept(described)
        missing = [index for index in layouts.indices if index not in kept]
        if missing:
            self.report(f"{label}, {layouts.name}")
            try:
                rows = measure(layouts.layout(index) for index in missing)
                for index, row in zip(missing, rows, strict=True):
                    kept[index] = {name: float(value) for name, value in row.items()}
                    self._made.add((described, index))
            finally:
                self._keep(described, kept)
        return Rows([kept[index] for index in layouts.indices])

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
