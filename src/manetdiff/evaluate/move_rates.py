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

from manetdiff.compiled import NOBODY, builder, kernel
from manetdiff.data import SolvedLayout
from manetdiff.radio import LinkTables
from manetdiff.radio.rates import throughput_kernel
from manetdiff.radio.tables import SECTOR
from manetdiff.solvers.budget import Budget
from manetdiff.solvers.gains import gain_of_dropping, gain_of_replacing
from manetdiff.solvers.reference import search
from manetdiff.solvers.state import SearchState, linked, new_state
from manetdiff.solvers.walks import LOAD

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
        tables = solved.layout.tables
        links, parity = np.array(solved.topology.links), np.array(solved.topology.parity)
        state = new_state(tables, links, parity)
        pairs = _simple_moves(tables, state)
        quick, slow = np.empty(len(pairs)), np.empty(len(pairs))
        # Compiled before it is timed.
        _score_incrementally(tables, state, pairs, quick, 1)
        _score_in_full(tables, links, parity, pairs, slow, 1)
        search(solved.layout, Budget(moves=200), 0)
        difference = max(difference, float(np.abs(quick - slow).max()))
        incremental = partial(_score_incrementally, tables, state, pairs, quick)
        in_full = partial(_score_in_full, tables, links, parity, pairs, slow)
        for way, run in enumerate((incremental, in_full)):
            repeat, spent = _repeat_for(run, share)
            counts[way] += repeat * len(pairs)
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


def _simple_moves(tables: LinkTables, state: SearchState) -> IntArray:
    """(m, 2) pairs whose move concerns only antennas that carry at most one link."""
    pairs = np.ascontiguousarray(np.argwhere(tables.candidate & (state.parity[:, None] != state.parity)))
    simple = np.zeros(len(pairs), dtype=np.bool_)
    _mark_simple(tables, state, pairs, simple)
    return pairs[simple]


@kernel
def _mark_simple(tables, state, pairs, simple):  # type: ignore[no-untyped-def]
    for m in range(len(pairs)):
        i, j = pairs[m, 0], pairs[m, 1]
        simple[m] = _carries_one(tables, state, i, j) and _carries_one(tables, state, j, i)


@kernel
def _carries_one(tables, state, i, j):  # type: ignore[no-untyped-def]
    """Whether i's antenna towards j carries at most one link, and that link's other end no more than it either."""
    a = tables.ints[SECTOR, i, j]
    if state.ints[LOAD, i, a] > 1:
        return False
    if state.ints[LOAD, i, a] == 0:
        return True
    peer = state.peers[i, a, 0]
    return state.ints[LOAD, peer, tables.ints[SECTOR, peer, i]] == 1


@kernel
def _left_by(tables, state, i, j):  # type: ignore[no-untyped-def]
    """The peer that i gives up for a link with j, or NOBODY."""
    a = tables.ints[SECTOR, i, j]
    return state.peers[i, a, 0] if state.ints[LOAD, i, a] == 1 else NOBODY


@kernel
def _score_incrementally(tables, state, pairs, gains, repeat):  # type: ignore[no-untyped-def]
    for _ in range(repeat):
        for m in range(len(pairs)):
            i, j = pairs[m, 0], pairs[m, 1]
            if linked(state, i, j):
                gains[m] = gain_of_dropping(tables, state, i, j)
            else:
                left_i, left_j = _left_by(tables, state, i, j), _left_by(tables, state, j, i)
                gains[m] = gain_of_replacing(tables, state, i, j, left_i, left_j)


@builder
def _score_in_full(tables, links, parity, pairs, gains, repeat):  # type: ignore[no-untyped-def]
    before = throughput_kernel(tables, links, parity)
    changed = np.empty((len(links) + 1, 2), dtype=np.int64)
    for _ in range(repeat):
        for m in range(len(pairs)):
            i, j = pairs[m, 0], pairs[m, 1]
            a, b = tables.ints[SECTOR, i, j], tables.ints[SECTOR, j, i]
            size, dropped = 0, False
            for n in range(len(links)):
                k, other = links[n, 0], links[n, 1]
                same = (k == i and other == j) or (k == j and other == i)
                dropped = dropped or same
                on_i = (k == i and tables.ints[SECTOR, i, other] == a) or (
                    other == i and tables.ints[SECTOR, i, k] == a
                )
                on_j = (k == j and tables.ints[SECTOR, j, other] == b) or (
                    other == j and tables.ints[SECTOR, j, k] == b
                )
                if not (same or on_i or on_j):
                    changed[size, 0] = k
                    changed[size, 1] = other
                    size += 1
            if not dropped:
                changed[size, 0] = i
                changed[size, 1] = j
                size += 1
            gains[m] = throughput_kernel(tables, changed[:size], parity) - before
