"""What was measured, layout by layout, kept on disk: a run that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from manetdiff.errors import FormatError
from manetdiff.formats import write_text
from manetdiff.reproduce.cells import MEASURES, Cell
from manetdiff.reproduce.resampling import FloatArray, bootstrap, resampled_means

Row = dict[str, float]
# Raised when what a row holds changes, so that none is taken for another.
VERSION = 1
# What a description has that tells a person what is being measured.
NAMED = ("model", "method", "way", "set", "noise")
# What is measured follows from these files, other than those of rooms that only read, write and show.
SHOWING = ("cli/", "formats/", "simulation/", "reproduce/agreement/", "reproduce/figures/")
PROGRAM = {".py", ".safetensors", ".netdiff", ".parquet"}


@dataclass(frozen=True)
class Rows:
    """The metrics of one model or method on each layout; `target` is the T of the set's own topology there.

    seeds: models of so many training seeds, all layouts of the first one before those of the second.
    """

    rows: Sequence[Row]
    seeds: int = 1

    @classmethod
    def pooled(cls, parts: Sequence[Rows]) -> Rows:
        """One model trained with several seeds, on the same layouts."""
        return cls([row for part in parts for row in part.rows], len(parts))

    @property
    def layouts(self) -> int:
        """How many there are."""
        return len(self.rows) // self.seeds

    def values(self, metric: str) -> FloatArray:
        """A metric by seed and layout."""
        return np.array([row[metric] for row in self.rows], dtype=np.float64).reshape(self.seeds, -1)

    def cell(self, metric: str, paper: float | None = None) -> Cell:
        """A metric's mean; 'ratio' is T over the target's."""
        return Cell(MEASURES[metric], *bootstrap(*self._shared(metric)), paper)

    def resampled(self, metric: str) -> FloatArray:
        """Means of a metric over layouts (and seeds) drawn again: paired with those of others on as many layouts."""
        return resampled_means(*self._shared(metric))

    def _shared(self, metric: str) -> tuple[FloatArray, FloatArray | None]:
        return (
            (self.values("throughput"), self.values("target")[0]) if metric == "ratio" else (self.values(metric), None)
        )


class RowStore:
    """Rows by what they are: made once, then read. folder: None keeps nothing. fresh: kept ones are made again."""

    def __init__(
        self, folder: Path | None, report: Callable[[str], None] = lambda what: None, *, fresh: bool = False
    ) -> None:
        self.folder, self.report, self.fresh = folder, report, fresh
        # What this run has made already, which several tables may ask for: fresh is not twice.
        self._made: set[str] = set()

    def rows(self, what: Mapping[str, Any], make: Callable[[], Iterable[Row]]) -> Rows:
        """Rows under a description that says all that they depend on."""
        made = self.records(what, lambda: [{key: float(value) for key, value in row.items()} for row in make()])
        return Rows(made)

    def records(self, what: Mapping[str, Any], make: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """The same for records that hold words, too."""
        described = json.dumps({"version": VERSION, "program": program_digest(), **what}, sort_keys=True)
        name = hashlib.sha256(described.encode()).hexdigest()[:20]
        path = None if self.folder is None else self.folder / f"{name}.json"
        wanted = not self.fresh or described in self._made
        if path is not None and wanted and (kept := _read(path, described)) is not None:
            return kept
        self.report(", ".join(str(what[key]) for key in NAMED if key in what))
        made = make()
        if path is None:
            return made
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(f"{path.parent}: the folder cannot be made: {error.strerror}") from None
        write_text(path, json.dumps({"what": described, "rows": made}))
        self._made.add(described)
        return made


@cache
def program_digest() -> str:
    """Of the code and weights that measure: what another program measured is never shown as this one's."""
    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for path in sorted(package.rglob("*")):
        place = path.relative_to(package).as_posix()
        if path.suffix in PROGRAM and not place.startswith(SHOWING):
            digest.update(place.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _read(path: Path, described: str) -> list[dict[str, Any]] | None:
    """Rows that an earlier run left, if they are whole and what they are taken for."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        rows: list[dict[str, Any]] = kept["rows"]
        return rows if kept["what"] == described else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
