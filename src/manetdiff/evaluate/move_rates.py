"""How fast moves are scored: incrementally, and by scoring the whole network again.

A move is what the search tries most: drop a link, or link two nodes of opposite parity in place of what their antennas
carry. Both ways score the same moves on the same topologies, and their answers are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder, kernel
from manetdiff.data import SolvedLayout
from manetdiff.layout.tables import ANTENNA, ANTENNAS, BY_DISTANCE, OWNER, PEER, REVERSE
from manetdiff.radio.rates import throughput_kernel
from manetdiff.solvers.budget import Budget
from manetdiff.solvers.reference import search
from manetdiff.solvers.scoring import gain
from manetdiff.solvers.state import LINKED, forget, link, linked, unlink, unlink_down_to
from manetdiff.solvers.workbench import Workbench

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MoveRates:
    """Moves per second: scored incrementally, scored in full, and tried by the whole search, turns of parity and all.

    - difference: the largest difference between the two ways' answers, in Mbit/s.
    """

    nodes: int
    incremental: float
    full: float
    search: float
    difference: float

    @property
    def ratio(self) -> float:
        """How many times faster incremental scoring is."""
        return self.incremental / self.full


def scored_move_rates(layouts: Sequence[SolvedLayout], seconds: float = 2.0) -> MoveRates:
    """Measure on the layouts' solved topologies, for about `seconds` in all."""
    counts = np.zeros(3)
    times = np.zeros(3)
    difference = 0.0
    share = seconds / (3 * len(layouts))
    for solved in layouts:
        place, bench = solved.layout.placement, Workbench(solved.layout)
        bench.put(solved.topology.links, solved.topology.parity)
        slots = _moves(bench)
        quick, slow = np.empty(len(slots)), np.empty(len(slots))
        incremental = partial(_score_incrementally, bench.tables, bench.state, slots, quick)
        every = (place.every_pair, place.every_gain, place.constants)
        in_full = partial(_score_in_full, bench.tables, bench.state, *every, slots, slow)
        # Compiled before it is timed.
        incremental(1)
        in_full(1)
        search(solved.layout, Budget(moves=200), 0)
        difference = max(difference, float(np.abs(quick - slow).max()))
        for way, run in enumerate((incremental, in_full)):
            repeat, spent = _repeat_for(run, share)
            counts[way] += repeat * len(slots)
            times[way] += spent
        start = time.perf_counter()
        counts[2] += search(solved.layout, Budget(seconds=share), 0).report.moves
        times[2] += time.perf_counter() - start
    rates = counts / times
    return MoveRates(len(layouts[0].fleet), rates[0], rates[1], rates[2], difference)


def _repeat_for(run: Callable[[int], object], seconds: float) -> tuple[int, float]:
    """Run more and more often until it takes that long; repetitions and time of the last try."""
    repeat = 1
    while True:
        start = time.perf_counter()
        run(repeat)
        spent = time.perf_counter() - start
        if spent >= seconds / 2:
            return repeat, spent
        repeat *= 2


def _moves(bench: Workbench) -> IntArray:
    """Candidates of opposite parity, as slots."""
    slots, tables, parity = bench.tables.lists[BY_DISTANCE], bench.tables, bench.state.parity
    opposite = parity[tables.ints[OWNER, slots]] != parity[tables.ints[PEER, slots]]
    return np.ascontiguousarray(slots[opposite])


@kernel
def _plan(tables, state, slot):  # type: ignore[no-untyped-def]
    if linked(state, slot):
        unlink(tables, state, slot)
    else:
        unlink_down_to(tables, state, tables.ints[ANTENNA, slot], 0)
        unlink_down_to(tables, state, tables.ints[ANTENNA, tables.ints[REVERSE, slot]], 0)
        link(tables, state, slot)


@kernel
def _score_incrementally(tables, state, slots, gains, repeat):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        for m in range(len(slots)):
            _plan(tables, state, slots[m])
            gains[m] = gain(tables, state)
            forget(tables, state)


@builder
def _score_in_full(  # type: ignore[no-untyped-def]
    tables, state, every, every_gain, constants, slots, gains, repeat
):
    links = np.empty((len(state.load), 2), dtype=np.int64)
    before = throughput_kernel(every, every_gain, constants, links[: _list_links(tables, state, links)], state.parity)
    for _ in range(repeat):
        for m in range(len(slots)):
            _plan(tables, state, slots[m])
            count = _list_links(tables, state, links)
            after = throughput_kernel(every, every_gain, constants, links[:count], state.parity)
            gains[m] = after - before
            forget(tables, state)


@kernel
def _list_links(tables, state, links):  # type: ignore[no-untyped-def]
    """Fill in the links of the state, (m, 2), as they are planned; how many."""
    count = 0
    for antenna in range(len(state.load)):
        begin = tables.starts[ANTENNAS, antenna]
        for at in range(begin, begin + state.load[antenna]):
            i, j = tables.ints[OWNER, state.ints[LINKED, at]], tables.ints[PEER, state.ints[LINKED, at]]
            if i < j:
                links[count, 0], links[count, 1] = i, j
                count += 1
    return count
