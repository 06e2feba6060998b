"""What was measured, layout by layout, kept on disk: a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from manetdiff.errors import FormatError
from manetdiff.formats import write_text
from manetdiff.reproduce.cells import MEASURES, Cell, bootstrap

Row = dict[str, float]
# Raised when what a row holds changes, so that none is taken for another.
VERSION = 1
# What the package does follows from these.
PROGRAM = {".py", ".safetensors", ".netdiff", ".parquet"}


@dataclass(frozen=True)
class Rows:
    """The metrics of one model or method on each layout; `target` is the T of the set's own topology there."""

    rows: Sequence[Row]

    def cell(self, metric: str, paper: float | None = None) -> Cell:
        """A metric's mean; 'ratio' is T over the target's."""
        if metric == "ratio":
            mean, low, high = bootstrap([row["throughput"] for row in self.rows], [row["target"] for row in self.rows])
        else:
            mean, low, high = bootstrap([row[metric] for row in self.rows])
        return Cell(MEASURES[metric], mean, low, high, paper)

    def where(self, key: str, value: float) -> Rows:
        """Those rows in which something has a value."""
        return Rows([row for row in self.rows if row[key] == value])


class RowStore:
    """Rows by what they are: made once, then read. folder: None keeps nothing. fresh: kept ones are made again."""

    def __init__(
        self, folder: Path | None, report: Callable[[str], None] = lambda what: None, *, fresh: bool = False
    ) -> None:
        self.folder, self.report, self.fresh = folder, report, fresh

    def rows(self, what: Mapping[str, Any], make: Callable[[], Sequence[Row]]) -> Rows:
        """Rows under a description that says all that they depend on."""
        described = json.dumps({"version": VERSION, "program": program_digest(), **what}, sort_keys=True)
        name = hashlib.sha256(described.encode()).hexdigest()[:20]
        path = None if self.folder is None else self.folder / f"{name}.json"
        if path is not None and not self.fresh and (kept := _read(path, described)) is not None:
            return Rows(kept)
        self.report(", ".join(f"{value}" for value in what.values() if isinstance(value, str)))
        made = [{key: float(value) for key, value in row.items()} for row in make()]
        if path is not None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FormatError(f"{path.parent}: the folder cannot be made: {error.strerror}") from None
            write_text(path, json.dumps({"what": described, "rows": made}))
        return Rows(made)


@cache
def program_digest() -> str:
    """Of all code and weights of this package: what another program measured is never shown as this one's."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*")):
        if path.suffix in PROGRAM:
            digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _read(path: Path, described: str) -> list[Row] | None:
    """Rows that an earlier run left, if they are whole and what they are taken for."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return kept["rows"] if kept["what"] == described else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
