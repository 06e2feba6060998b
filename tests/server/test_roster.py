"""Who is in a network: the newest report of each node counts, clocks may not jump, and silence is noticed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.server.errors import ConflictError, RefusedError
from manetdiff.server.messages_in import Positions
from manetdiff.server.roster import Roster, fleet_of

PATIENCE = 10.0


def _report(time: float, *nodes: dict[str, Any], complete: bool = False) -> Positions:
    return Positions.model_validate({"time": time, "nodes": list(nodes), "complete": complete})


def _at(name: str, x: float, y: float = 0.0, **more: float) -> dict[str, Any]:
    return {"id": name, "x": x, "y": y, **more}


def _places(roster: Roster) -> dict[str, float]:
    return {one.node.id: one.node.x for one in roster.seen()}  # type: ignore[union-attr]


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 20)), min_size=1, max_size=30))
def test_the_newest_report_of_each_node_counts_in_whatever_order_they_come(reports: list[tuple[str, int]]) -> None:
    roster = Roster(10)
    newest: dict[str, int] = {}
    older = 0
    for name, time in reports:
        older += roster.merge(_report(time, _at(name, x=time)), now=0.0, patience=PATIENCE).older
        newest[name] = max(time, newest.get(name, -1))
    assert _places(roster) == newest
    assert older == sum(
        time < max([t for n, t in reports[:k] if n == name], default=-1) for k, (name, time) in enumerate(reports)
    )


def test_a_complete_report_says_who_has_left() -> None:
    roster = Roster(10)
    roster.merge(_report(0, _at("A", 0), _at("B", 1), _at("C", 2)), 0.0, PATIENCE)
    roster.merge(_report(1, _at("A", 5), _at("C", 6), complete=True), 0.0, PATIENCE)
    assert _places(roster) == {"A": 5, "C": 6}


def test_a_node_is_stale_by_either_clock_and_then_gone() -> None:
    roster = Roster(10)
    roster.merge(_report(0, _at("A", 0), _at("B", 1), _at("C", 2)), 0.0, PATIENCE)
    roster.merge(_report(4, _at("A", 0), _at("C", 2)), 4.0, PATIENCE)
    assert roster.stale(4.0, 5.0) == frozenset()
    roster.merge(_report(6, _at("A", 0), _at("C", 2)), 4.1, PATIENCE)  # senders that replay faster than time
    assert roster.stale(4.1, 5.0) == {"B"}
    assert roster.stale(10.0, 5.0) == {"A", "B", "C"}
    assert roster.take_out(4.1, 5.0) == {"B"}
    roster.merge(_report(7, _at("B", 9)), 5.0, PATIENCE)
    assert _places(roster) == {"A": 0, "B": 9, "C": 2}


def test_one_node_with_a_clock_ahead_makes_nobody_else_old() -> None:
    roster = Roster(10)
    roster.merge(_report(100, *(_at(name, k) for k, name in enumerate("ABCDE"))), 0.0, PATIENCE)
    for second in range(1, 40):
        roster.merge(_report(160 + second, _at("A", 0)), float(second), PATIENCE)
        taken = roster.merge(_report(100 + second, *(_at(name, second) for name in "BCDE")), float(second), PATIENCE)
        assert taken.taken == 4
        assert roster.stale(float(second), 30.0) == frozenset()


def test_after_silence_clocks_may_begin_anew_also_a_little_earlier() -> None:
    roster = Roster(10)
    roster.merge(_report(100, _at("A", 0), _at("B", 1)), 0.0, PATIENCE)
    assert roster.merge(_report(50, _at("A", 5)), 1.0, PATIENCE).older == 1
    assert roster.merge(_report(0, _at("A", 7), _at("B", 8)), 20.0, PATIENCE) == (2, 0, 0, 0)
    assert roster.clock == 0


@pytest.mark.parametrize("jump", [1e6, -1e6])
def test_a_clock_that_jumps_is_refused_until_there_has_been_silence(jump: float) -> None:
    roster = Roster(10)
    roster.merge(_report(1e6, _at("A", 0)), 0.0, PATIENCE)
    with pytest.raises(ConflictError, match="clock"):
        roster.merge(_report(1e6 + jump, _at("A", 1)), 1.0, PATIENCE)
    assert _places(roster) == {"A": 0}
    roster.merge(_report(1e6 + jump, _at("A", 1)), 20.0, PATIENCE)
    assert _places(roster) == {"A": 1}
    assert roster.clock == 1e6 + jump


def test_what_does_not_fit_the_others_is_refused_whole() -> None:
    roster = Roster(3)
    roster.merge(_report(0, _at("A", 0), _at("B", 1)), 0.0, PATIENCE)
    earth = {"id": "C", "lat": 1.0, "lon": 2.0}
    for wrong, why in [
        ([_at("A", 5), earth], "metres"),
        ([_at("A", 5, z=100.0)], "height"),
        ([_at("A", 5), _at("A", 6)], "twice"),
        ([_at("A", 5), _at("C", 6), _at("D", 7)], "at most 3"),
    ]:
        with pytest.raises(RefusedError, match=why):
            roster.merge(_report(1, *wrong), 1.0, PATIENCE)
        assert _places(roster) == {"A": 0, "B": 1}


def test_where_a_node_points_is_taken_from_its_movement_if_it_does_not_say_so() -> None:
    roster = Roster(3)
    roster.merge(_report(0, _at("A", 0, yaw=1.0), _at("B", 1)), 0.0, PATIENCE)
    roster.merge(_report(1, _at("A", 0), _at("B", 1, 5)), 0.0, PATIENCE)
    assert [one.pointing for one in roster.seen()] == [1.0, math.pi / 2]
    earth = Roster(3)
    for time, lon in enumerate([359.9, 0.1]):
        earth.merge(_report(time, {"id": "A", "lat": 0.0, "lon": lon}), 0.0, PATIENCE)
    assert earth.seen()[0].pointing == 90.0


def test_a_fleet_of_degrees_keeps_its_frame_until_it_has_gone_far() -> None:
    roster = Roster(3)

    def at(time: float, lat: float) -> Any:
        nodes = [{"id": name, "lat": lat + k / 100, "lon": 8.0, "heading": 90.0} for k, name in enumerate("AB")]
        roster.merge(_report(time, *nodes), 0.0, PATIENCE)
        return roster.seen()

    first = fleet_of(at(0, 47.0), None)
    near = fleet_of(at(1, 47.1), first.frame)
    assert near.frame == first.frame
    assert np.allclose(near.horizontal - first.horizontal, [[0.0, 11_120.0]] * 2, atol=20.0)
    assert np.allclose(first.yaw, 0.0, atol=1e-9)
    far = fleet_of(at(2, 49.0), near.frame)
    assert far.frame != first.frame


def test_nodes_that_say_they_are_in_one_place_are_set_a_little_apart() -> None:
    roster = Roster(10)
    roster.merge(_report(0, *(_at(name, 3.0, 4.0) for name in "ABCD"), _at("E", 500.0)), 0.0, PATIENCE)
    fleet = fleet_of(roster.seen(), None)
    assert np.abs(fleet.horizontal[:4] - [3.0, 4.0]).max() < 1.0
