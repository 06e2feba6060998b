"""What a slow search over a whole flight finds, which knows everything that is to come: about the most there is.

It is no proof of a bound. It starts from a chain of long searches that know the next moment, and then goes through the
flight again and again: every topology is searched anew between the one before and the one after it, and paid for links
that it shares with either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from manetdiff.flights.delivery import delivered
from manetdiff.layout import Layout
from manetdiff.measure.flown import Flight, FlightSet
from manetdiff.measure.spreading import spreadable
from manetdiff.measure.ways.chains import Situation, chain_of, row_of
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.loyalty import Loyalty
from manetdiff.solvers.rehearsal import rehearse_ahead
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology

if TYPE_CHECKING:
    from collections.abc import Sequence

    from manetdiff.measure.rows import Row, Rows
    from manetdiff.measure.store import RowStore

# Moves a node of each search, passes through the flight, and what a kept link is worth, in bit/s/Hz: the best is taken.
MOVES_A_NODE, PASSES, LOYALTIES = 1_500, 2, (0.4, 0.9)


@spreadable
def hindsight(store: RowStore, flights: FlightSet, setup: float) -> Rows:
    """A row for each flight, for so many seconds to set a link up."""
    what = {"setup": setup, "moves": MOVES_A_NODE, "passes": PASSES, "loyalties": LOYALTIES}
    label = f"hindsight, {setup:g} s of setup"
    return store.rows(label, what, flights, lambda some: (_row(flight, setup) for flight in some), code=__name__)


def _row(flight: Flight, setup: float) -> Row:
    rehearse_ahead(1)
    best: tuple[float, list[Topology]] | None = None
    for loyalty in LOYALTIES:
        made = [flight.first, *(topology for topology, _ in chain_of(flight, lambda now: _first(now, loyalty)))]  # noqa: B023
        for _ in range(PASSES):
            made = _passed(flight, made, loyalty)
        through = delivered([(flight.step * k, one) for k, one in enumerate(made)], setup)
        if best is None or through > best[0]:
            best = through, made
    assert best is not None
    return row_of(flight, [(topology, 0.0) for topology in best[1][1:]])


def _first(now: Situation, loyalty: float) -> Topology:
    return _between(now.now, now.following, now.old, (now.old,), loyalty, now.seed)


def _passed(flight: Flight, made: Sequence[Topology], loyalty: float) -> list[Topology]:
    """Every topology but the first, searched anew between its neighbours."""
    new = list(made)
    for k in range(1, len(new)):
        beside = (new[k - 1], *new[k + 1 : k + 2])
        new[k] = _between(flight.fleets[k], flight.fleets[k + 1], new[k], beside, loyalty, k)
    return new


def _between(fleet, following, start: Topology, beside: Sequence[Topology], loyalty: float, seed: int) -> Topology:  # type: ignore[no-untyped-def]
    """Half of the loyalty is to each neighbour, where there are two: a link that comes with one and goes with the other
    is exchanged once."""
    radio = start.on().radio
    layout = Layout(fleet, radio)
    bench = Workbench(layout)
    correct_onto(bench, start.links, start.parity, flip_parts=True)
    there = bench.links, bench.parity
    everybody = np.ones(len(layout), dtype=np.bool_)
    bench.be_loyal(*(Loyalty(one.links, everybody, loyalty * bench.scale) for one in beside))
    bench.look_ahead([Layout(following, radio)])
    bench.put(*there)
    search_on(bench, Meter(Budget(moves=MOVES_A_NODE * len(layout))), seed, limit=1, annealing=THOROUGH)
    return Topology(bench.links, bench.parity, layout=layout)
