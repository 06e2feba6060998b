"""Polish: a short local search from a given topology, which never returns anything worse or less valid.

First every pair is tried until nothing improves; what is left of the budget goes into short annealings from the best
topology so far, each followed by such a descent.
"""

from __future__ import annotations

from dataclasses import dataclass

from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.moves import LEAST_GAIN
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import (
    PolishReport,
    Topology,
    antenna_loads,
    count_components,
    metrics,
    out_of_range,
    same_parity,
)

DEFAULT_BUDGET = Budget(moves=2_000)


@dataclass(frozen=True)
class Annealing:
    """The annealings of a local search: temperatures at their beginning and end, in Mbit/s a MHz of bandwidth, how many
    moves a node each takes, and what a part costs while one goes on."""

    warm: float
    cold: float
    moves_a_node: int
    penalty: float


# More than any move gains: a connected network stays so.
PENALTY = 1e6
# Warm enough to leave a local optimum, cool enough to stay near it.
GENTLE = Annealing(warm=0.6, cold=0.1, moves_a_node=30, penalty=PENALTY)
# Far enough from where it began to find something else, by ways through networks in parts.
THOROUGH = Annealing(warm=1.2, cold=0.1, moves_a_node=200, penalty=2.0)

# A raw topology with more links than this on one antenna is nothing to polish: it wants correcting first.
MOST_CROWDED = 8


def polish(
    topology: Topology,
    fleet: Fleet | Layout | None = None,
    radio: Radio | None = None,
    *,
    budget: float | None = None,
    moves: int | None = None,
    seed: int = 0,
) -> Topology:
    """A topology at least as good: no more components, violations or saturated antennas, and no less T.

    A topology with more than eight links on an antenna comes back as it is: correct it first.

    - fleet, radio: as for metrics.
    - budget: seconds; or moves: a number of moves, which gives the same answer on every machine (default 2,000).
    """
    asked = Budget.of(budget, moves, DEFAULT_BUDGET)
    layout = topology.on(fleet, radio)
    rehearse()
    meter = Meter(asked)
    sound = topology.links[~(same_parity(topology) | out_of_range(topology, layout))]
    # A topology without saturated antennas stays so; one with them may keep as many, but is not driven to it.
    loads = antenna_loads(Topology(sound, topology.parity), layout)
    if loads.max(initial=0) > MOST_CROWDED:
        return topology.with_report(polish=PolishReport(meter.moves, 0.0, improved=False))
    # Only now: the links of a raw topology can be any number.
    layout = layout.including(sound)
    bench = Workbench(layout)
    bench.put(sound, topology.parity)
    search_on(bench, meter, seed, limit=2 if (loads > 1).any() else 1, annealing=GENTLE)
    found = Topology(bench.links, bench.parity, topology.report, layout)
    gain = _gain(found, topology, layout) if found != topology else None
    told = PolishReport(meter.moves, gain or 0.0, improved=gain is not None)
    return (topology if gain is None else found).with_report(polish=told)


def search_on(bench: Workbench, meter: Meter, seed: int, *, limit: int, annealing: Annealing) -> None:
    """Search from the topology on the bench, and leave the best that is found there: never one in more parts.

    - limit: most links on an antenna.
    """
    scale = bench.scale
    rng = seeded(seed, 0)
    parts = bench.parts
    best_total, best_links, best_parity = bench.throughput, bench.links, bench.parity
    while True:
        bench.descend(meter, limit, scale * PENALTY)
        if bench.parts <= parts and bench.throughput > best_total + scale * LEAST_GAIN:
            best_total, best_links, best_parity = bench.throughput, bench.links, bench.parity
        else:
            bench.put(best_links, best_parity)
        left = meter.moves_left(at_least=0)
        if left <= 0:
            return
        moves = min(left, annealing.moves_a_node * len(bench.layout))
        bench.cool(meter, rng, moves, scale * annealing.warm, scale * annealing.cold, limit, scale * annealing.penalty)


def _gain(new: Topology, old: Topology, layout: Layout) -> float | None:
    """By how much T has grown; None where it has not, or where anything that validity looks at has got worse."""
    after, before = metrics(new, layout), metrics(old, layout)
    parts = [count_components(one.links, len(layout)) for one in (new, old)]
    saturated = [int((antenna_loads(one, layout) > 1).sum()) for one in (new, old)]
    no_worse = parts[0] <= parts[1] and saturated[0] <= saturated[1] and after["parity"] >= before["parity"]
    gain = after["throughput"] - before["throughput"]
    return gain if no_worse and gain >= 0 else None
