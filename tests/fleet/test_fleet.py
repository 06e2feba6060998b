from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, displacement
from manetdiff.errors import FleetError
from manetdiff.fleet import LocalFrame
from manetdiff.fleet.geodetic import compass_to_yaw, yaw_to_compass
from support.strategies import fleets

SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]


@given(fleets())
def test_normalised_fleet_is_centred_has_rms_one_and_heads_along_x(fleet: Fleet) -> None:
    normal = fleet.normalised()
    assert np.allclose(normal.positions.mean(axis=0), 0, atol=1e-9)
    assert math.isclose(np.sqrt(np.mean(normal.positions**2)), 1.0, rel_tol=1e-9)
    assert abs(normal.mean_heading) < 1e-6
    assert math.isclose(normal.spread, 1.0, rel_tol=1e-9)


@given(fleets(), st.floats(-3, 3), st.floats(-1e6, 1e6), st.floats(0.1, 50))
def test_flying_turning_and_widening_as_a_whole_is_no_displacement(
    fleet: Fleet, turn: float, shift: float, scale: float
) -> None:
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    moved = Fleet(fleet.positions @ rotation * scale + shift, fleet.yaw + turn)
    size = max(1.0, abs(shift) / fleet.spread / scale)
    assert displacement(fleet, moved) < 1e-6 * size


def test_displacement_of_a_shape_change_is_the_rms_of_the_normalised_shift() -> None:
    before = Fleet(SQUARE, np.zeros(4))
    after = Fleet([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]], np.zeros(4))
    spread = math.sqrt((1.0**2 + 0.5**2) / 2)
    shift = (1.0 / spread - 1.0, 0.5 / spread - 1.0)
    assert math.isclose(displacement(before, after), math.hypot(*shift), rel_tol=1e-12)


@pytest.mark.parametrize(
    ("positions", "yaw", "ids", "words"),
    [
        ([[0, 0], [math.nan, 1]], [0, 0], ["A", "B"], ["'B'", "position", "finite"]),
        ([[0, 0], [1, math.inf]], [0, 0], None, ["'1'", "finite"]),
        ([[0, 0], [1, 1]], [0, math.nan], None, ["'1'", "yaw"]),
        ([[0, 0], [1, 1], [1, 1]], [0, 0, 0], None, ["'1'", "'2'", "same place"]),
        ([[0, 0], [1, 1], [1, 1 + 1e-13]], [0, 0, 0], None, ["'1'", "'2'", "too close", "a fleet 1 wide"]),
        ([[0, 0]], [0], None, ["at least two"]),
        (np.empty((0, 2)), [], None, ["at least two"]),
        ([[0, 0, 0, 0], [1, 1, 1, 1]], [0, 0], None, ["(n, 2)", "(n, 3)"]),
        ([0, 1], [0, 0], None, ["(n, 2)"]),
        ([[0, 0], [1, 1]], [0], None, ["yaw", "1", "2"]),
        ([[0, 0], [1, 1]], [[0], [0]], None, ["yaw", "(n,)"]),
        ([[0, 0], [1, 1]], [0, 0], ["A"], ["1 ids", "2 nodes"]),
        ([[0, 0], [1, 1]], [0, 0], ["A", "A"], ["'A'", "twice"]),
        ([[0, 0], [1, 1]], [0, 0], [1, "1"], ["'1'", "twice"]),
        ([["a", 0], [1, 1]], [0, 0], None, ["numbers"]),
        ([[-1.7e308, 0], [1.7e308, 1]], [0, 0], None, ["too far apart"]),
    ],
)
def test_bad_fleets_are_refused_by_name(positions: object, yaw: object, ids: object, words: list[str]) -> None:
    with pytest.raises(FleetError) as caught:
        Fleet(positions, yaw, ids)  # type: ignore[arg-type]
    for word in words:
        assert word in str(caught.value)


def test_a_fleet_cannot_be_changed_behind_its_back() -> None:
    positions = np.array(SQUARE)
    fleet = Fleet(positions, np.zeros(4))
    positions[0] = 9.0
    assert fleet.positions[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        fleet.positions[0, 0] = 1.0


@given(
    st.floats(-89.0, 89.0),
    st.floats(-180.0, 180.0),
    st.lists(st.tuples(st.floats(-0.8, 0.8), st.floats(-0.8, 0.8)), min_size=2, max_size=5, unique=True),
)
def test_geodetic_round_trip_everywhere_on_earth(lat: float, lon: float, offsets: list[tuple[float, float]]) -> None:
    latitude = np.clip(lat + np.array([o[0] for o in offsets]), -89.9, 89.9)
    longitude = lon + np.array([o[1] for o in offsets])
    frame = LocalFrame.around(latitude, longitude)
    back_latitude, back_longitude = frame.to_degrees(frame.to_xy(latitude, longitude))
    assert np.allclose(back_latitude, latitude, atol=1e-9)
    turns = np.exp(1j * np.radians(back_longitude - longitude))
    assert np.allclose(turns, 1.0, atol=1e-9)
    heading = np.linspace(0, 350, len(offsets))
    yaw = compass_to_yaw(frame, latitude, longitude, heading)
    again = yaw_to_compass(frame, latitude, longitude, yaw)
    assert np.allclose(np.exp(1j * np.radians(again - heading)), 1.0, atol=1e-9)


def test_geodetic_distances_and_headings_are_right() -> None:
    # A minute of latitude near 45° is 1852 m; east and north headings are yaw 0 and π/2.
    fleet = Fleet.from_geodetic([45.0, 45.0 + 1 / 60], [7.0, 7.0], [90.0, 0.0], ids=["A", "B"])
    assert math.isclose(np.hypot(*(fleet.positions[1] - fleet.positions[0])), 1852.0, rel_tol=5e-4)
    assert np.allclose(fleet.yaw, [0.0, math.pi / 2], atol=1e-4)
    across_the_date_line = Fleet.from_geodetic([0.0, 0.0], [179.99, -179.99], [0, 0])
    assert np.hypot(*(across_the_date_line.positions[1] - across_the_date_line.positions[0])) < 3000


@pytest.mark.parametrize(
    ("degrees", "problem"),
    [
        (([0, 95.0], [0, 1], [0, 0]), r"'1'.*latitude 95"),
        (([0, 1], [0, 1, 2], [0, 0]), "equally long"),
        (([0, 1], [0, 1], [0, math.nan]), "heading is not a finite"),
    ],
)
def test_geodetic_input_is_checked(degrees: tuple[list[float], ...], problem: str) -> None:
    with pytest.raises(FleetError, match=problem):
        Fleet.from_geodetic(*degrees)
