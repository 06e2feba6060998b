"""The reference: a simulation-guided, quasi-exhaustive search over links and parity together.

Annealed searches start again and again from the shortest spanning forest, each under its own random stream; every
move is scored by the physics, incrementally. The best of them is taken down to where no move on any candidate pair
raises T. What the paper's greedy construction finds is the fallback, if all of that is no better.

The order of merit is: as few components as the range allows, then T. Antennas may be shared where that pays: the
airtime that it costs is part of T.
"""

from __future__ import annotations

import numpy as np

from manetdiff.radio import LinkTables
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.greedy import greedy_links
from manetdiff.solvers.heuristics import mst_greedy_links
from manetdiff.solvers.moves import LEAST_GAIN, anneal, descend, nearest_first
from manetdiff.solvers.result import Found, better, found
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.state import new_state, read_links, reset

DEFAULT_BUDGET = Budget(moves=50_000)

# Counts up with every change of what the search finds for a seed and a number of moves, so that no dataset is begun by
# one search and finished by another.
VERSION = 1

# Measured on mixed layouts of 16 and 32 nodes: hotter, colder, fewer and more restarts were all worse at equal moves.
# Temperatures and penalties are in Mbit/s a MHz of bandwidth.
HOT, COLD = 1.5, 0.1
MOVES_A_NODE = 200
# Shares of the budget: after the first, no construction is begun; after the second, only the descent is left.
CONSTRUCTED, ANNEALED = 0.5, 0.95
# What a part costs, in turn from one annealing to the next. The high price keeps the network whole all the way, which
# is best for most fleets; at the low one it falls into parts while hot, which finds the best trees of sparse fleets.
PENALTIES = (8.0, 1.0)
# Two links on an antenna are tried in one of ten moves; a third never paid.
CROWD = 2


def search(tables: LinkTables, budget: Budget, seed: int, started: float | None = None) -> Found:
    """The best topology that the budget finds; a time budget runs from `started`, by default from now."""
    meter = Meter(budget, started)
    scale = tables.megahertz
    near, near_start = nearest_first(tables)
    forest, parity = spanning_forest(tables)
    state = new_state(tables, forest, parity)
    best = found(tables, forest, parity, "forest")
    if meter.spent < CONSTRUCTED:
        best = better(best, found(tables, *mst_greedy_links(tables), "construction"))
    restarts = 0
    while meter.spent < ANNEALED:
        reset(tables, state, forest, parity)
        penalty = scale * PENALTIES[restarts % len(PENALTIES)]
        _cool_down(tables, state, near, near_start, meter, seeded(seed, restarts), penalty)
        restarts += 1
        best = better(best, found(tables, read_links(state), state.parity.copy(), "search"))
    reset(tables, state, best.links, best.parity)
    step, cursor = 10 * tables.nodes, np.zeros(2, dtype=np.int64)
    while (left := meter.moves_left(at_least=step)) > 0:
        most = min(left, step)
        tried = descend(tables, state, near, near_start, CROWD, scale * PENALTIES[0], scale * LEAST_GAIN, most, cursor)
        meter.moves += tried
        if tried < most:
            break
    best = better(best, found(tables, read_links(state), state.parity.copy(), "search"))
    if meter.budget.moves is not None or meter.spent < 1.0:
        best = better(best, found(tables, *greedy_links(tables), "greedy"))
    return best.with_report(restarts=restarts, moves=meter.moves, fallback=best.origin == "greedy")


def _cool_down(tables: LinkTables, state, near, near_start, meter: Meter, rng, penalty: float) -> None:  # type: ignore[no-untyped-def]
    """One annealing of the usual length, or as far as the budget goes."""
    # Small steps, so that a time budget is kept to about a millisecond.
    step = 10 * tables.nodes
    done = 0
    while done < MOVES_A_NODE * tables.nodes and meter.spent < ANNEALED:
        left = max(1, int(ANNEALED * meter.moves_left(at_least=step)))
        planned = min(MOVES_A_NODE * tables.nodes, done + left)
        moves = min(step, planned - done)
        before, after = (tables.megahertz * HOT * (COLD / HOT) ** (part / planned) for part in (done, done + moves))
        anneal(tables, state, rng, near, near_start, moves, before, after, CROWD, penalty)
        done += moves
        meter.moves += moves
