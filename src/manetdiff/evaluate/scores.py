"""Scores of a method over a set of solved layouts: the rows of every table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from manetdiff.data import SolvedLayout
from manetdiff.errors import DisconnectedWarning
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.solvers.spanning import bottleneck
from manetdiff.topology import METRICS, Topology, metrics

Solve = Callable[[Fleet, int], Topology]


@dataclass(frozen=True)
class Score:
    """Means over the layouts.

    metrics: by their names. ratio: T over the reference's T on the same layouts. seconds: time a layout.
    """

    method: str
    layouts: int
    metrics: dict[str, float]
    ratio: float
    seconds: float | None


def score(method: str, layouts: Sequence[SolvedLayout], solve_one: Solve, radio: Radio) -> Score:
    """Solve every layout, `solve_one(fleet, index)`, and score the results by this radio."""
    results, seconds = [], 0.0
    with warnings.catch_warnings():
        # A method that leaves a network in parts shows it in its share of connected layouts.
        warnings.simplefilter("ignore", DisconnectedWarning)
        # Compiled and loaded before it is timed; so is what only the warning about a network in parts needs.
        solve_one(layouts[0].fleet, 0)
        bottleneck(Layout(layouts[0].fleet, radio))
        for index, layout in enumerate(layouts):
            start = time.perf_counter()
            topology = solve_one(layout.fleet, index)
            seconds += time.perf_counter() - start
            results.append(metrics(topology, layout.fleet, radio))
    return _mean(method, layouts, results, seconds / len(layouts))


def stored(method: str, layouts: Sequence[SolvedLayout]) -> Score:
    """The score of the topologies that the set comes with."""
    return _mean(method, layouts, [dict(layout.metrics) for layout in layouts], None)


def first_of(layouts: Sequence[SolvedLayout], count: int | None) -> list[SolvedLayout]:
    """The first `count` layouts of a set, whose families come in turn; all of them for None."""
    return list(layouts if count is None else layouts[:count])


def _mean(
    method: str, layouts: Sequence[SolvedLayout], results: Sequence[dict[str, float]], seconds: float | None
) -> Score:
    means = {name: float(np.mean([result[name] for result in results])) for name in METRICS}
    target = float(np.mean([layout.metrics["throughput"] for layout in layouts]))
    return Score(method, len(layouts), means, means["throughput"] / target, seconds)
