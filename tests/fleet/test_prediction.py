"""Where a fleet will be if every node goes on as it did."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manetdiff as md
from manetdiff.errors import FleetError
from manetdiff.fleet import Fleet, predicted
from manetdiff.fleet.geodetic import wrapped
from support.strategies import assert_same, fleets, placed_fleets

FloatArray = npt.NDArray[np.float64]

BEFORE = Fleet([[0.0, 0.0], [100.0, 10.0], [50.0, 80.0]], [0.1, 2.0, -3.0], ["a", "b", "c"])
MOVED = np.array([[10.0, 2.0], [9.0, 3.0], [8.0, -1.0]])
AFTER = BEFORE.replace(BEFORE.positions + MOVED)

times = st.floats(0.01, 30.0)


def on_circles(time: float) -> Fleet:
    """Nodes on circles of their own, one of them clockwise, which point elsewhere than they fly."""
    middle = np.array([[0.0, 0.0], [500.0, 0.0], [0.0, 700.0]])
    radius, rate = np.array([100.0, 60.0, 200.0]), np.array([0.1, -0.05, 0.02])
    angle = np.array([0.3, 1.7, -2.0]) + rate * time
    around = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return Fleet(middle + around, wrapped(angle + np.array([0.4, -1.0, 3.0])))


def test_it_is_public() -> None:
    assert md.predicted is predicted


@pytest.mark.parametrize(
    ("seconds", "since", "steps"), [(2.0, None, 1.0), (2, 4, 0.5), (9.0, 3.0, 3.0), (0.5, 2.0, 0.25)]
)
def test_straight_flight_goes_on_straight(seconds: float, since: float | None, steps: float) -> None:
    found = predicted(BEFORE, AFTER, seconds, since=since)
    assert np.array_equal(found.positions, AFTER.positions + steps * MOVED)
    assert np.array_equal(found.yaw, AFTER.yaw)


@given(since=times, seconds=times)
def test_circles_are_flown_on(since: float, seconds: float) -> None:
    # At the fastest rate of turn 30 s are 3 radians: less than half a turn, so that the shorter way round is the way.
    found, wanted = predicted(on_circles(-since), on_circles(0), seconds, since=since), on_circles(seconds)
    assert np.allclose(found.positions, wanted.positions, rtol=0, atol=1e-6)
    assert np.allclose(wrapped(found.yaw - wanted.yaw), 0, atol=1e-9)


def test_by_default_the_same_step_is_taken_once_more() -> None:
    found = predicted(on_circles(-7), on_circles(0), 7)
    assert np.allclose(found.positions, on_circles(7).positions, rtol=0, atol=1e-9)
    assert_same(found, predicted(on_circles(-7), on_circles(0), 7, since=7))


def test_a_quarter_turn_by_hand() -> None:
    # Both went a step to the east while they turned left by 90°: the next step is to the north.
    before, now = Fleet([[0, 0], [0, 5]], [0, 1]), Fleet([[1, 0], [1, 5]], np.array([0, 1]) + math.pi / 2)
    assert np.allclose(predicted(before, now, 1).positions, [[1, 1], [1, 6]])
    # Four of these steps are once around.
    assert np.allclose(predicted(before, now, 4, since=1).positions, now.positions)
    # The circle through (0, 0), (1, 0) and (1, 1) has its middle at (1/2, 1/2); half a step on it is farthest east.
    assert np.allclose(predicted(before, now, 0.5, since=1).positions[0], [0.5 + math.sqrt(0.5), 0.5])


@given(
    fleet=fleets(3, 8),
    rate=st.floats(-0.1, 0.1),
    east=st.floats(-3, 3),
    north=st.floats(-3, 3),
    since=times,
    seconds=times,
)
def test_a_fleet_that_turns_as_a_whole_goes_on_doing_so(
    fleet: Fleet, rate: float, east: float, north: float, since: float, seconds: float
) -> None:
    # A rotation at a constant rate about a middle that flies an arc with it is one about a point at rest.
    middle = fleet.spread * np.array([east, north])

    def at(time: float) -> Fleet:
        turn = rate * time
        matrix = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
        return fleet.replace((fleet.positions - middle) @ matrix + middle, fleet.yaw + turn)

    found, wanted = predicted(at(-since), fleet, seconds, since=since), at(seconds)
    # A short step says how fast a node is to as many digits fewer as the prediction goes farther than it.
    close = 1e-11 * fleet.spread * (1 + seconds / since)
    assert np.allclose(found.positions, wanted.positions, rtol=0, atol=close)
    assert np.allclose(wrapped(found.yaw - wanted.yaw), 0, atol=1e-11 * (1 + seconds / since))


@given(fleet=fleets(2, 6), seed=st.integers(0, 99), since=times, seconds=times)
def test_a_fleet_that_is_carried_along_goes_on_doing_so(fleet: Fleet, seed: int, since: float, seconds: float) -> None:
    velocity = fleet.spread * np.random.default_rng(seed).normal(size=2)
    before = fleet.replace(fleet.positions - since * velocity)
    found = predicted(before, fleet, seconds, since=since)
    close = 1e-11 * fleet.spread * (1 + since) * (1 + seconds / since)
    assert np.allclose(found.positions, fleet.positions + seconds * velocity, rtol=0, atol=close)


def test_a_turn_is_the_shorter_way_round() -> None:
    before, now = BEFORE.replace(yaw=[3.0, 3.0, -0.1]), AFTER.replace(yaw=[-3.0, 3.0 + 2 * math.pi, 0.1])
    turn = 2 * math.pi - 6.0
    found = predicted(before, now, 1)
    assert np.allclose(found.yaw, [-3.0 + turn, 3.0 + 2 * math.pi, 0.3])
    x, y = MOVED[0]
    turned = [math.cos(turn) * x - math.sin(turn) * y, math.sin(turn) * x + math.cos(turn) * y]
    assert np.allclose(found.positions[0] - now.positions[0], turned)
    assert np.allclose(found.positions[1] - now.positions[1], MOVED[1])


def with_heights(fleet: Fleet, heights: list[float]) -> Fleet:
    return fleet.replace(np.column_stack([fleet.horizontal, heights]))


def test_heights_go_on_evenly() -> None:
    before, now = with_heights(BEFORE, [100, 200, 300]), with_heights(AFTER, [110, 200, 280])
    found = predicted(before, now, 3, since=2)
    assert np.allclose(found.heights, [125, 200, 250])
    assert np.allclose(found.horizontal, AFTER.horizontal + 1.5 * MOVED)


def test_heights_of_one_fleet_alone_say_nothing_about_climbing() -> None:
    high = with_heights(AFTER, [110, 200, 280])
    assert np.array_equal(predicted(BEFORE, high, 1).heights, high.heights)
    assert not predicted(with_heights(BEFORE, [1, 2, 3]), AFTER, 1).has_heights


def test_nodes_are_matched_by_id_in_any_order() -> None:
    before = on_circles(-3).part([2, 0, 1])
    assert_same(predicted(before, on_circles(0), 5, since=3), predicted(on_circles(-3), on_circles(0), 5, since=3))
    now = on_circles(0).part([1, 2, 0])
    assert_same(predicted(before, now, 5, since=3), predicted(before, on_circles(0), 5, since=3).part([1, 2, 0]))


def test_nodes_that_joined_go_along_with_the_others_and_do_not_turn() -> None:
    now = Fleet([*AFTER.positions, [500, 500]], [*(AFTER.yaw + 0.5), 1.0], [*AFTER.ids, "new"])
    found = predicted(BEFORE, now, 4, since=2)
    way = found.positions - now.positions
    assert np.allclose(way[3], way[:3].mean(axis=0))
    assert found.yaw[3] == 1.0
    assert np.array_equal(found.positions[:3], predicted(BEFORE, now.part([0, 1, 2]), 4, since=2).positions)


def test_nodes_that_left_have_no_say() -> None:
    more = Fleet([*BEFORE.positions, [500, 500]], [*BEFORE.yaw, 1.0], [*BEFORE.ids, "gone"])
    assert_same(predicted(more, AFTER, 2), predicted(BEFORE, AFTER, 2))


@given(placed_fleets(st.text(min_size=1, max_size=3)), placed_fleets(st.text(min_size=1, max_size=3)))
def test_no_time_is_no_change(before: Fleet, now: Fleet) -> None:
    related = Fleet(before.positions, before.yaw, [now.ids[0], *(f"{k} before" for k in range(1, len(before)))])
    assert_same(predicted(related, now, 0), now)
    assert_same(predicted(related, now, 0.0, since=2.0), now)


def test_ids_frame_and_blocked_azimuths_stay() -> None:
    arcs = [[(0.0, 1.0)], [], [(-1.0, 0.5), (2.0, 3.0)]]
    now = Fleet.from_geodetic([60, 60.1, 60], [5, 5, 5.2], [0, 90, 180], ["x", "y", "z"], blocked=arcs)
    found = predicted(now.replace(now.positions - 10.0), now, 3)
    assert (found.ids, found.frame, found.blocked) == (now.ids, now.frame, now.blocked)
    assert np.allclose(found.positions, now.positions + 10.0)


def test_fleets_with_frames_of_their_own_are_seen_in_one() -> None:
    # The fleet flies north, and the frame around its middle with it: in its own frame it would never move.
    def at(latitude: float) -> Fleet:
        return Fleet.from_geodetic([latitude, latitude + 0.1], [20.0, 20.3], [0.0, 0.0], ["x", "y"])

    before, now, later = at(48.0), at(48.01), at(48.02)
    found = predicted(before, now, 10)
    assert before.frame != now.frame == found.frame and now.frame is not None and later.frame is not None
    wanted = now.frame.to_xy(*later.frame.to_degrees(later.positions))
    # A degree of latitude is not everywhere as long: in 1 km the difference is centimetres.
    assert np.allclose(found.positions, wanted, rtol=0, atol=0.5)
    assert np.linalg.norm(found.positions - now.positions, axis=1) == pytest.approx([1112, 1112], abs=2)
    assert found.yaw == pytest.approx(now.yaw, abs=1e-4)


@pytest.mark.parametrize("together", [2, 3, 5])
def test_nodes_that_would_meet_stay_apart(together: int) -> None:
    # The first few are halfway to the middle and would all be there after one more step; the others wait.
    angle = np.arange(5) * 2 * math.pi / 5
    rim = 100 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    now = Fleet(np.concatenate([rim[:together] / 2, rim[together:]]), angle)
    found = predicted(Fleet(rim, angle), now, 1)
    assert np.linalg.norm(found.positions[:together], axis=1).max() < 0.01
    assert np.array_equal(found.positions[together:], rim[together:])
    assert_same(found, predicted(Fleet(rim, angle), now, 1))


@pytest.mark.parametrize("seconds", [-1.0, math.nan, math.inf, None, "2", True])
def test_seconds_must_be_a_finite_number_of_at_least_0(seconds: float) -> None:
    with pytest.raises(FleetError, match="seconds must be a finite number of at least 0"):
        predicted(BEFORE, AFTER, seconds)


@pytest.mark.parametrize("since", [0.0, -2.0, math.nan, math.inf, "2"])
def test_since_must_be_a_finite_number_above_0(since: float) -> None:
    with pytest.raises(FleetError, match="since must be a finite number above 0"):
        predicted(BEFORE, AFTER, 1.0, since=since)


def test_fleets_without_a_common_node_are_refused() -> None:
    others = Fleet(AFTER.positions, AFTER.yaw, ["x", "y", "z"])
    with pytest.raises(
        FleetError, match=r"share no node: before there were 'a', 'b', 'c', now there are 'x', 'y', 'z'"
    ):
        predicted(BEFORE, others, 1.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("seconds", "since"), [(1e308, 1e-308), (1e308, 1.0), (1e150, 1.0)])
def test_what_is_beyond_all_numbers_is_refused(seconds: float, since: float) -> None:
    with pytest.raises(FleetError, match=r"finite number|too far apart"):
        predicted(BEFORE, AFTER, seconds, since=since)


@pytest.mark.filterwarnings("error")
def test_who_flies_in_circles_gets_nowhere() -> None:
    found = predicted(on_circles(-1), on_circles(0), 1e9, since=1)
    assert np.abs(found.positions - on_circles(0).positions).max() <= 2 * 200 + 1e-6
    with pytest.raises(FleetError, match=r"is not a finite number"):
        predicted(on_circles(-1), on_circles(0), 1e308, since=1e-308)
