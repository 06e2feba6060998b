"""What was measured, layout by layout, and the means of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from manetdiff.measure.measures import MEASURES, Cell
from manetdiff.measure.resampling import FloatArray, bootstrap, resampled_means

if TYPE_CHECKING:
    from manetdiff.measure.sets import LayoutSet

TARGET = "target"

# Of one topology on one layout: every metric; `target`, the T of the set's own topology there; where they were taken,
# `milliseconds`, `processor_milliseconds` of all cores together, and `continuity` with the topology before.
Row = dict[str, float]


@dataclass(frozen=True)
class Rows:
    """The rows of one way of making topologies. 'ratio' is T over the target's: of the sums, not layout by layout.

    - seeds: models of so many training seeds, all layouts of the first one before those of the second.
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

    def has(self, metric: str) -> bool:
        """Whether it was measured."""
        return metric in self.rows[0]

    def values(self, metric: str) -> FloatArray:
        """A metric by seed and layout."""
        return np.array([row[metric] for row in self.rows], dtype=np.float64).reshape(self.seeds, -1)

    def mean(self, metric: str) -> float:
        """Of all layouts and seeds."""
        top, bottom = self._shared(metric)
        return float(top.mean() if bottom is None else top.mean() / bottom.mean())

    def means(self, metrics: Sequence[str]) -> dict[str, float]:
        """Several of them by name."""
        return {metric: self.mean(metric) for metric in metrics}

    @property
    def ratios(self) -> FloatArray:
        """T over the target's layout by layout, and by seed. Its mean gives each layout the same weight, whatever its
        radio can carry."""
        return self.values("throughput") / self.values("target")

    def spread(self, metric: str) -> float:
        """The sample standard deviation of the seeds' means; 0 of one seed."""
        top, bottom = self._shared(metric)
        by_seed = top.mean(1) if bottom is None else top.mean(1) / bottom.mean()
        return float(by_seed.std(ddof=1)) if self.seeds > 1 else 0.0

    def cell(self, metric: str, paper: float | None = None) -> Cell:
        """A metric's mean with its interval, beside the paper's figure."""
        return Cell(MEASURES[metric], *bootstrap(*self._shared(metric)), paper)

    def cells(self, metrics: Sequence[str], paper: Mapping[str, float] | None = None) -> list[Cell]:
        """A cell for each metric, beside the paper's figure where it has one."""
        return [self.cell(metric, (paper or {}).get(metric)) for metric in metrics]

    def resampled(self, metric: str) -> FloatArray:
        """Means of a metric over layouts (and seeds) drawn again: paired with those of others on as many layouts."""
        return resampled_means(*self._shared(metric))

    def _shared(self, metric: str) -> tuple[FloatArray, FloatArray | None]:
        return (
            (self.values("throughput"), self.values("target")[0]) if metric == "ratio" else (self.values(metric), None)
        )


def targets(layouts: LayoutSet) -> Rows:
    """The set's own topologies: what every way of making topologies is compared with; nothing was timed."""
    return Rows([{**solved.metrics, "target": solved.metrics["throughput"]} for solved in layouts])
