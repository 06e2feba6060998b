"""Vehicles keep to their streets and ships to their lanes; nobody collides, at any size and spacing."""

from __future__ import annotations

import numpy as np
import pytest

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet, displacement
from manetdiff.scenarios import Kinematics, draw, move, move_by
from manetdiff.scenarios.lane_motion import SHIPS, Circuits
from manetdiff.scenarios.placing import ComplexArray, FloatArray, as_places
from manetdiff.scenarios.spacing import pair_distances, spacing_of
from manetdiff.scenarios.street_motion import VEHICLES
from support.strategies import assert_same

SPACINGS = (100.0, 2_000.0, 100_000.0)
LIMITS = {"streets": VEHICLES, "sea-lanes": SHIPS}
STEADY = np.radians(1.5)  # how far off its street anyone points who is not in a turn


def path_of(family: str, n: int, spacing: float, seed: int, spacings: float = 12.0) -> list[Fleet]:
    """150 steps in which one could go so many spacings."""
    rng = np.random.default_rng(seed)
    step = spacings * spacing / LIMITS[family].v_max / 150
    return move(draw(family, n, rng, spacing=spacing), family, rng, duration=150 * step, step=step)


def in_frame(path: list[Fleet], headings: int) -> tuple[ComplexArray, FloatArray, float]:
    """Places and yaw (moments, n) turned so that streets or lanes are along x (or y), and the spacing at the start."""
    axis = np.angle(np.exp(1j * headings * path[0].yaw).sum()) / headings
    places = np.stack([as_places(fleet.horizontal) for fleet in path]) * np.exp(-1j * axis)
    return places, np.stack([fleet.yaw for fleet in path]) - axis, spacing_of(path[0])


def off(angle: FloatArray, quarter: float) -> FloatArray:
    """How far angles are from the nearest multiple of one."""
    return np.asarray(np.abs(angle - quarter * np.rint(angle / quarter)))


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("n", (2, 3, 5, 16, 100))
@pytest.mark.parametrize("family", LIMITS)
class TestBoth:
    def test_nobody_comes_near_or_is_too_fast(self, family: str, n: int, spacing: float) -> None:
        path = path_of(family, n, spacing, seed=n)
        assert min(pair_distances(fleet.horizontal).min() for fleet in path) > 0.15 * spacing
        step = 12 * spacing / LIMITS[family].v_max / 150
        ways = np.abs(np.diff(np.stack([as_places(fleet.horizontal) for fleet in path]), axis=0))
        assert ways.max() <= LIMITS[family].v_max * step * 1.02
        assert ways.sum(axis=0).min() > 0.5 * spacing  # nobody stands still all the time

    def test_displacement_is_reached(self, family: str, n: int, spacing: float) -> None:
        for seed, asked in enumerate((0.05, 0.3)):
            rng = np.random.default_rng(seed)
            before = draw(family, n, rng, spacing=spacing)
            after = move_by(before, asked, rng, family)
            assert displacement(before, after) == pytest.approx(asked, rel=0.1)
            assert after.ids == before.ids


@pytest.mark.parametrize("family", LIMITS)
class TestAlways:
    def test_a_thousand_move(self, family: str) -> None:
        path = path_of(family, 1000, 500.0, 1, spacings=6.0)
        assert min(pair_distances(fleet.horizontal).min() for fleet in path[::10]) > 0.15 * 500.0

    def test_same_seed_same_path(self, family: str) -> None:
        one, same, other = (path_of(family, 9, 300.0, seed, 4.0) for seed in (3, 3, 4))
        for a, b in zip(one, same, strict=True):
            assert_same(a, b)
        assert not np.allclose(one[-1].positions, other[-1].positions)

    def test_a_moved_fleet_moves_on(self, family: str) -> None:
        """Whoever is in a turn where one journey ends goes on from there in the next."""
        for seed in range(4):
            fleet = path_of(family, 40, 1000.0, seed)[-1]
            step = 50.0 / LIMITS[family].v_max
            path = move(fleet, family, np.random.default_rng(seed), duration=60 * step, step=step)
            places = np.stack([as_places(moment.horizontal) for moment in path])
            assert np.abs(np.diff(places, axis=0)).max() < 1.5 * 50.0
            assert min(pair_distances(moment.horizontal).min() for moment in path) > 80.0

    def test_other_speeds_are_kept(self, family: str) -> None:
        rng = np.random.default_rng(5)
        slow = Kinematics(v_min=0.5, v_max=1.5, max_acceleration=0.1)
        path = move(draw(family, 12, rng), family, rng, duration=60.0, kinematics=slow)
        ways = np.abs(np.diff(np.stack([as_places(fleet.horizontal) for fleet in path]), axis=0))
        assert 0.9 < np.median(ways) <= 1.5
        assert ways.max() < 1.55

    def test_other_fleets_have_no_streets_and_lanes(self, family: str) -> None:
        rng = np.random.default_rng(0)
        anyhow = Fleet(rng.uniform(0, 1e4, (12, 2)), rng.uniform(-np.pi, np.pi, 12))
        with pytest.raises(ScenarioError, match=r"draw a fleet (on streets|in sea lanes)"):
            move(anyhow, family, rng, duration=10.0)


def test_traffic_flows_and_stays_in_its_quarter() -> None:
    rng = np.random.default_rng(2)
    fleet = draw("streets", 300, rng, spacing=200.0)
    path = move(fleet, "streets", rng, duration=1000.0, step=10.0)
    places = np.stack([as_places(moment.horizontal) for moment in path])
    speed = np.abs(np.diff(places, axis=0)).mean(axis=1)
    assert speed[-20:].mean() > 0.7 * speed[:20].mean()
    assert 0.7 < path[-1].spread / fleet.spread < 1.5


@pytest.mark.parametrize("n", (5, 60))
@pytest.mark.parametrize("seed", range(3))
class TestStreets:
    def test_vehicles_are_on_a_street_wherever_they_are(self, n: int, seed: int) -> None:
        """Who points along x or y has the coordinate of a street: nobody is between two of them."""
        places, yaw, spacing = in_frame(path_of("streets", n, 300.0, seed), 4)
        straight = off(yaw, np.pi / 2) < STEADY
        assert straight.mean() > 0.6
        along_x = off(yaw, np.pi) < np.pi / 4
        for chosen, across in ((straight & along_x, places.imag), (straight & ~along_x, places.real)):
            lines = np.sort(across[chosen])
            gaps = np.diff(lines)
            # Nothing between a vehicle's breadth and a block: all are in a street or in the next one.
            assert not ((gaps > 0.06 * spacing) & (gaps < 0.5 * spacing)).any()

    def test_vehicles_turn_at_crossings_and_drive_along_between_them(self, n: int, seed: int) -> None:
        places, yaw, _ = in_frame(path_of("streets", n, 300.0, seed), 4)
        turned = np.abs(yaw[-1] - yaw[0]) > np.pi / 4
        assert turned.mean() > 0.2
        way = np.diff(places, axis=0)
        moving = np.abs(way) > 1.0
        between = np.angle(way * np.exp(-0.5j * (yaw[1:] + yaw[:-1])))
        turning = np.abs(np.angle(np.exp(1j * np.diff(yaw, axis=0)))) > np.radians(2.0)
        assert np.abs(between[moving & ~turning]).max() < np.radians(20.0)
        assert np.median(np.abs(between[moving])) < STEADY


@pytest.mark.parametrize("seed", range(3))
class TestSeaLanes:
    def test_ships_keep_their_lane_and_turn_slowly(self, seed: int) -> None:
        path = path_of("sea-lanes", 60, 3000.0, seed, spacings=6.0)
        places, yaw, spacing = in_frame(path, 2)
        along = off(yaw, np.pi) < STEADY
        still_there = along.all(axis=0)
        assert still_there.mean() > 0.2
        assert np.ptp(places.imag, axis=0)[still_there].max() < 0.1 * spacing
        rate = np.abs(np.angle(np.exp(1j * np.diff(yaw, axis=0)))) / (6 * 3000.0 / SHIPS.v_max / 150)
        assert rate.max() < np.radians(1.0)

    def test_ships_come_back_in_the_lane_beside(self, seed: int) -> None:
        path = path_of("sea-lanes", 6, 1000.0, seed, spacings=40.0)
        places, yaw, spacing = in_frame(path, 2)
        turned_round = np.abs(np.angle(np.exp(1j * (yaw - yaw[0])))) > np.pi - STEADY
        assert turned_round.any()
        shift = np.abs(places.imag - places.imag[0])[turned_round]
        assert shift.min() > 0.3 * spacing
        assert shift.max() < 3.0 * spacing
        # They do not sail away.
        assert np.abs(places[-1] - places[0].mean()).max() < 8 * path[0].spread


def test_a_circuit_is_closed_and_smooth() -> None:
    """Known answers: corners, turns and headings of a circuit with legs of 200 m and turns of 10 m."""
    circuit = Circuits(0.0, 0j, np.array([5.0j]), np.array([100.0]), np.array([10.0]), 20.0)
    way = np.array([0.0, 200.0, 200.0 + 5 * np.pi, 200.0 + 10 * np.pi, 400.0 + 15 * np.pi])
    everyone = np.zeros(5, dtype=np.int64)
    places, heading = circuit.poses(everyone, way, np.zeros(5))
    assert places == pytest.approx(np.array([-100 - 5j, 100 - 5j, 110 + 5j, 100 + 15j, -110 + 5j]))
    assert heading == pytest.approx(np.array([0.0, 0.0, np.pi / 2, np.pi, 1.5 * np.pi]))
    found, out = circuit.way_of(everyone, places, heading)
    assert found == pytest.approx(way)
    assert out == pytest.approx(np.zeros(5), abs=1e-9)
    length = 2 * float(circuit.half_length[0])
    assert length == pytest.approx(400 + 20 * np.pi)
    fine = np.linspace(0, length, 4001)
    ring, _ = circuit.poses(np.zeros(4001, dtype=np.int64), fine, np.full(4001, 2.0))
    assert np.abs(np.diff(ring)).max() < 1.3 * length / 4000
    assert ring[-1] == pytest.approx(ring[0])
