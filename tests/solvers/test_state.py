"""The incremental state must agree with scoring from scratch, whatever is done to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology
from manetdiff.radio import link_rates, link_tables
from manetdiff.solvers.gains import gain_of_dropping, gain_of_free_link, gain_of_replacing
from manetdiff.solvers.rng import below, seeded, uniform
from manetdiff.solvers.state import (
    RATE,
    STRAY,
    add_link,
    begin,
    cut_since_begin,
    flip_parity,
    linked,
    new_state,
    read_links,
    remove_link,
    rollback,
    settle,
    total,
)
from manetdiff.solvers.walks import LOAD, count_parts, joined, label_components
from manetdiff.topology import component_labels
from support.strategies import fleets, radios

NO_LINKS = np.empty((0, 2), dtype=np.int64)


@given(st.data(), radios(), st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999), st.booleans()), max_size=60))
@settings(max_examples=150)
def test_incremental_and_full_scores_agree_after_any_changes(
    data: st.DataObject, radio: Radio, changes: list[tuple[int, int, bool]]
) -> None:
    fleet = data.draw(fleets(smallest=3))
    n = len(fleet)
    tables = link_tables(fleet, radio)
    state = new_state(tables, NO_LINKS, np.arange(n) % 2)
    for first, second, keep in changes:
        i, j = first % n, second % n
        before, parity_before, links_before = total(state), state.parity.copy(), read_links(state)
        begin(state)
        if i == j:
            for k in range(n):
                if linked(state, i, k):
                    remove_link(tables, state, i, k)
            flip_parity(state, i)
        elif linked(state, i, j):
            remove_link(tables, state, i, j)
        elif state.parity[i] != state.parity[j]:
            add_link(tables, state, i, j)
        settle(tables, state)
        if not keep:
            rollback(state, before)
            assert total(state) == before
            assert np.array_equal(state.parity, parity_before)
            assert np.array_equal(read_links(state), links_before)
        links = read_links(state)
        expected = link_rates(tables, links, state.parity)
        assert total(state) == pytest.approx(expected.sum(), rel=1e-9, abs=1e-9)
        assert state.floats[RATE][links[:, 0], links[:, 1]] == pytest.approx(expected[:, 0], rel=1e-9, abs=1e-9)
        assert state.floats[RATE][links[:, 1], links[:, 0]] == pytest.approx(expected[:, 1], rel=1e-9, abs=1e-9)


@given(st.data(), radios(), st.integers(0, 2**32 - 1))
def test_gains_foretell_what_a_change_does_and_change_nothing(data: st.DataObject, radio: Radio, seed: int) -> None:
    fleet = data.draw(fleets(smallest=3))
    n = len(fleet)
    tables = link_tables(fleet, radio)
    parity = np.random.default_rng(seed).integers(0, 2, n)
    state = new_state(tables, NO_LINKS, parity)
    for i, j in np.random.default_rng(seed).permutation(np.argwhere(np.triu(np.ones((n, n)), 1))):
        a, b = tables.sector[i, j], tables.sector[j, i]
        if parity[i] == parity[j] or state.ints[LOAD, i, a] or state.ints[LOAD, j, b]:
            continue
        before = total(state)
        gain = gain_of_free_link(tables, state, i, j)
        assert total(state) == before
        add_link(tables, state, i, j)
        settle(tables, state)
        begin(state)
        assert total(state) - before == pytest.approx(gain, abs=1e-9)
        assert gain_of_dropping(tables, state, i, j) == pytest.approx(-gain, abs=1e-9)


@given(st.data(), radios(), st.integers(0, 2**32 - 1))
def test_the_gain_of_replacing_links_is_that_of_doing_it(data: st.DataObject, radio: Radio, seed: int) -> None:
    fleet = data.draw(fleets(smallest=4, largest=16))
    n = len(fleet)
    tables = link_tables(fleet, radio)
    rng = np.random.default_rng(seed)
    parity = rng.integers(0, 2, n)
    state = new_state(tables, NO_LINKS, parity)
    for i, j in rng.permutation(np.argwhere(np.triu(parity[:, None] != parity, 1))):
        a, b = tables.sector[i, j], tables.sector[j, i]
        old_i = int(state.peers[i, a, 0]) if state.ints[LOAD, i, a] else -1
        old_j = int(state.peers[j, b, 0]) if state.ints[LOAD, j, b] else -1
        if linked(state, i, j):
            continue
        before, stray = total(state), state.floats[STRAY].copy()
        gain = gain_of_replacing(tables, state, i, j, old_i, old_j)
        assert total(state) == before
        assert np.array_equal(state.floats[STRAY], stray)
        for end, old in ((i, old_i), (j, old_j)):
            if old >= 0:
                remove_link(tables, state, end, old)
        add_link(tables, state, i, j)
        settle(tables, state)
        begin(state)
        assert total(state) - before == pytest.approx(gain, abs=1e-9)


@given(st.data(), st.integers(0, 2**32 - 1))
def test_graph_walks_agree_with_union_find(data: st.DataObject, seed: int) -> None:
    fleet = data.draw(fleets(smallest=3))
    n = len(fleet)
    tables = link_tables(fleet, Radio())
    rng = np.random.default_rng(seed)
    parity = rng.integers(0, 2, n)
    pairs = np.argwhere(np.triu((rng.random((n, n)) < 0.2) & (parity[:, None] != parity), 1))
    state = new_state(tables, pairs, parity)
    label = np.empty(n, dtype=np.int64)
    expected = component_labels(pairs, n)
    assert label_components(state, label) == len(np.unique(expected))
    assert np.array_equal(label, expected)
    for i, j in pairs:
        begin(state)
        remove_link(tables, state, i, j)
        rest = component_labels(read_links(state), n)
        assert joined(state, i, j) == (rest[i] == rest[j])
        assert cut_since_begin(state)
        assert count_parts(state) == len(np.unique(rest))
        rollback(state, total(state))


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


def test_a_state_reads_back_what_it_was_given() -> None:
    fleet_tables = link_tables(_ring(6), Radio())
    given_topology = Topology([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)], [0, 1, 0, 1, 0, 1])
    state = new_state(fleet_tables, given_topology.links, given_topology.parity)
    assert Topology(read_links(state), state.parity) == given_topology


def _ring(n: int) -> Fleet:

    angle = 2 * np.pi * (np.arange(n) + 0.1) / n
    return Fleet(np.stack([np.cos(angle), np.sin(angle)], axis=1), angle)
