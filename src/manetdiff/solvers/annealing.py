"""Plain simulated annealing: the peer that any engineer would write, on the same compiled physics.

One chain over two kinds of bits: a link is switched on or off, or a node's parity is turned. Switched-on links inside
one parity lie dormant. T less a penalty for every component too many is annealed; there is no construction, no
eviction, no restart. It starts from the shortest spanning forest, as the reference does.
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import NOBODY, kernel
from manetdiff.layout import Layout
from manetdiff.layout.tables import BY_DISTANCE, NEAREST, PEER, REVERSE
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.moves import make_or_forget
from manetdiff.solvers.result import Found, better, found
from manetdiff.solvers.rng import below, seeded, uniform
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.state import PLACE, link, linked, turn, unlink, unlink_all
from manetdiff.solvers.workbench import Workbench

DEFAULT_BUDGET = Budget(moves=200_000)
HOT, COLD = 0.8, 0.05
# In Mbit/s a MHz of bandwidth, as the temperatures are. Worth more than any single link, so that the best topologies
# found are connected.
PENALTY = 8.0
FLIPS = 0.1


def anneal_plainly(layout: Layout, budget: Budget, seed: int, started: float | None = None) -> Found:
    """The better of the chain's last topology and the forest that it started from."""
    meter = Meter(budget, started)
    bench = Workbench(layout)
    scale = bench.scale
    links, parity = spanning_forest(layout)
    best = found(layout, links, parity, "forest")
    bench.put(links, parity)
    switched = bench.state.ints[PLACE] >= 0
    rng = seeded(seed, 0)
    while (left := meter.moves_left(at_least=bench.look)) > 0 and meter.spent < 1.0:
        moves = min(bench.look, left)
        shares = (meter.spent, (meter.moves + moves) / (meter.moves + left))
        hot, cold = (scale * HOT * (COLD / HOT) ** share for share in shares)
        _anneal(bench.tables, bench.state, switched, rng, moves, hot, cold, scale * PENALTY)
        meter.moves += moves
    best = better(best, found(layout, bench.links, bench.parity, "annealing"))
    return best.with_report(moves=meter.moves)


@kernel
def _anneal(tables, state, switched, rng, moves, hot, cold, penalty):  # type: ignore[no-untyped-def]
    n = len(state.parity)
    cooling = (cold / hot) ** (1.0 / moves)
    temperature = hot
    for _ in range(moves):
        temperature *= cooling
        i = below(rng, n)
        first = tables.starts[NEAREST, i]
        count = tables.starts[NEAREST, i + 1] - first
        if count == 0:
            continue
        slot = NOBODY
        if uniform(rng) < FLIPS:
            _turn(tables, state, switched, i)
        else:
            slot = tables.lists[BY_DISTANCE, first + below(rng, count)]
            if state.parity[i] == state.parity[tables.ints[PEER, slot]]:
                # Inside one parity a switch lies dormant: it may be thrown at no cost.
                switched[slot] = switched[tables.ints[REVERSE, slot]] = not switched[slot]
                continue
            if linked(state, slot):
                unlink(tables, state, slot)
            else:
                link(tables, state, slot)
        least = temperature * np.log(1.0 - uniform(rng))
        if make_or_forget(tables, state, least, penalty) and slot >= 0:
            switched[slot] = switched[tables.ints[REVERSE, slot]] = linked(state, slot)


@kernel
def _turn(tables, state, switched, i):  # type: ignore[no-untyped-def]
    """Turn the parity of i: its links fall dormant, and dormant ones wake up."""
    unlink_all(tables, state, i)
    turn(state, i)
    for at in range(tables.starts[NEAREST, i], tables.starts[NEAREST, i + 1]):
        slot = tables.lists[BY_DISTANCE, at]
        if switched[slot] and state.parity[tables.ints[PEER, slot]] != state.parity[i]:
            link(tables, state, slot)
