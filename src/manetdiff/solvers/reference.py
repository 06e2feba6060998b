"""The reference: a simulation-guided, quasi-exhaustive search over links and parity together.

Annealed searches start again and again from the shortest spanning forest, each under its own random stream; every
move is scored by the physics, incrementally. The larger the fleet, the fewer and the longer they are: what many starts
find by chance in a small fleet, one long search finds everywhere in a large one. The best of them is taken down to
where no move on any candidate pair raises T. What the paper's greedy construction finds is the fallback, if all of that
is no better.

The order of merit is: as few components as the range allows, then T. Antennas may be shared where that pays: the
airtime that it costs is part of T.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.greedy_construction import greedy_links
from manetdiff.solvers.heuristics import put_mst_greedy
from manetdiff.solvers.moves import FEW
from manetdiff.solvers.result import Found, better, found
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.workbench import Workbench, looks_afar

FloatArray = npt.NDArray[np.float64]

DEFAULT_BUDGET = Budget(moves=50_000)

# Counts up with every change of what the search finds for a seed and a number of moves, so that no dataset is begun by
# one search and finished by another.
VERSION = 2

# Temperatures and penalties are shares of what a link of the construction carries. Measured at equal moves on mixed
# layouts of 16 and 32 nodes, on the set 'radios', and on fleets of 64 to 1,000 nodes: in those of more than
# LARGE, where annealings are long, less heat is better.
HOT, HOT_IF_LARGE, COLD = 0.7, 0.42, 0.028
# Of one annealing; as many times more as a fleet is larger than LARGE.
MOVES_A_NODE = 200
LARGE = 32
# Where there is time for one annealing only, and that is short, it starts from a construction: the warmer the longer
# it is.
WARM = 0.016
# So many times what is found is scored in the end.
SCORES = 3
# Shares of the budget: after the first, no construction is begun; after the second, only the descent is left.
CONSTRUCTED, ANNEALED = 0.5, 0.95
# What a part costs, in turn from one annealing to the next. The high price keeps the network whole all the way, which
# is best for most fleets; at the low one it falls into parts while hot, which finds the best trees of sparse fleets.
PENALTIES = (2.2, 0.28)
# Most links on an antenna: a third hardly ever pays, and only where there are FEW nodes.
CROWD, CROWD_IF_FEW = 2, 3


def search(layout: Layout, budget: Budget, seed: int, started: float | None = None, crowd: int | None = None) -> Found:
    """The best topology that the budget finds; a time budget runs from `started`, by default from now.

    - crowd: most links that a move leaves on an antenna; by default as many as may pay.
    """
    crowd = most_on_an_antenna(len(layout)) if crowd is None else crowd
    meter = Meter(budget, started)
    bench = Workbench(layout)
    forest, parity = spanning_forest(layout)
    scored = time.perf_counter()
    best = found(layout, forest, parity, "forest")
    # What is found is scored from scratch in the end, which takes a while in large fleets.
    meter.keep_back(SCORES * (time.perf_counter() - scored))
    if meter.spent < CONSTRUCTED:
        put_mst_greedy(bench)
        best = better(best, found(layout, bench.links, bench.parity, "construction"))
    construction, worth = best, bench.worth_of_a_link(best.throughput, len(best.links))
    if meter.budget.seconds is not None:
        # How fast a search is on this machine shows only when it goes.
        bench.put(forest, parity)
        hottest = Heat(worth * HOT, worth * HOT, worth * PENALTIES[0])
        _time_annealing(bench, meter, seeded(seed, 0), bench.look, hottest, crowd)
    restarts = 0
    while meter.spent < ANNEALED:
        moves, share = _next_annealing(meter, len(layout))
        short = restarts == 0 and share >= ANNEALED and moves < MOVES_A_NODE * len(layout)
        bench.put(*((construction.links, construction.parity) if short else (forest, parity)))
        hot = HOT if len(layout) <= LARGE else HOT_IF_LARGE
        heat = Heat(
            worth * (min(hot, warmth(moves / len(layout))) if short else hot),
            worth * COLD,
            worth * PENALTIES[restarts % len(PENALTIES)],
        )
        _cool_down(bench, meter, seeded(seed, restarts), moves, share, heat, crowd)
        restarts += 1
        best = better(best, found(layout, bench.links, bench.parity, "search"))
    bench.put(best.links, best.parity)
    bench.descend(meter, crowd, worth * PENALTIES[0])
    best = better(best, found(layout, bench.links, bench.parity, "search"))
    if meter.budget.moves is not None or meter.spent < 1.0:
        best = better(best, found(layout, *greedy_links(layout), "greedy"))
    return best.with_report(restarts=restarts, moves=meter.moves, fallback=best.origin == "greedy")


class Heat(NamedTuple):
    """Of one annealing, in Mbit/s: temperatures at its beginning and end, and what a part costs."""

    hot: float
    cold: float
    penalty: float


def most_on_an_antenna(n: int) -> int:
    """Links that a search of n nodes may put on one."""
    return CROWD_IF_FEW if n <= FEW else CROWD


def warmth(moves_a_node: float) -> float:
    """The temperature, as a share of a link's worth, from which so short an annealing of a good topology pays."""
    return min(HOT_IF_LARGE, max(2 * COLD, WARM * math.sqrt(moves_a_node)))


def _next_annealing(meter: Meter, n: int) -> tuple[int, float]:
    """Moves of the next annealing, and up to which share of the budget it goes: the annealings are equally long."""
    left = ANNEALED - meter.spent
    moves = max(1, int(meter.moves_left(at_least=n) * left / (1.0 - meter.spent)))
    usual = MOVES_A_NODE * n * max(1.0, n / LARGE)
    count = max(1, round(moves / usual))
    return max(1, moves // count), meter.spent + left / count


def _cool_down(
    bench: Workbench, meter: Meter, rng: FloatArray, moves: int, share: float, heat: Heat, crowd: int
) -> None:
    """One annealing, cold when that share of the budget is spent."""
    begin = meter.spent
    # A clock goes on meanwhile.
    length = max(share - begin, 1e-9)
    afar = looks_afar(len(bench.layout), moves)
    made, looks, progress = 0, 0, 0.0
    while progress < 1.0:
        step = min(bench.look, max(1, round((1.0 - progress) * moves)))
        ahead = min(1.0, progress + step / moves)
        before, after = (heat.hot * (heat.cold / heat.hot) ** at for at in (progress, ahead))
        _time_annealing(bench, meter, rng, step, Heat(before, after, heat.penalty), crowd)
        made += step
        progress = min(1.0, (meter.spent - begin) / length)
        if meter.budget.seconds is None and ahead == 1.0:
            return
        if meter.budget.seconds is not None and progress > 0.0:
            # By the clock, how many moves there is time for is only known as they go.
            moves = max(step, round(made / progress))
        if int(progress * afar) > looks and progress < 1.0:
            looks = int(progress * afar)
            bench.look_afar()


def _time_annealing(bench: Workbench, meter: Meter, rng: FloatArray, moves: int, heat: Heat, crowd: int) -> None:
    began = time.perf_counter()
    bench.anneal(rng, moves, heat.hot, heat.cold, crowd, heat.penalty)
    meter.time_moves(moves, began)
