"""Which pairs of a fleet are looked at, held against the rule in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio
from manetdiff.layout import Layout
from manetdiff.layout.choosing import CANDIDATE, ENOUGH, UNLIMITED, Limits
from manetdiff.layout.tables import GRADE, OWNER, PEER
from manetdiff.radio.pairs import EVERY_PAIR
from manetdiff.topology import component_labels
from support.pairs import every_pair, linkable

Pairs = set[tuple[int, int]]


@st.composite
def layouts(draw: st.DrawFn, smallest: int = 2, largest: int = 200) -> Layout:
    """Fleets of any size under radios that reach few or all nodes, with and without what keeps pairs apart."""
    n = draw(st.integers(smallest, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    axes = draw(st.sampled_from([2, 3]))
    arcs = [rng.uniform(-6, 6, (rng.integers(0, 3), 2)) for _ in range(n)] if draw(st.booleans()) else None
    fleet = Fleet(rng.normal(size=(n, axes)), rng.uniform(-3, 3, n), blocked=arcs)
    radio = Radio(
        range=draw(st.sampled_from([0.3, 1.0, 2.5, 9.0])),
        sectors=draw(st.sampled_from([1, 2, 3, 4, 6, 8, 12])),
        boresight=draw(st.sampled_from([0.0, 0.4])),
        min_snr=draw(st.sampled_from([None, 3.0])),
        reception=draw(st.sampled_from(["sectored", "omni"])),
    )
    limits = draw(st.sampled_from([ENOUGH, Limits(1, 5), Limits(3, 20), UNLIMITED]))
    return Layout(fleet, radio, limits)


def candidates(layout: Layout) -> Pairs:
    return set(map(tuple, layout.candidates.tolist()))


def shortest_forest(layout: Layout) -> Pairs:
    """Kruskal over all pairs that may be linked."""
    possible, distance = linkable(layout.fleet, layout.radio), every_pair(layout.fleet, layout.radio).distance
    label = list(range(len(layout)))
    forest: Pairs = set()
    for i, j in sorted(map(tuple, np.argwhere(np.triu(possible))), key=lambda pair: float(distance[pair])):
        if label[i] != label[j]:
            forest.add((int(i), int(j)))
            label = [label[i] if one == label[j] else one for one in label]
    return forest


def nearest_by_antenna(layout: Layout) -> dict[tuple[int, int], list[int]]:
    """Of each antenna all the nodes that it may be linked with, the nearest first."""
    possible, values = linkable(layout.fleet, layout.radio), every_pair(layout.fleet, layout.radio)
    by_antenna: dict[tuple[int, int], list[int]] = {}
    for i in range(len(layout)):
        for j in sorted(np.flatnonzero(possible[i]).tolist(), key=lambda k: float(values.distance[i, k])):
            by_antenna.setdefault((i, int(values.sector[i, j])), []).append(j)
    return by_antenna


@given(layouts())
@settings(max_examples=40)
def test_candidates_are_mutually_near_or_nearest_or_in_the_forest(layout: Layout) -> None:
    """Nobody else is, whatever the size, the radio and the limits."""
    limits = layout.limits
    most = len(layout) if limits.antenna is None else limits.antenna
    wanted, nearest = set(), set()
    for (i, _), others in nearest_by_antenna(layout).items():
        wanted |= {(i, j) for j in others[:most]}
        nearest |= {(min(i, j), max(i, j)) for j in others[:1]}
    mutual = {(i, j) for i, j in wanted if i < j and (j, i) in wanted}
    forest = shortest_forest(layout)
    assert set(map(tuple, layout.choice.tree.tolist())) == forest
    assert candidates(layout) == mutual | nearest | forest


@given(layouts())
@settings(max_examples=40)
def test_candidates_join_whatever_can_be_joined(layout: Layout) -> None:
    n = len(layout)
    possible = np.argwhere(np.triu(linkable(layout.fleet, layout.radio)))
    expected = component_labels(possible, n)
    assert np.array_equal(component_labels(layout.candidates, n), expected)
    assert np.array_equal(component_labels(layout.choice.tree, n), expected)
    assert layout.connectable == (expected.max() == 0)


@given(layouts(smallest=EVERY_PAIR + 1))
@settings(max_examples=20)
def test_of_a_large_fleet_the_nearest_are_heard_and_every_node_is_heard_without_limits(layout: Layout) -> None:
    n = len(layout)
    limits = layout.limits
    near = n - 1 if limits.near is None else limits.near
    distance = every_pair(layout.fleet, layout.radio).distance
    heard = np.zeros((n, n), dtype=np.bool_)
    heard[layout.choice.first, layout.choice.second] = True
    assert np.array_equal(heard, heard.T)
    follows = np.zeros((n, n), dtype=np.bool_)
    np.put_along_axis(follows, np.argsort(distance, axis=1)[:, 1 : near + 1], True, axis=1)
    expected = follows | follows.T
    pairs = np.concatenate([layout.candidates, layout.candidates[:, ::-1]])
    expected[pairs[:, 0], pairs[:, 1]] = True
    assert np.array_equal(heard, expected)


@given(layouts(smallest=3), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_what_is_kept_or_asked_for_is_there_and_what_is_banned_is_not(layout: Layout, seed: int) -> None:
    rng, n = np.random.default_rng(seed), len(layout)
    possible = rng.permutation(np.argwhere(np.triu(linkable(layout.fleet, layout.radio))))
    keep, extra = possible[:2], possible[2:5]
    banned = rng.random((n, n)) < 0.3
    banned |= banned.T
    for i, j in np.concatenate([keep, extra]):
        banned[i, j] = banned[j, i] = False
    bound = Layout(layout.fleet, layout.radio, layout.limits, keep, banned, extra)
    assert set(map(tuple, np.concatenate([keep, extra]).tolist())) <= candidates(bound)
    assert not banned[bound.candidates[:, 0], bound.candidates[:, 1]].any()
    # Nor can a search hold what is banned, if only because somebody asks it to.
    ints = bound.tables.ints
    assert not banned[ints[OWNER], ints[PEER]][ints[GRADE] > 0].any()
    assert not bound.linkable(np.argwhere(np.triu(banned, 1))).any()
    whole = bound.including(np.argwhere(np.triu(np.ones((n, n)), 1)))
    assert not banned[whole.candidates[:, 0], whole.candidates[:, 1]].any()


@pytest.mark.parametrize("sectors", [1, 3, 4, 8, 12])
def test_the_candidates_of_an_antenna_are_few_at_any_size(sectors: int) -> None:
    """But for edges of the forest and those who have nobody nearer."""
    radio = Radio(unit=1.0, range=4.0, sectors=sectors)
    few = ENOUGH.antenna
    assert few is not None
    for n in (2, 30, 150, 400):
        rng = np.random.default_rng(n)
        layout = Layout(Fleet(rng.uniform(0, math.sqrt(n), (n, 2)), rng.uniform(-3, 3, n)), radio)
        forced = shortest_forest(layout)
        for (i, _), others in nearest_by_antenna(layout).items():
            forced.add((min(i, others[0]), max(i, others[0])))
        sector = every_pair(layout.fleet, radio).sector
        loads = np.zeros((n, sectors), dtype=np.int64)
        for i, j in candidates(layout) - forced:
            loads[i, sector[i, j]] += 1
            loads[j, sector[j, i]] += 1
        assert loads.max() <= few


def test_a_layout_including_links_has_them_and_all_that_it_had() -> None:
    rng = np.random.default_rng(5)
    fleet = Fleet(rng.uniform(0, 12, (150, 2)), rng.uniform(-3, 3, 150))
    layout = Layout(fleet, Radio(unit=1.0, range=6.0))
    far = np.array([[0, int(np.argmax(every_pair(fleet, layout.radio).distance[0]))]])
    assert not layout.linkable(far).any()
    possible, known = np.argwhere(np.triu(linkable(fleet, layout.radio))), candidates(layout)
    more = np.array([pair for pair in possible.tolist() if tuple(pair) not in known][::200])
    assert len(more) > 4
    assert layout.including(far) is layout.including(layout.candidates[::3]) is layout
    # In any order of the two nodes, and only what may be linked.
    wider = layout.including(np.concatenate([far, more[:4], more[4:, ::-1]]))
    assert candidates(wider) == known | set(map(tuple, more.tolist()))
    assert wider.placement is layout.placement
    assert wider.including(more) is wider
    assert candidates(wider.including(possible)) == set(map(tuple, possible.tolist()))
    # All pairs of a small fleet can be held in any case.
    small = Layout(fleet.part(range(20)), layout.radio, Limits(1, None))
    assert small.including(np.array([[0, 1]])) is small


def test_pins_reach_any_distance_within_range() -> None:
    rng = np.random.default_rng(6)
    fleet = Fleet(rng.normal(size=(120, 2)), rng.uniform(-3, 3, 120))
    layout = Layout(fleet, Radio(range=9.0))
    pair = np.unravel_index(int(np.argmax(every_pair(fleet).distance)), (120, 120))
    keep = np.array([sorted(pair)], dtype=np.int64)
    assert tuple(keep[0].tolist()) not in candidates(layout)
    pinned = layout.pinned(keep, np.zeros((120, 120), dtype=np.bool_))
    assert tuple(keep[0].tolist()) in candidates(pinned)
    assert (pinned.choice.grade > CANDIDATE).sum() == 2


@pytest.mark.parametrize("n", [40, 90])
def test_links_that_are_proposed_are_candidates_if_they_may_be_linked(n: int) -> None:
    rng = np.random.default_rng(n)
    layout = Layout(Fleet(rng.uniform(0, 6, (n, 2)), rng.uniform(-3, 3, n)), Radio(unit=1.0))
    every = np.argwhere(np.triu(np.ones((n, n)), 1))
    possible, own = layout.linkable(every), candidates(layout)
    asked = np.concatenate([every[possible][::5], every[~possible][::5]])
    wider = layout.proposing(asked)
    assert candidates(wider) == own | set(map(tuple, every[possible][::5].tolist())) > own
    assert wider.placement is layout.placement
    assert layout.proposing(every[~possible]) is layout
