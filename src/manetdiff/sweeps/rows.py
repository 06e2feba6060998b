"""What a worker makes of one layout under one radio: a row for each way, or why there is none."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from manetdiff.data.layouts import draw_layouts
from manetdiff.engine import failure_text
from manetdiff.layout import Layout
from manetdiff.measure.ways.runtime import model_of
from manetdiff.solvers import solve
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.sweeps.grid import SEARCHES, Grid, Place, Way
from manetdiff.topology import Topology, metrics, unwarned_of_parts

# Of a preset; a method has none.
STAGES = ("layout", "sampling", "correction", "polish")
# What was measured, by the names of the columns; or what was wrong.
Row = dict[str, float | None]


@dataclass(frozen=True)
class Task:
    """ways: those whose rows are not there yet."""

    grid: Grid
    place: Place
    ways: tuple[Way, ...]


def rows_of(task: Task) -> list[Row | str]:
    """For each way its row, or the message of what it failed by."""
    grid, place = task.grid, task.place
    try:
        with unwarned_of_parts():
            layout = draw_layouts(grid.settings(place), place.index)[0].layout
            reference = None
            if grid.reference is not None:
                found = solve(layout, method="reference", moves=grid.reference * place.nodes, seed=place.index)
                reference = metrics(found)["throughput"]
    except Exception as error:
        return [failure_text(error)] * len(task.ways)
    return [_row(grid, place, way, layout, reference) for way in task.ways]


def _row(grid: Grid, place: Place, way: Way, layout: Layout, reference: float | None) -> Row | str:
    try:
        with unwarned_of_parts():
            make, times = _maker(grid, place, way), Row()
            if grid.times:
                topology, times = _timed(make, layout, (way, place.nodes, grid.weights))
            else:
                topology = make(layout)
            scores = metrics(topology)
    except Exception as error:
        return failure_text(error)
    ratio = scores["throughput"] / reference if reference else None
    return {**scores, "reference": reference, "ratio": ratio, **times}


def _maker(grid: Grid, place: Place, way: Way) -> Callable[[Layout], Topology]:
    if way.kind == "preset":
        return lambda layout: model_of(grid.weights).generate(
            layout, radio=layout.radio, preset=way.name, seed=place.index
        )
    moves = grid.moves_a_node * place.nodes if way.name in SEARCHES else None
    return lambda layout: solve(layout, method=way.name, moves=moves, seed=place.index, workers=1)


def _timed(make: Callable[[Layout], Topology], layout: Layout, kind: Any) -> tuple[Topology, Row]:
    """On a layout that has computed nothing yet. kind: of what is loaded when it is first made in a process, and before
    the clock runs."""
    if _is_first(kind):
        rehearse()
        make(Layout(layout.fleet, layout.radio))
    plain = Layout(layout.fleet, layout.radio)
    began, worked = time.perf_counter(), time.process_time()
    topology = make(plain)
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    stages = {f"{stage}_milliseconds": _milliseconds(topology.report.stages.get(stage)) for stage in STAGES}
    return topology, {"milliseconds": 1e3 * seconds, "processor_milliseconds": 1e3 * processor, **stages}


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1e3 * seconds


@cache
def _seen() -> set[Any]:
    return set()


def _is_first(kind: Any) -> bool:
    if kind in _seen():
        return False
    _seen().add(kind)
    return True
