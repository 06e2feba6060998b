"""A comparison that the paper makes, judged by what was measured here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from manetdiff.measure.measures import MEASURES
from manetdiff.measure.resampling import FloatArray, interval
from manetdiff.measure.rows import Rows

Verdict = Literal["agrees", "level", "opposite"]


@dataclass(frozen=True)
class Comparison:
    """claim: in a few words. paper, ours: the two figures behind it.

    - low, high: the interval of what is gained in the paper's direction, with 95 % confidence.
    """

    claim: str
    paper: str
    ours: str
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """level: no difference that so many layouts and seeds could show, or less than can be shown."""
        if self.low > 0:
            return "agrees"
        return "opposite" if self.high < 0 else "level"


def higher(claim: str, metric: str, one: Rows, other: Rows, paper: tuple[float, float] | str) -> Comparison:
    """The first has more of a metric than the second. paper: its two figures, or what it says of them."""
    return _compared(claim, metric, one, other, paper, one.resampled(metric) - other.resampled(metric))


def lower(claim: str, metric: str, one: Rows, other: Rows, paper: tuple[float, float] | str) -> Comparison:
    """The first has less of a metric than the second. paper: as for higher."""
    return _compared(claim, metric, one, other, paper, other.resampled(metric) - one.resampled(metric))


def nearer(
    claim: str, metric: str, one: Rows, other: Rows, target: Rows, paper: tuple[float, float, float]
) -> Comparison:
    """The first's mean is nearer to the target's than the second's."""
    aim = target.resampled(metric)
    gains = np.abs(other.resampled(metric) - aim) - np.abs(one.resampled(metric) - aim)
    made = _compared(claim, metric, one, other, paper[:2], gains)
    measure = MEASURES[metric]
    theirs, ours = (f"(target {measure.text(figure)})" for figure in (paper[2], target.mean(metric)))
    return replace(made, paper=f"{made.paper} {theirs}", ours=f"{made.ours} {ours}")


def at_least(claim: str, metric: str, rows: Rows, bound: float, paper: str) -> Comparison:
    """A metric's mean reaches a bound."""
    return Comparison(claim, paper, rows.cell(metric).text, *interval(rows.resampled(metric) - bound))


def not_below(claim: str, metric: str, one: Rows, other: Rows, margin: float, paper: str) -> Comparison:
    """The first has at most so much less of a metric than the second, layout by layout."""
    made = higher(claim, metric, one, other, paper)
    return replace(made, low=made.low + margin, high=made.high + margin)


def at_most(claim: str, metric: str, rows: Rows, bound: float, paper: str) -> Comparison:
    """A metric's mean keeps a bound."""
    return Comparison(claim, paper, rows.cell(metric).text, *interval(bound - rows.resampled(metric)))


def _compared(
    claim: str, metric: str, one: Rows, other: Rows, paper: tuple[float, ...] | str, gains: FloatArray
) -> Comparison:
    measure = MEASURES[metric]
    theirs = paper if isinstance(paper, str) else " against ".join(measure.text(figure) for figure in paper)
    ours = " against ".join(measure.text(rows.mean(metric)) for rows in (one, other))
    return Comparison(claim, theirs, ours, *interval(gains))
