"""Tracks: where a node is and points between its waypoints, who is there, and which moments there are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.errors import FleetError
from manetdiff.fleet import Track, Tracks
from manetdiff.fleet.geodetic import LocalFrame

Waypoint = tuple[float, float, float]  # time, x, y


def track(name: str, *waypoints: Waypoint, yaw: list[float] | None = None) -> Track:
    rows = np.array(waypoints)
    return Track(name, rows[:, 0], rows[:, 1:], None if yaw is None else np.array(yaw))


RESTING = track("rest", (0, -50, -50))


WAYS: dict[str, tuple[list[Waypoint], dict[float, tuple[float, float]]]] = {
    "straight lines at one speed": (
        [(10, 0, 0), (20, 100, 50), (25, 100, 0)],
        {10: (0, 0), 12.5: (25, 12.5), 20: (100, 50), 21: (100, 40), 25: (100, 0)},
    ),
    "rest before the first waypoint and after the last": ([(10, 1, 2), (20, 3, 4)], {-5: (1, 2), 1e9: (3, 4)}),
    "a single waypoint": ([(0, 7, 8)], {-1: (7, 8), 0: (7, 8), 7: (7, 8)}),
    "a jump at its moment and not before": (
        [(0, 0, 0), (10, 10, 0), (10, 500, 500), (20, 500, 510)],
        {math.nextafter(10, 0): (10, 0), 10: (500, 500), 15: (500, 505)},
    ),
}


@pytest.mark.parametrize("case", WAYS)
def test_where_a_node_is(case: str) -> None:
    waypoints, places = WAYS[case]
    for time, place in places.items():
        assert track("a", *waypoints).place_at(time) == pytest.approx(place)


@given(st.integers(0, 2**32 - 1))
def test_places_between_two_waypoints_share_the_way_as_they_share_the_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times, places = np.cumsum(rng.uniform(0.1, 10, 6)), rng.normal(size=(6, 2)) * 1e3
    one = Track("a", times, places)
    leg, share = int(rng.integers(0, 5)), float(rng.random())
    time = float(times[leg] + share * (times[leg + 1] - times[leg]))
    assert one.place_at(time) == pytest.approx(places[leg] * (1 - share) + places[leg + 1] * share, abs=1e-6)
    assert one.place_at(float(times[leg])).tolist() == places[leg].tolist()


NORTH, EAST, SOUTH = math.pi / 2, 0, -math.pi / 2
DIRECTIONS: dict[str, tuple[list[Waypoint], dict[float, float]]] = {
    "where it goes": ([(0, 0, 0), (10, 10, 0), (20, 10, 10), (30, 0, 0)], {5: EAST, 10: NORTH, 25: -3 * math.pi / 4}),
    "at rest where it last went": (
        [(0, 0, 0), (10, 0, 10), (20, 0, 10), (30, 10, 10)],
        {15: NORTH, 20: EAST, 99: EAST},
    ),
    "before it has moved where it will go": (
        [(0, 0, 0), (10, 0, 0), (20, 0, -10), (30, 10, -10)],
        dict.fromkeys((-1, 0, 5, 15), SOUTH),
    ),
    "a jump is no direction": (
        [(0, 0, 0), (10, 10, 0), (10, 10, 500), (20, 10, 500), (20, 0, 0)],
        dict.fromkeys((10, 15, 20, 30), EAST),
    ),
    "east where it never moves": ([(0, 7, 8)], {-1: EAST, 7: EAST}),
}


@pytest.mark.parametrize("case", DIRECTIONS)
def test_where_a_node_points(case: str) -> None:
    waypoints, directions = DIRECTIONS[case]
    for time, yaw in directions.items():
        assert track("a", *waypoints).yaw_at(time) == pytest.approx(yaw)


@pytest.mark.parametrize(
    ("before", "after", "half"), [(0.0, 1.0, 0.5), (3.0, -3.0, math.pi), (-3.0, 3.0, -math.pi), (0.1, 6.2, 0.0084)]
)
def test_a_given_yaw_turns_the_shorter_way_round(before: float, after: float, half: float) -> None:
    one = track("a", (0, 0, 0), (10, 5, 5), yaw=[before, after])
    assert math.remainder(one.yaw_at(5) - half, 2 * math.pi) == pytest.approx(0, abs=1e-3)
    assert one.yaw_at(0) == before
    assert one.yaw_at(10) == after
    assert one.yaw_at(11) == after


@given(st.floats(-20, 20), st.floats(-20, 20), st.floats(0, 1))
def test_a_given_yaw_never_turns_by_more_than_half_a_turn(before: float, after: float, share: float) -> None:
    one = track("a", (0, 0, 0), (1, 5, 5), yaw=[before, after])
    assert abs(one.yaw_at(share) - before) <= math.pi + 1e-9


def heard(*times: float) -> Track:
    return track("heard", *((time, time, 0.0) for time in times))


def test_a_gap_is_the_time_between_the_waypoints_around() -> None:
    one = heard(0, 10, 100)
    assert [one.gap_at(time) for time in (5, 50, -1, 101)] == [10, 90, math.inf, math.inf]
    assert [one.gap_at(time) for time in (0, 10, 100)] == [0, 0, 0]


def test_a_node_is_absent_in_a_gap_that_is_too_long_but_not_at_its_reports() -> None:
    here = (track("p", (0, 0, 5), (50, 1, 5), (100, 2, 5)), track("q", (0, 0, 9), (50, 1, 9), (100, 2, 9)))
    tracks = Tracks((*here, heard(20, 30, 90)), longest_gap=60.0)
    there = {time: "heard" in tracks.at(time).ids for time in (0, 19.9, 20, 25, 30, 60, 90, 91)}
    assert there == {0: False, 19.9: False, 20: True, 25: True, 30: True, 60: True, 90: True, 91: False}
    tighter = Tracks(tracks.tracks, longest_gap=59.0)
    assert [("heard" in tighter.at(time).ids) for time in (30, 60, 90)] == [True, False, True]


def test_without_a_longest_gap_everybody_is_always_there() -> None:
    assert Tracks((RESTING, heard(0, 1e6))).at(5e5).ids == ("rest", "heard")
    assert Tracks((RESTING, heard(5, 6))).at(-100).ids == ("rest", "heard")


def test_a_fleet_keeps_order_yaw_and_frame() -> None:
    frame = LocalFrame(48.0, 11.0)
    fleet = Tracks((track("b", (0, 0, 0), (10, 0, 10)), track("a", (0, 5, 5), (10, 15, 5))), frame).at(5)
    assert fleet.ids == ("b", "a")
    assert fleet.positions.tolist() == [[0, 5], [10, 5]]
    assert fleet.yaw.tolist() == pytest.approx([math.pi / 2, 0])
    assert fleet.frame == frame


def test_start_and_end_are_of_all_nodes() -> None:
    tracks = Tracks((heard(5, 7), track("b", (6, 0, 0), (9, 1, 1))))
    assert (tracks.start, tracks.end, tracks.ids) == (5, 9, ("heard", "b"))


MOVING = Tracks((track("a", (2, 0, 0), (12, 10, 0)), track("b", (0, 5, 5), (10, 5, 15))))


def test_moments_go_from_the_first_waypoint_to_the_last() -> None:
    assert [MOVING.moments(step) for step in (4, 5, 100)] == [[0, 4, 8, 12], [0, 5, 10], [0]]
    bounds = ((3, 5), (20, 21.5), (7, 7))
    assert [MOVING.moments(1, *pair) for pair in bounds] == [[3, 4, 5], [20, 21], [7]]


@given(st.integers(1, 2000), st.sampled_from([0.1, 0.01, 1 / 3, 0.7, 1e-3]), st.sampled_from([0.0, 0.1, 1.7e9]))
def test_moments_end_exactly_at_the_end_whatever_rounding_does(count: int, step: float, start: float) -> None:
    end = round(start + count * step, 9)  # as a person writes it: 0.3, which is less than three times 0.1
    moments = MOVING.moments(step, start, end)
    assert moments[-1] <= end
    if step != 1 / 3:
        assert len(moments) == count + 1
    assert np.diff(moments) == pytest.approx(step, abs=1e-6)


NO_STEP = "the step must be a positive number of seconds"
NO_ORDER = "the start must not be after the end"
TOO_MANY = r"more than 1,000,000 moments: choose a longer one"


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        *(((step,), NO_STEP) for step in (0.0, -1.0, math.nan, math.inf)),
        *(((1, *bounds), NO_ORDER) for bounds in ((5, 4), (math.nan, 4), (0, math.inf), (-math.inf, 0), (0, math.nan))),
        *(((step,), TOO_MANY) for step in (1e-6, 1e-300, 5e-324)),
    ],
)
def test_moments_that_cannot_be_are_refused(asked: tuple[float, ...], problem: str) -> None:
    with pytest.raises(FleetError, match=problem):
        MOVING.moments(*asked)


CROSSING = Tracks((track("a", (0, -10, 0), (10, 10, 0)), track("b", (0, 0, -10), (10, 0, 10))))
APART = Tracks((heard(0, 5), track("b", (40, 0, 0), (50, 1, 1))), longest_gap=60)


@pytest.mark.parametrize(
    ("tracks", "time", "problem"),
    [
        (APART, 42, "^at 42 s fewer than two nodes are there"),
        (CROSSING, 5, "^at 5 s: nodes 'a' and 'b' are at the same place"),
        *((MOVING, time, "the time must be a finite number") for time in (math.nan, math.inf, -math.inf)),
    ],
)
def test_a_time_without_a_fleet_is_named(tracks: Tracks, time: float, problem: str) -> None:
    with pytest.raises(FleetError, match=problem):
        tracks.at(time)


def test_fleets_leave_out_the_moments_of_fewer_than_two_nodes() -> None:
    tracks = Tracks((heard(0, 5, 10), track("b", (3, 0, 9), (8, 1, 9))), longest_gap=60)
    assert [time for time, _ in tracks.fleets(tracks.moments(1))] == [3, 4, 5, 6, 7, 8]
    with pytest.raises(FleetError, match="at none of 3 moments two nodes are there"):
        list(tracks.fleets([0, 1, 2]))


@pytest.mark.parametrize(
    ("times", "places", "yaw", "problem"),
    [
        ([], np.empty((0, 2)), None, "a track needs a time and a place"),
        ([0, 1], [[0, 0]], None, "a track needs a time and a place"),
        ([0], [[0, 0, 0, 0]], None, "a track needs a time and a place"),
        ([[0]], [[0, 0]], None, "a track needs a time and a place"),
        ([0, math.nan], [[0, 0], [1, 1]], None, "a waypoint is not of finite numbers"),
        ([0, 1], [[0, 0], [1, math.inf]], None, "a waypoint is not of finite numbers"),
        ([0, 5, 3], [[0, 0]] * 3, None, "waypoint 3 at 3 s is before the one above it"),
        ([0, 1], [[0, 0], [1, 1]], [0], "yaw must be a finite number for each waypoint"),
        ([0, 1], [[0, 0], [1, 1]], [0, math.nan], "yaw must be a finite number for each waypoint"),
    ],
)
def test_a_bad_track_names_its_node(times: Any, places: Any, yaw: Any, problem: str) -> None:
    with pytest.raises(FleetError, match=f"^node 'A7': {problem}"):
        Track("A7", times, places, yaw)


def test_tracks_need_two_nodes_of_different_names() -> None:
    with pytest.raises(FleetError, match="at least two nodes, not 1"):
        Tracks((RESTING,))
    with pytest.raises(FleetError, match="node 'rest': the id stands twice"):
        Tracks((RESTING, RESTING))


def test_a_track_with_heights_climbs_and_points_where_it_goes_over_ground() -> None:
    climbing = Track("a", np.array([0, 10, 20]), np.array([[0, 0, 0], [100, 0, 50], [100, 0, 250]]))
    assert climbing.place_at(5).tolist() == [50, 0, 25]
    assert climbing.place_at(15).tolist() == [100, 0, 150]
    assert climbing.yaw_at(15) == 0.0  # it only climbs: it still points east
    level = Track("b", np.array([0, 20]), np.array([[0, 50, 10], [0, 90, 10]]))
    assert Tracks((climbing, level)).at(10).heights.tolist() == [50, 10]
    with pytest.raises(FleetError, match="'c' has no height"):
        Tracks((climbing, Track("c", np.array([0]), np.array([[5, 5]]))))
