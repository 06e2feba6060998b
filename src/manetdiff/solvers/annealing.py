"""Plain simulated annealing: the peer that any engineer would write, on the same compiled physics.

One chain over two kinds of bits: a link is switched on or off, or a node's parity is turned. Switched-on links inside
one parity lie dormant. T less a penalty for every component too many is annealed; there is no construction, no
eviction, no restart. It starts from the shortest spanning forest, as the reference does.
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import NOBODY, kernel
from manetdiff.layout import Layout
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.result import Found, better, found
from manetdiff.solvers.rng import below, seeded, uniform
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.state import (
    add_link,
    begin,
    flip_parity,
    linked,
    new_state,
    read_links,
    remove_link,
    rollback,
    settle,
    total,
)
from manetdiff.solvers.walks import label_components
from manetdiff.solvers.workbench import MOVES_A_LOOK

DEFAULT_BUDGET = Budget(moves=200_000)
HOT, COLD = 0.8, 0.05
# In Mbit/s a MHz of bandwidth, as the temperatures are. Worth more than any single link, so that the best topologies
# found are connected.
PENALTY = 8.0
FLIPS = 0.1


def anneal_plainly(layout: Layout, budget: Budget, seed: int, started: float | None = None) -> Found:
    """The better of the chain's last topology and the forest that it started from."""
    meter = Meter(budget, started)
    tables, n = layout.tables, len(layout)
    scale = tables.megahertz
    links, parity = spanning_forest(layout)
    best = found(layout, links, parity, "forest")
    state = new_state(tables, links, parity)
    switched = np.zeros((n, n), dtype=np.bool_)
    switched[links[:, 0], links[:, 1]] = switched[links[:, 1], links[:, 0]] = True
    rng = seeded(seed, 0)
    label = np.empty(n, dtype=np.int64)
    step = MOVES_A_LOOK * n
    while (left := meter.moves_left(at_least=step)) > 0 and meter.spent < 1.0:
        moves = min(step, left)
        shares = (meter.spent, (meter.moves + moves) / (meter.moves + left))
        hot, cold = (scale * HOT * (COLD / HOT) ** share for share in shares)
        _anneal(tables, state, switched, label, rng, *layout.peers, moves, hot, cold, scale * PENALTY)
        meter.moves += moves
    best = better(best, found(layout, read_links(state), state.parity.copy(), "annealing"))
    return best.with_report(moves=meter.moves)


@kernel
def _anneal(  # type: ignore[no-untyped-def]
    tables, state, switched, label, rng, near, near_start, moves, hot, cold, penalty
):
    n = len(state.parity)
    cooling = (cold / hot) ** (1.0 / moves)
    temperature = hot
    components = label_components(state, label)
    for _ in range(moves):
        temperature *= cooling
        i = below(rng, n)
        count = near_start[i + 1] - near_start[i]
        if count == 0:
            continue
        before = total(state)
        begin(state)
        if uniform(rng) < FLIPS:
            j = NOBODY
            _turn(tables, state, switched, i)
        else:
            j = near[near_start[i] + below(rng, count)]
            if state.parity[i] == state.parity[j]:
                switched[i, j] = switched[j, i] = not switched[i, j]
                continue
            if linked(state, i, j):
                remove_link(tables, state, i, j)
            else:
                add_link(tables, state, i, j)
        settle(tables, state)
        least = temperature * np.log(1.0 - uniform(rng))
        gain = total(state) - before
        # Components are only counted where they can matter: no change of theirs is worth more than n penalties.
        now = label_components(state, label) if gain + penalty * (components - 1) >= least else n + 1
        if gain + penalty * (components - now) >= least:
            components = now
            if j >= 0:
                switched[i, j] = switched[j, i] = linked(state, i, j)
        else:
            rollback(state, before)


@kernel
def _turn(tables, state, switched, i):  # type: ignore[no-untyped-def]
    """Turn the parity of i: its links fall dormant, and dormant ones wake up."""
    n = len(state.parity)
    for k in range(n):
        if linked(state, i, k):
            remove_link(tables, state, i, k)
    flip_parity(state, i)
    for k in range(n):
        if switched[i, k] and state.parity[k] != state.parity[i]:
            add_link(tables, state, i, k)
