"""The local search by a number of moves without Python in between: what `search_on` does, step for step."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder
from manetdiff.radio.pairs import MEGAHERTZ
from manetdiff.solvers.correction import put
from manetdiff.solvers.local_search import WHOLE, Annealing
from manetdiff.solvers.moves import LEAST_GAIN, anneal, descend
from manetdiff.solvers.reference import ANNEALED, LARGE
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.state import find_slots, read_links, total
from manetdiff.solvers.walks import count_parts

# Of the numbers that say how a search goes.
MOVES, HOT, COLD, MOVES_A_NODE, PENALTY = range(5)


def search_numbers(moves: int, annealing: Annealing) -> npt.NDArray[np.float64]:
    """How `search_state` is told what to do; moves: 0: nothing."""
    return np.array([moves, annealing.hot, annealing.cold, annealing.moves_a_node, annealing.penalty], dtype=np.float64)


@builder
def search_state(tables, state, seed, numbers):  # type: ignore[no-untyped-def]
    """Search from what is on a state, one link an antenna, and leave the best that is found there. For tables that hold
    every pair."""
    n, moves = len(state.parity), int(numbers[MOVES])
    least = tables.constants[MEGAHERTZ] * LEAST_GAIN
    # What a link carries, see `Workbench.worth_of_a_link`.
    worth = total(state) / max(1, state.load.sum() // 2)
    if worth == 0.0:
        worth = tables.constants[MEGAHERTZ]
    longer = math.sqrt(max(1.0, n / LARGE))
    usual, hot = numbers[MOVES_A_NODE] * n * longer, worth * numbers[HOT] / math.sqrt(longer)
    rng, nodes = seeded(seed, 0), np.arange(n)
    parts = count_parts(tables, state)
    best_total, best_links, best_parity = total(state), read_links(tables, state), state.parity.copy()
    done = 0
    while True:
        cursor = np.zeros(2, dtype=np.int64)
        while done < moves:
            most = moves - done
            tried = descend(tables, state, None, 1, worth * WHOLE, least, most, cursor)
            done += tried
            if tried < most:
                break
        if count_parts(tables, state) <= parts and total(state) > best_total + least:
            best_total, best_links, best_parity = total(state), read_links(tables, state), state.parity.copy()
        else:
            put_topology(tables, state, best_links, best_parity)
        left = moves - done
        if left <= 0:
            return
        to_come = max(1, round(left / usual))
        step = max(1, int(left * (ANNEALED if to_come == 1 else 1 / to_come)))
        anneal(tables, state, None, rng, nodes, step, hot, worth * numbers[COLD], 1, worth * numbers[PENALTY])
        done += step


@builder
def put_topology(tables, state, links, parity):  # type: ignore[no-untyped-def]
    """Put links (m, 2) of opposite parity (n,), all of which the tables hold, on a state."""
    slots = np.empty(len(links), dtype=np.int64)
    find_slots(tables, links, slots)
    put(tables, state, slots, parity)
