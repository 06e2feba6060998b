"""Rows by several processes: the same as by one, and never taken for rows that were measured alone."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from manetdiff.engine import LocalEngine
from manetdiff.measure.drawn import drawn_set
from manetdiff.measure.flown import drawn_flights
from manetdiff.measure.moved import Moved
from manetdiff.measure.rows import Row, Rows
from manetdiff.measure.sets import benchmark_set
from manetdiff.measure.spaced import spaced_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.unlike import unlike_set
from manetdiff.measure.ways import chains
from manetdiff.measure.ways.bundles import sampled_bundle
from manetdiff.measure.ways.hindsight import hindsight
from manetdiff.measure.ways.priors import searched
from manetdiff.measure.ways.repairs import repaired
from manetdiff.measure.ways.runtime import correction, generated, with_generated
from manetdiff.measure.ways.solvers import solved, solved_by_size
from manetdiff.measure.ways.updates import updated
from manetdiff.radio import Radio
from manetdiff.runtime.bundle import find_bundle
from manetdiff.weights import DEFAULT
from support.measured_help import hand_made

BENCH = benchmark_set("bench16").first(3)
MOVED = Moved(BENCH, 0.1, 500)
FLIGHTS = drawn_flights(6, 2.0, 2, 3)
CLOCKS = ("milliseconds", "processor_milliseconds")

WAYS: dict[str, Callable[[RowStore], Rows]] = {
    "generated": lambda store: generated(store, BENCH, preset="instant", noise=0.01),
    "correction": lambda store: correction(store, BENCH, steps=1),
    "solved": lambda store: solved(store, "reference", BENCH, moves=200),
    "solved by size": lambda store: solved_by_size(store, "mst-greedy", BENCH, polish_a_node=10),
    "prior": lambda store: searched(store, "MST+greedy", BENCH, moves_a_node=10),
    "bundle": lambda store: sampled_bundle(store, find_bundle(DEFAULT), BENCH, name="mine", steps=1),
    "updated": lambda store: updated(store, MOVED, "minor"),
    "repaired": lambda store: repaired(store, MOVED, "old links, corrected"),
    "chain": lambda store: chains.followed(store, "held", {}, FLIGHTS, chains.holding),
    "update": lambda store: chains.followed(store, "update", {}, FLIGHTS, partial(chains.updates, loyalty=1.0)),
}
# Of each kind of set one, in the everyday run.
USUAL = ("generated", "updated", "chain")


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    with LocalEngine(2) as made:
        yield made


def untimed(rows: Rows) -> list[Row]:
    return [{name: value for name, value in row.items() if name not in CLOCKS} for row in rows.rows]


@pytest.mark.parametrize("way", [way if way in USUAL else pytest.param(way, marks=pytest.mark.slow) for way in WAYS])
def test_rows_are_the_same_as_by_one_process(way: str, engine: LocalEngine) -> None:
    measure = WAYS[way]
    assert untimed(measure(RowStore(engine=engine))) == untimed(measure(RowStore()))


@pytest.mark.slow
def test_hindsight_and_samples_by_pytorch_too(engine: LocalEngine) -> None:
    from manetdiff.diffusion.weights import find_weights
    from manetdiff.measure.ways.samples import sampled
    from manetdiff.training.validation import CPU_CHUNK

    few = FLIGHTS.first(2)
    assert untimed(hindsight(RowStore(engine=engine), few, 0.5)) == untimed(hindsight(RowStore(), few, 0.5))
    # More than are sampled together.
    weights, some = find_weights("acam-123"), benchmark_set("bench16").first(CPU_CHUNK + 5)
    here, there = (sampled(store, weights, some, steps=1) for store in (RowStore(), RowStore(engine=engine)))
    assert untimed(there) == untimed(here)


@pytest.mark.parametrize(
    "some",
    [
        BENCH,
        BENCH.of_family("wedge"),
        drawn_set(6, 2, Radio(sigma2=0.9)),
        spaced_set(40),
        unlike_set("a drone show", 2),
        with_generated(BENCH, "instant"),
        MOVED.after,
        FLIGHTS.first(1),
    ],
    ids=lambda some: some.of,
)
def test_sets_can_be_made_again_elsewhere(some: Any) -> None:
    again = pickle.loads(pickle.dumps(some))
    assert (again.key, again.of, again.indices, again.code) == (some.key, some.of, some.indices, some.code)
    # In one process they are the same layouts, so that those that took long to solve are solved once.
    assert pickle.loads(pickle.dumps(some)).layout is again.layout


def test_a_set_without_a_recipe_cannot_be_sent() -> None:
    with pytest.raises(TypeError, match="rows of four"):
        pickle.dumps(hand_made(1))


def test_rows_measured_beside_others_are_not_taken_for_those_measured_alone(
    tmp_path: Path, engine: LocalEngine
) -> None:
    told: list[str] = []
    beside, alone = RowStore(tmp_path, told.append, engine=engine), RowStore(tmp_path, told.append)
    measure = WAYS["solved"]
    first = measure(beside)
    assert measure(beside) == first  # kept
    assert len(told) == 1
    measured_alone = measure(alone)
    assert len(told) == 2
    assert untimed(measured_alone) == untimed(first)
    # But the other way round they are better than asked for.
    assert measure(beside) == measured_alone
    assert measure(beside.alone()) == measured_alone
    assert len(told) == 2


def test_only_what_is_missing_is_measured_and_watched(tmp_path: Path, engine: LocalEngine) -> None:
    seen: list[tuple[int, str]] = []

    def watch(rows: Any, count: int, what: str) -> Any:
        seen.append((count, what))
        return rows

    for count in (2, 3, 3):
        solved(RowStore(tmp_path, engine=engine, watch=watch), "greedy", BENCH.first(count))
    assert seen == [(2, "greedy"), (1, "greedy")]
