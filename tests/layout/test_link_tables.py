"""What compiled code looks up, held against what the physics says of every pair."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff.layout import Layout
from manetdiff.layout.choosing import CANDIDATE, HEARD, LINKABLE
from manetdiff.layout.tables import (
    ANTENNA,
    ANTENNAS,
    BEAM_FROM,
    BEAM_TO,
    BEARING,
    BY_ANTENNA,
    BY_DISTANCE,
    DISTANCE,
    FACING,
    FADE,
    FAN_ANTENNA,
    FAN_NODE,
    FAN_SLOT,
    FEWEST_PARTS,
    GAIN_AT,
    GRADE,
    HEARD_FROM,
    HEARD_TO,
    NEAREST,
    OWNER,
    PEER,
    PINS,
    REVERSE,
    SENT,
    SIGNAL,
    SLOTS,
    narrowed,
)
from manetdiff.radio.pairs import EVERY_PAIR
from manetdiff.topology import component_labels
from support.pairs import every_pair, linkable
from support.strategies import fleets, radios


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Small fleets, and a few that are large, of any kind under any radio."""
    smallest, largest = draw(st.sampled_from([(2, 12), (2, 12), (2, 12), (EVERY_PAIR, EVERY_PAIR + 20)]))
    axes, blocked = draw(st.sampled_from([2, 3])), draw(st.booleans())
    fleet = draw(fleets(smallest=smallest, largest=largest, axes=axes, blocked=blocked))
    return Layout(fleet, draw(radios(options=True)))


def some_slots(layout: Layout) -> range:
    """All of a small fleet."""
    return range(0, layout.tables.slots, 1 + layout.tables.slots // 200)


@given(layouts())
@settings(max_examples=60)
def test_slots_say_of_their_pair_what_the_physics_does(layout: Layout) -> None:
    tables, values = layout.tables, every_pair(layout.fleet, layout.radio)
    owner, peer = tables.ints[[OWNER, PEER]]
    assert tables.nodes == len(layout) and tables.slots == len(owner)
    for row, value in (
        (DISTANCE, values.distance),
        (BEARING, values.bearing),
        (SENT, values.sent),
        (SIGNAL, values.signal),
        (FADE, values.fade),
    ):
        assert np.array_equal(tables.floats[row], value[owner, peer])
    assert np.array_equal(tables.ints[ANTENNA], owner * layout.radio.sectors + values.sector[owner, peer])
    possible = linkable(layout.fleet, layout.radio)[owner, peer]
    assert possible[tables.ints[GRADE] > HEARD].all()
    if len(layout) <= EVERY_PAIR:
        # Every pair is there, once in each direction, and all that may be linked can be.
        assert (
            len(set(zip(owner.tolist(), peer.tolist(), strict=True))) == len(layout) * (len(layout) - 1) == len(owner)
        )
        assert np.array_equal(tables.ints[GRADE] >= LINKABLE, possible)
    possible_pairs = np.argwhere(linkable(layout.fleet, layout.radio))
    assert tables.constants[PINS] == 0
    assert tables.constants[FEWEST_PARTS] == len(np.unique(component_labels(possible_pairs, len(layout))))


@given(layouts())
@settings(max_examples=60)
def test_slots_of_a_node_stand_together_and_know_their_reverse(layout: Layout) -> None:
    ints, starts, n = layout.tables.ints, layout.tables.starts, len(layout)
    slots = np.arange(layout.tables.slots)
    assert np.array_equal(ints[REVERSE][ints[REVERSE]], slots)
    assert np.array_equal(ints[OWNER][ints[REVERSE]], ints[PEER])
    assert np.array_equal(ints[GRADE][ints[REVERSE]], ints[GRADE])
    assert np.array_equal(np.repeat(np.arange(n), np.diff(starts[SLOTS, : n + 1])), ints[OWNER])
    # Each antenna has room for as many links as there are nodes that it looks at.
    room = np.diff(starts[ANTENNAS])
    assert np.array_equal(room, np.bincount(ints[ANTENNA], minlength=len(room)))
    assert starts[ANTENNAS, 0] == 0


@given(layouts())
@settings(max_examples=60)
def test_candidates_are_listed_by_node_and_by_antenna_the_nearest_first(layout: Layout) -> None:
    tables = layout.tables
    chosen = np.flatnonzero(tables.ints[GRADE] >= CANDIDATE)
    for row, start, of in ((BY_DISTANCE, NEAREST, OWNER), (BY_ANTENNA, FACING, ANTENNA)):
        assert sorted(tables.lists[row].tolist()) == chosen.tolist()
        count = len(layout) * (1 if of == OWNER else layout.radio.sectors)
        for k in range(count):
            own = tables.lists[row, tables.starts[start, k] : tables.starts[start, k + 1]]
            assert np.array_equal(np.sort(own), chosen[tables.ints[of, chosen] == k])
            assert (np.diff(tables.floats[DISTANCE, own]) >= 0).all()


@given(layouts())
@settings(max_examples=60)
def test_a_beam_reaches_whom_its_cone_does_and_a_steered_one_everybody(layout: Layout) -> None:
    tables, values = layout.tables, every_pair(layout.fleet, layout.radio)
    ints = tables.ints
    for slot in some_slots(layout):
        i, aim = ints[OWNER, slot], ints[PEER, slot]
        under = tables.fan[:, ints[BEAM_FROM, slot] : ints[BEAM_TO, slot]]
        fade = tables.fan_fade[ints[BEAM_FROM, slot] : ints[BEAM_TO, slot]]
        known = ints[PEER, tables.starts[SLOTS, i] : tables.starts[SLOTS, i + 1]]
        apart = np.abs(values.bearing[i, aim] - values.bearing[i, known])
        inside = np.minimum(apart, 2 * math.pi - apart) <= layout.radio.theta_max
        expected = known[inside] if layout.radio.pattern == "cone" else known
        assert sorted(under[FAN_NODE].tolist()) == sorted(expected.tolist())
        assert (ints[OWNER, under[FAN_SLOT]] == under[FAN_NODE]).all()
        assert (ints[PEER, under[FAN_SLOT]] == i).all()
        assert np.array_equal(under[FAN_ANTENNA], ints[ANTENNA, under[FAN_SLOT]])
        assert np.array_equal(fade, values.fade[i, under[FAN_NODE]])


@given(layouts())
@settings(max_examples=60)
def test_a_receiver_hears_its_sector_or_everybody(layout: Layout) -> None:
    ints, starts = layout.tables.ints, layout.tables.starts
    sectored = layout.radio.pattern == "cone" and layout.radio.reception == "sectored"
    for slot in some_slots(layout):
        heard = np.arange(ints[HEARD_FROM, slot], ints[HEARD_TO, slot])
        i = ints[OWNER, slot]
        own = np.arange(starts[SLOTS, i], starts[SLOTS, i + 1])
        assert heard.tolist() == (own[ints[ANTENNA, own] == ints[ANTENNA, slot]] if sectored else own).tolist()


@given(layouts())
@settings(max_examples=60)
def test_the_gains_of_a_beam_are_those_towards_each_slot_of_its_owner(layout: Layout) -> None:
    tables, place = layout.tables, layout.placement
    if not place.steers:
        assert len(tables.gain) == 0
        return
    ints = tables.ints
    aims = np.flatnonzero(ints[GRADE] >= LINKABLE)
    for slot in aims[:: 1 + len(aims) // 100]:
        i = ints[OWNER, slot]
        own = np.arange(tables.starts[SLOTS, i], tables.starts[SLOTS, i + 1])
        found = tables.gain[ints[GAIN_AT, slot] : ints[GAIN_AT, slot] + len(own)]
        expected = place.gain(place.pairs(i, ints[[PEER], slot]), place.pairs(i, ints[PEER, own]))[0]
        # Products of matrices of other shapes have other last bits.
        assert np.allclose(found, expected, rtol=1e-9, atol=0)
    lengths = np.diff(tables.starts[SLOTS, : len(layout) + 1])[ints[OWNER, aims]]
    assert len(tables.gain) == lengths.sum()


@settings(max_examples=40, deadline=None)
@given(layouts(), st.integers(0, 2**32 - 1))
def test_narrowed_tables_list_what_is_wanted_in_the_same_order(layout: Layout, seed: int) -> None:
    tables = layout.tables
    wanted = np.random.default_rng(seed).random(tables.slots) < 0.5
    wanted |= wanted[tables.ints[REVERSE]]
    made = narrowed(tables, wanted)
    groups = len(layout) * layout.radio.sectors
    for row, begins, count in ((BY_DISTANCE, NEAREST, len(layout)), (BY_ANTENNA, FACING, groups)):
        for group in range(count):
            before, after = (
                one.lists[row, one.starts[begins, group] : one.starts[begins, group + 1]] for one in (tables, made)
            )
            assert after.tolist() == [slot for slot in before if wanted[slot]]
    assert np.array_equal(made.starts[[SLOTS, ANTENNAS]], tables.starts[[SLOTS, ANTENNAS]])
