"""The one loop that times and scores: topologies one after the other, each on its own layout."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from manetdiff.solvers.rehearsal import rehearse
from manetdiff.topology import Topology, metrics, unwarned_of_parts

if TYPE_CHECKING:
    from manetdiff.data import SolvedLayout
    from manetdiff.measure.rows import Row

# What is done before the clock runs, and then what it runs for.
Ready = Callable[["SolvedLayout"], Callable[[], Topology]]
Also = Callable[["SolvedLayout", Topology], dict[str, float]]


def timed(layouts: Iterable[SolvedLayout], ready: Ready, also: Also | None = None) -> Iterator[Row]:
    """A row for each layout: what ready(layout)() makes of it, and how long that takes. also: more for its row."""
    for place, solved in enumerate(layouts):
        # A network left in parts shows in the share of connected layouts.
        with unwarned_of_parts():
            make = ready(solved)
            if place == 0:
                # Loaded before it is timed, and so is compiled code that only some layouts need.
                rehearse()
                make()
            began, worked = time.perf_counter(), time.process_time()
            topology = make()
            seconds, processor = time.perf_counter() - began, time.process_time() - worked
        row = {**scored(topology, solved, seconds), "processor_milliseconds": 1e3 * processor}
        yield {**row, **(also(solved, topology) if also else {})}


def scored(topology: Topology, solved: SolvedLayout, seconds: float) -> Row:
    """All metrics of a topology on a layout, by the radio that it was made for; the set's own T there, and its time."""
    return {
        **metrics(topology, solved.fleet),
        "target": solved.metrics["throughput"],
        "milliseconds": 1e3 * seconds,
    }
