"""Ways of following a fleet through a flight, each topology from the one before, timed and scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from manetdiff.fleet import Fleet, predicted
from manetdiff.flights.delivery import delivered
from manetdiff.layout import Layout
from manetdiff.measure.flown import Flight, FlightSet
from manetdiff.measure.spreading import spreadable
from manetdiff.measure.ways.runtime import model_of, runtime_files
from manetdiff.solvers import correct, polish
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.loyalty import Loyalty
from manetdiff.solvers.rehearsal import rehearse_ahead
from manetdiff.solvers.rng import seeded
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology, carried_over, continuity, metrics, unwarned_of_parts
from manetdiff.weights import DEFAULT

if TYPE_CHECKING:
    from manetdiff.measure.rows import Row, Rows
    from manetdiff.measure.store import RowStore
    from manetdiff.runtime.partial import Mode

# Seconds to set a link up, for which what is delivered is told.
SETUPS = (0.0, 0.5, 2.0)
# Of a plain annealing, as shares of what a link carries.
HOT, COLD, PART = 0.3, 0.02, 2.0
MOVES_A_LOOK = 10


@dataclass(frozen=True)
class Situation:
    """A moment of a flight: the topology so far, where the fleet was and is, and where it will be at the next."""

    old: Topology
    before: Fleet
    now: Fleet
    following: Fleet
    step: float
    seed: int

    def ahead(self, known: bool) -> list[Fleet]:
        """Where it will be: as it will, or as predicted."""
        return [self.following if known else predicted(self.before, self.now, self.step)]


Way = Callable[[Situation], Topology]


def updates(known: bool | None = False, **asked: Any) -> Way:
    """Our update. known: the fleet to come is known, or (False) predicted, or (None) not looked at."""
    model = model_of(DEFAULT)

    def follow(now: Situation) -> Topology:
        ahead = [] if known is None else now.ahead(known)
        return model.update(now.old, now.now, ahead=ahead, seed=now.seed, **asked)

    return follow


def updates_with_setup(setup: float, known: bool = False) -> Way:
    """Our update that is told how long it takes to set a link up."""
    model = model_of(DEFAULT)
    return lambda now: model.update(
        now.old, now.now, ahead=now.ahead(known), setup=setup, elapsed=now.step, seed=now.seed
    )


def as_in_the_paper(mode: Mode, weights: str) -> Way:
    """The paper's update: a sample from the links so far, corrected."""
    model = model_of(weights)

    def follow(now: Situation) -> Topology:
        raw = model.update(now.old, now.now, mode=mode, correct=False, polish=False, seed=now.seed)
        return correct(raw, flip_parts=True)

    return follow


def anew(preset: str) -> Way:
    """Without regard to the links so far."""
    model = model_of(DEFAULT)
    return lambda now: model.generate(now.now, radio=now.old.on().radio, preset=preset, seed=now.seed)


def held(now: Situation) -> Topology:
    """The links so far as they are."""
    return carried_over(now.old, Layout(now.now, now.old.on().radio))


def holding() -> Way:
    """The same."""
    return held


def repaired(seconds: float) -> Way:
    """Corrected, and polished for the rest of the time."""

    def follow(now: Situation) -> Topology:
        began = time.perf_counter()
        corrected = correct(now.old, now.now, flip_parts=True)
        left = seconds - (time.perf_counter() - began)
        return polish(corrected, budget=left, seed=now.seed) if left > 0 else corrected

    return follow


def searched(seconds: float, loyalty: float, *, plain: bool, known: bool = False) -> Way:
    """A search that is paid for kept links and looks ahead as our update does, but knows no network, from the links so
    far, corrected.

    - loyalty: in bit/s/Hz. plain: one annealing, as any engineer would write it; else our local search.
    """

    def follow(now: Situation) -> Topology:
        deadline = time.perf_counter() + seconds
        radio = now.old.on().radio
        layout = Layout(now.now, radio)
        bench = Workbench(layout)
        correct_onto(bench, now.old.links, now.old.parity, flip_parts=True)
        start = bench.links, bench.parity
        everybody = np.ones(len(layout), dtype=np.bool_)
        bench.be_loyal(Loyalty(now.old.links, everybody, loyalty * bench.scale))
        bench.look_ahead([Layout(one, radio) for one in now.ahead(known)])
        bench.put(*start)
        if not plain:
            meter = Meter(Budget(deadline=deadline, moves=10**9))
            search_on(bench, meter, now.seed, limit=1, annealing=THOROUGH)
            return Topology(bench.links, bench.parity, layout=layout)
        worth, best = bench.worth_of_a_link(bench.throughput, len(bench.links)), bench.kept()
        least, parts = bench.worth, bench.parts
        _annealed(bench, deadline, worth, now.seed)
        if bench.worth < least or bench.parts > parts:
            bench.put_back(best)
        return Topology(bench.links, bench.parity, layout=layout)

    return follow


def _annealed(bench: Workbench, deadline: float, worth: float, seed: int) -> None:
    """One annealing, as hot as there is time left."""
    rng, began, hot = seeded(seed, 0), time.perf_counter(), worth * HOT
    while (now := time.perf_counter()) < deadline:
        heat = worth * HOT * (COLD / HOT) ** ((now - began) / (deadline - began))
        bench.anneal(rng, MOVES_A_LOOK * len(bench.layout), hot, heat, 1, worth * PART)
        hot = heat
    bench.look_afar()


@spreadable
def followed(store: RowStore, label: str, what: Mapping[str, Any], flights: FlightSet, way: Callable[[], Way]) -> Rows:
    """A row for each flight. what: all that the way depends on beside the code and the packaged network."""
    described = {"chain": label, **what, **runtime_files(DEFAULT)}
    return store.rows(label, described, flights, lambda some: _rows(some, way()), code=__name__)


def _rows(flights: Iterator[Flight], way: Way) -> Iterator[Row]:
    rehearse_ahead(1)
    for place, flight in enumerate(flights):
        if place == 0:
            list(chain_of(flight, way, most=2))  # what is loaded once in a process is no part of the times
        yield row_of(flight, list(chain_of(flight, way)))


def chain_of(flight: Flight, way: Way, most: int | None = None) -> Iterator[tuple[Topology, float]]:
    """A topology and the processor's seconds for each moment but the first and the last, after which there is none."""
    old, fleets = flight.first, flight.fleets
    for k in range(1, min(len(fleets) - 1, 1 + (most or len(fleets)))):
        situation = Situation(old, fleets[k - 1], fleets[k], fleets[k + 1], flight.step, k)
        with unwarned_of_parts():
            began = time.process_time()
            old = way(situation)
            yield old, time.process_time() - began


def row_of(flight: Flight, made: list[tuple[Topology, float]]) -> Row:
    """What a chain was worth, as shares of what a search finds at every moment.

    - share: T; worst: of its worst twentieth; drift: by how much it grows over a hundred updates; delivered_…: with so
      many seconds of setup, from the first moment to the one after the last update.
    """
    tops = [flight.first, *(topology for topology, _ in made)]
    scores = [metrics(topology) for topology in tops[1:]]
    targets = np.array(flight.targets[1 : len(tops)])
    shares = np.array([one["throughput"] for one in scores]) / targets
    times = [flight.step * k for k in range(len(tops) + 1)]
    last = carried_over(tops[-1], Layout(flight.fleets[len(tops)], flight.radio))
    over_time = list(zip(times, [*tops, last], strict=True))
    mean_target = float(np.mean(flight.targets[: len(tops)]))
    return {
        "share": float(shares.mean()),
        "worst": float(np.quantile(shares, 0.05)),
        "drift": float(100 * np.polyfit(np.arange(len(shares)), shares, 1)[0]) if len(shares) > 1 else 0.0,
        "continuity": float(np.mean([continuity(old, new) for old, new in pairwise(tops)])),
        "valid": float(np.mean([one["valid"] for one in scores])),
        "milliseconds": 1e3 * float(np.mean([seconds for _, seconds in made])),
        **{f"delivered_{setup:g}": delivered(over_time, setup) / mean_target for setup in SETUPS},
    }
