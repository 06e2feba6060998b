"""The reference: a simulation-guided, quasi-exhaustive search over links and parity together.

Annealed searches start again and again from the shortest spanning forest, each under its own random stream; every
move is scored by the physics, incrementally. The best of them is taken down to where no move on any candidate pair
raises T. What the paper's greedy construction finds is the fallback, if all of that is no better.

The order of merit is: as few components as the range allows, then T. Antennas may be shared where that pays: the
airtime that it costs is part of T.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.greedy_construction import greedy_links
from manetdiff.solvers.heuristics import mst_greedy_links
from manetdiff.solvers.result import Found, better, found
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.workbench import Workbench

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


def search(layout: Layout, budget: Budget, seed: int, started: float | None = None) -> Found:
    """The best topology that the budget finds; a time budget runs from `started`, by default from now."""
    meter = Meter(budget, started)
    bench = Workbench(layout)
    forest, parity = spanning_forest(layout)
    best = found(layout, forest, parity, "forest")
    if meter.spent < CONSTRUCTED:
        best = better(best, found(layout, *mst_greedy_links(layout), "construction"))
    restarts = 0
    while meter.spent < ANNEALED:
        bench.put(forest, parity)
        _cool_down(bench, meter, seeded(seed, restarts), bench.scale * PENALTIES[restarts % len(PENALTIES)])
        restarts += 1
        best = better(best, found(layout, bench.links, bench.parity, "search"))
    bench.put(best.links, best.parity)
    bench.descend(meter, CROWD, bench.scale * PENALTIES[0])
    best = better(best, found(layout, bench.links, bench.parity, "search"))
    if meter.budget.moves is not None or meter.spent < 1.0:
        best = better(best, found(layout, *greedy_links(layout), "greedy"))
    return best.with_report(restarts=restarts, moves=meter.moves, fallback=best.origin == "greedy")


def _cool_down(bench: Workbench, meter: Meter, rng: npt.NDArray[np.float64], penalty: float) -> None:
    """One annealing of the usual length, or as far as the budget goes."""
    usual = MOVES_A_NODE * len(bench.layout)
    done = 0
    while done < usual and meter.spent < ANNEALED:
        left = max(1, int(ANNEALED * meter.moves_left(at_least=bench.look)))
        planned = min(usual, done + left)
        moves = min(bench.look, planned - done)
        before, after = (bench.scale * HOT * (COLD / HOT) ** (part / planned) for part in (done, done + moves))
        bench.anneal(rng, moves, before, after, CROWD, penalty)
        done += moves
        meter.moves += moves
