"""Polish: a short local search from a given topology, which never returns anything worse or less valid.

First every pair is tried until nothing improves; what is left of the budget goes into annealings from the best topology
so far, all about equally long, each followed by such a descent. Several find more than one long one does: what has gone
astray is thrown away in between.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.moves import LEAST_GAIN
from manetdiff.solvers.reference import ANNEALED, LARGE
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
    """The annealings of a local search. Temperatures at their beginning and end, and what a part costs while one goes
    on, are shares of what a link carries where the search starts.

    - hot, moves_a_node: in fleets of up to LARGE nodes. Larger ones, of which more has to be as good as it was at the
      end of an annealing, have longer and cooler ones: with the root of the size, and one over the root of that.
    """

    hot: float
    cold: float
    moves_a_node: int
    penalty: float


# More than any move gains: a connected network stays so.
WHOLE = 1e6
# Measured at equal moves under all radios of the set 'radios', by scripts/local_search.py.
# Warm enough to leave a local optimum, cool enough to stay near it.
GENTLE = Annealing(hot=0.17, cold=0.028, moves_a_node=100, penalty=WHOLE)
# Far enough from where it began to find something else, by ways through networks in parts.
THOROUGH = Annealing(hot=0.5, cold=0.05, moves_a_node=200, penalty=0.57)

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
    if meter.moves_left(at_least=1) <= 0:
        return
    if meter.watches_clock and not bench.holds_all:
        # What is found is judged, and what is best put back, with a look afar each, when the last move is made.
        began = time.perf_counter()
        bench.look_afar()
        meter.keep_back(2 * (time.perf_counter() - began))
    n, least = len(bench.layout), bench.scale * LEAST_GAIN
    worth = bench.worth_of_a_link(bench.throughput, len(bench.links))
    longer = math.sqrt(max(1.0, n / LARGE))
    usual, hot = annealing.moves_a_node * n * longer, worth * annealing.hot / math.sqrt(longer)
    rng = seeded(seed, 0)
    parts = bench.parts
    best_total, best = bench.worth, bench.kept()
    while True:
        bench.descend(meter, limit, worth * WHOLE)
        if not bench.holds_all or bench.prices is not None:
            # What is judged is T by what is heard now, not when the annealing began, and without prices.
            bench.look_afar()
        if bench.parts <= parts and bench.worth > best_total + least:
            best_total, best = bench.worth, bench.kept()
        else:
            bench.put_back(best)
        left = meter.moves_left(at_least=0)
        if left <= 0:
            return
        to_come = max(1, round(left / usual))
        # A descent follows the last one, too.
        moves = max(1, int(left * (ANNEALED if to_come == 1 else 1 / to_come)))
        bench.cool(meter, rng, moves, hot, worth * annealing.cold, limit, worth * annealing.penalty)


def _gain(new: Topology, old: Topology, layout: Layout) -> float | None:
    """By how much T has grown; None where it has not, or where anything that validity looks at has got worse."""
    after, before = metrics(new, layout), metrics(old, layout)
    parts = [count_components(one.links, len(layout)) for one in (new, old)]
    saturated = [int((antenna_loads(one, layout) > 1).sum()) for one in (new, old)]
    no_worse = parts[0] <= parts[1] and saturated[0] <= saturated[1] and after["parity"] >= before["parity"]
    gain = after["throughput"] - before["throughput"]
    return gain if no_worse and gain >= 0 else None
