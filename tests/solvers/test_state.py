"""A topology under search: whatever is planned, made and forgotten, it agrees with scoring from scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology
from manetdiff.layout import Layout
from manetdiff.layout.choosing import PINNED
from manetdiff.layout.tables import GRADE, OWNER, PEER, REVERSE
from manetdiff.radio import link_rates
from manetdiff.solvers.rng import below, seeded, uniform
from manetdiff.solvers.scoring import gain_or_less, make
from manetdiff.solvers.state import (
    AIRTIME,
    NOISE,
    PLACE,
    RATE,
    REFUSED,
    SHARED,
    STRAY,
    forget,
    unlink,
)
from manetdiff.solvers.walks import count_parts, joined, know_parts, parts_after
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import component_labels
from support.plans import Plan, carry_out, random_bench, random_plan
from support.strategies import fleets, radios


@st.composite
def benches(draw: st.DrawFn, largest: int = 14) -> tuple[Workbench, np.random.Generator]:
    """A random topology of any fleet, flat or not, blocked or not, under any radio; and what to draw changes from."""
    blocked, axes = draw(st.booleans()), draw(st.sampled_from([2, 3]))
    fleet = draw(fleets(smallest=3, largest=largest, axes=axes, blocked=blocked))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_bench(Layout(fleet, draw(radios(options=True))), rng), rng


def foretell(bench: Workbench, plan: Plan, least: float = -np.inf) -> float:
    """What a plan gains; it stays planned."""
    carry_out(bench, plan)
    return float(gain_or_less(bench.tables, bench.state, float(least)))


def assert_as_from_scratch(bench: Workbench) -> None:
    tables, state = bench.tables, bench.state
    links = bench.links
    expected = link_rates(bench.layout.placement, links, state.parity)
    assert bench.throughput == pytest.approx(expected.sum(), rel=1e-9, abs=1e-9)
    slots = bench.slots(links)
    # What the first node sends is received at the second one's slot.
    assert state.floats[RATE, tables.ints[REVERSE, slots]] == pytest.approx(expected[:, 0], rel=1e-9, abs=1e-9)
    assert state.floats[RATE, slots] == pytest.approx(expected[:, 1], rel=1e-9, abs=1e-9)


def held(bench: Workbench) -> tuple[Any, ...]:
    """Everything that a change that is forgotten must leave as it was, to the last bit."""
    state = bench.state
    there = state.ints[PLACE] >= 0
    floats = (state.floats[[AIRTIME, STRAY]].tobytes(), state.floats[[RATE, NOISE]][:, there].tobytes())
    return bench.throughput, there.tobytes(), state.parity.tobytes(), state.load.tobytes(), *floats


@given(benches())
@settings(max_examples=150)
def test_after_any_changes_made_or_forgotten_all_rates_are_those_from_scratch(
    given_bench: tuple[Workbench, np.random.Generator],
) -> None:
    bench, rng = given_bench
    assert_as_from_scratch(bench)
    for _ in range(20):
        plan = random_plan(bench, rng)
        before = held(bench)
        foretold = foretell(bench, plan)
        assert bench.throughput == before[0]
        if rng.random() < 0.5:
            make(bench.tables, bench.state)
            assert_as_from_scratch(bench)
            assert bench.throughput - before[0] == pytest.approx(foretold, abs=1e-9 * (1 + before[0]))
        else:
            forget(bench.tables, bench.state)
            assert held(bench) == before


@given(benches(), st.sampled_from([1e-6, 1e-3, 1.0]))
@settings(max_examples=150)
def test_a_gain_that_is_too_small_may_be_any_that_is(
    given_bench: tuple[Workbench, np.random.Generator], apart: float
) -> None:
    bench, rng = given_bench
    for _ in range(10):
        plan = random_plan(bench, rng)
        gained = foretell(bench, plan)
        forget(bench.tables, bench.state)
        before = held(bench)
        assert foretell(bench, plan, gained + apart) < gained + apart
        forget(bench.tables, bench.state)
        assert held(bench) == before
        assert foretell(bench, plan, gained - apart) == pytest.approx(gained, abs=1e-9 * (1 + bench.throughput))
        make(bench.tables, bench.state)
        assert_as_from_scratch(bench)


@given(benches())
@settings(max_examples=150)
def test_walks_agree_with_union_find(given_bench: tuple[Workbench, np.random.Generator]) -> None:
    bench, rng = given_bench
    tables, state, n = bench.tables, bench.state, len(bench.layout)
    for _ in range(10):
        know_parts(tables, state)
        carry_out(bench, random_plan(bench, rng))
        label = component_labels(bench.links, n)
        parts = len(np.unique(label))
        assert bench.parts == count_parts(tables, state) == parts
        for _ in range(3):
            i, j = rng.integers(0, n, 2).tolist()
            assert joined(tables, state, i, j) == (label[i] == label[j])
        assert parts_after(tables, state, float(n)) == parts
        enough = float(rng.integers(1, n + 1))
        assert min(parts_after(tables, state, enough), enough + 1) == min(parts, enough + 1)
        gain_or_less(tables, state, -np.inf)
        make(tables, state)


def test_one_change_can_give_almost_every_link_another_share() -> None:
    """Of nodes with one antenna each, all of one parity linked with all of the other, of which there is one more."""
    n = 21
    layout = Layout(_ring(n), Radio(sectors=1, theta_max=np.pi, range=1e3))
    parity = np.arange(n) % 2
    pairs = np.argwhere(np.triu(parity[:, None] != parity))
    bench = Workbench(layout)
    bench.put(pairs, parity)
    of_node = bench.slots(pairs[(pairs == 0).any(axis=1)])
    foretold = foretell(bench, Plan(tuple(of_node.tolist()), 0, ()))
    assert bench.state.sizes[SHARED] == len(pairs) - len(of_node)
    before = bench.throughput
    make(bench.tables, bench.state)
    assert bench.throughput - before == pytest.approx(foretold, abs=1e-9)
    assert_as_from_scratch(bench)


def test_a_change_that_cuts_a_pin_says_so() -> None:
    layout = Layout(_ring(6)).pinned(np.array([[0, 1]]), np.zeros((6, 6), dtype=np.bool_))
    bench = Workbench(layout)
    bench.put(np.array([[0, 1], [2, 3]]), np.arange(6) % 2)
    for slot, pinned in zip(bench.slots(bench.links), (True, False), strict=True):
        assert (bench.tables.ints[GRADE, slot] == PINNED) == pinned
        unlink(bench.tables, bench.state, slot)
        assert bool(bench.state.sizes[REFUSED]) == pinned
        forget(bench.tables, bench.state)
        assert not bench.state.sizes[REFUSED]


def test_a_bench_reads_back_what_it_was_given_and_forgets_what_was_there_before() -> None:
    bench = Workbench(Layout(_ring(6)))
    chain = Topology([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], [0, 1, 0, 1, 0, 1])
    other = Topology([(0, 5), (1, 2)], [1, 0, 1, 0, 0, 0])
    for topology in (chain, other, chain):
        bench.put(topology.links, topology.parity)
        assert Topology(bench.links, bench.parity) == topology
        alone = Workbench(bench.layout)
        alone.put(topology.links, topology.parity)
        assert held(bench) == held(alone)
        slots = bench.slots(topology.links)
        assert np.array_equal(bench.tables.ints[[OWNER, PEER]][:, slots].T, topology.links)


def test_random_numbers_are_uniform_and_streams_differ() -> None:
    rng = seeded(7, 0)
    draws = np.array([uniform(rng) for _ in range(20_000)])
    assert draws.min() >= 0.0 and draws.max() < 1.0
    counts = np.histogram(draws, bins=20, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 45  # chi-square, 19 degrees of freedom, p = 0.0007
    whole = np.array([below(rng, 5) for _ in range(1000)])
    assert set(whole.tolist()) == {0, 1, 2, 3, 4}
    assert uniform(seeded(7, 1)) != uniform(seeded(7, 0)) != uniform(seeded(8, 0))
    assert uniform(seeded(7, 1)) == uniform(seeded(7, 1))


def _ring(n: int) -> Fleet:
    angle = 2 * np.pi * (np.arange(n) + 0.1) / n
    return Fleet(np.stack([np.cos(angle), np.sin(angle)], axis=1), angle)
