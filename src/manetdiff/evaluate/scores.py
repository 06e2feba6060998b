"""Scores of a method over a set of layouts: the rows of `manetdiff evaluate`."""

from __future__ import annotations

from dataclasses import dataclass

from manetdiff.measure.rows import Rows
from manetdiff.topology import METRICS


@dataclass(frozen=True)
class Score:
    """Means over the layouts.

    metrics: by their names. ratio: T over the target's on the same layouts. seconds: time a layout, where it was taken.
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
