"""The reference's annealing on many cores, for one large fleet: regions at once, their borders after.

In each round the fleet is cut into regions, each time elsewhere. They are annealed at once, each on its own copy of the
state, by moves that change nothing outside: what comes of them fits together. Links across a border stay in that round;
the next one cuts elsewhere. Regions, moves and random streams follow from the fleet, the budget and the seed alone, so
that the answer is the same on any number of cores.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import numpy.typing as npt

from manetdiff.cores import usable_cores
from manetdiff.layout import Layout
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.heuristics import put_mst_greedy
from manetdiff.solvers.moves import anneal
from manetdiff.solvers.reference import (
    ANNEALED,
    COLD,
    CROWD,
    MOVES_A_NODE,
    PENALTIES,
    SCORES,
    Heat,
    warmth,
)
from manetdiff.solvers.result import Found, better, found
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.state import SearchState, read_links
from manetdiff.solvers.workbench import Workbench

IntArray = npt.NDArray[np.int64]

# Nodes of a region: so many that most moves stay inside, so few that all cores have one.
REGION = 100
ROUNDS = 12


def search_by_regions(
    layout: Layout, budget: Budget, seed: int, started: float | None = None, workers: int | None = None
) -> Found:
    """The best topology that the budget finds on so many cores, by default all that may be used."""
    meter = Meter(budget, started)
    bench = Workbench(layout)
    put_mst_greedy(bench)
    scored = time.perf_counter()
    best = found(layout, bench.links, bench.parity, "construction")
    meter.keep_back(SCORES * (time.perf_counter() - scored))
    worth = bench.worth_of_a_link(best.throughput, len(best.links))
    hottest = warmth(meter.moves_left(at_least=MOVES_A_NODE * len(layout)) / len(layout))
    with ThreadPoolExecutor(usable_cores() if workers is None else workers) as pool:
        for number in range(ROUNDS):
            regions = cut(layout.placement.positions[:, :2], np.random.default_rng((seed, number)))
            moves = _moves_of_round(meter, number, len(layout))
            hot, cold = (worth * hottest * (COLD / hottest) ** (at / ROUNDS) for at in (number, number + 1))
            heat = Heat(hot, cold, worth * PENALTIES[0])
            tasks = [
                partial(_annealed, bench, nodes, seed, number * len(regions) + k, moves * len(nodes), heat)
                for k, nodes in enumerate(regions)
            ]
            _put_together(bench, regions, [task.result() for task in [pool.submit(task) for task in tasks]])
            meter.moves += moves * len(layout)
    best = better(best, found(layout, bench.links, bench.parity, "regions"))
    bench.put(best.links, best.parity)
    bench.descend(meter, CROWD, worth * PENALTIES[0])
    best = better(best, found(layout, bench.links, bench.parity, "regions"))
    return best.with_report(moves=meter.moves)


def cut(positions: npt.NDArray[np.float64], rng: np.random.Generator) -> list[IntArray]:
    """Nodes at positions (n, 2) in regions of about REGION: halved across again and again, at a random angle."""
    angle = rng.uniform(0, np.pi)
    turned = positions @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    regions, waiting = [], [np.arange(len(positions))]
    while waiting:
        nodes = waiting.pop()
        if len(nodes) <= 1.5 * REGION:
            regions.append(np.sort(nodes))
            continue
        axis = int(np.ptp(turned[nodes, 1]) > np.ptp(turned[nodes, 0]))
        order = nodes[np.argsort(turned[nodes, axis], kind="stable")]
        # Not always in the middle, so that borders are elsewhere in each round.
        middle = int(len(order) * rng.uniform(0.4, 0.6))
        waiting += [order[:middle], order[middle:]]
    return regions


def _moves_of_round(meter: Meter, number: int, n: int) -> int:
    """Moves a node of the next round."""
    left = meter.moves_left(at_least=10 * n * ROUNDS) * (ANNEALED - meter.spent) / (1.0 - meter.spent)
    return max(1, int(left / (ROUNDS - number) / n))


def _annealed(
    bench: Workbench, nodes: IntArray, seed: int, stream: int, moves: int, heat: Heat
) -> tuple[IntArray, IntArray]:
    """Links and parity of the whole fleet after a region, and only that, was annealed."""
    state = SearchState._make(array.copy() for array in bench.state)
    state.mine[:] = False
    state.mine[nodes] = True
    anneal(bench.tables, state, None, seeded(seed, stream), nodes, moves, heat.hot, heat.cold, CROWD, heat.penalty)
    return read_links(bench.tables, state), state.parity


def _put_together(bench: Workbench, regions: list[IntArray], results: list[tuple[IntArray, IntArray]]) -> None:
    """Put what came of the regions on the bench: of each the links inside, and all links across borders as they were.

    Regions that are whole only by way of each other may leave the network in parts together: then the last of them stay
    as they were, as many as that takes.
    """
    old_links, old_parity, parts = bench.links, bench.parity, bench.parts
    region_of = np.empty(len(old_parity), dtype=np.int64)
    for k, nodes in enumerate(regions):
        region_of[nodes] = k
    for taken in range(len(regions), 0, -1):
        parity, links = old_parity.copy(), [old_links[~_inside(old_links, region_of, taken)]]
        for k, (new_links, new_parity) in enumerate(results[:taken]):
            parity[regions[k]] = new_parity[regions[k]]
            links.append(new_links[(region_of[new_links] == k).all(axis=1)])
        bench.put(np.concatenate(links), parity)
        if bench.parts <= parts:
            return
    bench.put(old_links, old_parity)


def _inside(links: IntArray, region_of: IntArray, taken: int) -> npt.NDArray[np.bool_]:
    """(m,) links inside one of the first so many regions."""
    first, second = region_of[links].T
    return np.asarray((first == second) & (first < taken))
