"""Motion: aircraft stay within what they can fly, keep apart, and get as far as was asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet, displacement
from manetdiff.scenarios import AIR, AIR_MOTIONS, MOTIONS, Kinematics, draw, motions_of, move, move_by
from manetdiff.scenarios.conflicts import clearances
from manetdiff.scenarios.kinematics import Controls, Flight
from manetdiff.scenarios.placing import FloatArray
from manetdiff.scenarios.spacing import pair_distances
from support.strategies import assert_same

LIMITS = Kinematics()


def path_of(family: str, n: int, model: str, seed: int, duration: float = 90.0, step: float = 1.0) -> list[Fleet]:
    rng = np.random.default_rng(seed)
    return move(draw(family, n, rng), model, rng, duration=duration, step=step)


def chords(path: list[Fleet]) -> tuple[FloatArray, FloatArray]:
    """Length and direction, each (steps, n), of the way between successive positions."""
    way = np.diff(np.stack([fleet.positions for fleet in path]), axis=0)
    return np.hypot(way[..., 0], way[..., 1]), np.arctan2(way[..., 1], way[..., 0])


def wrapped(angle: FloatArray) -> FloatArray:
    return np.asarray(np.angle(np.exp(1j * angle)))


def turns(path: list[Fleet]) -> FloatArray:
    """(steps, n) change of yaw from step to step."""
    return wrapped(np.diff(np.stack([fleet.yaw for fleet in path]), axis=0))


def assert_within(limits: Kinematics, length: FloatArray, turn: FloatArray) -> None:
    assert np.abs(turn).max() <= limits.max_turn_rate + 1e-9
    # The chord of an arc is a little shorter than the arc.
    assert length.min() >= limits.v_min * (1 - limits.max_turn_rate**2 / 20)
    assert length.max() <= limits.v_max + 1e-6


def nearest(path: list[Fleet]) -> float:
    """Metres: the least distance that any two have on the way."""
    return float(min(pair_distances(fleet.positions).min() for fleet in path))


@pytest.mark.parametrize("model", AIR_MOTIONS)
@pytest.mark.parametrize("family", AIR)
class TestEveryModelOnEveryFamily:
    @pytest.mark.parametrize("n", (2, 5, 16, 33))
    def test_flies_within_limits_along_its_yaw_and_nobody_collides(self, family: str, model: str, n: int) -> None:
        path = path_of(family, n, model, seed=n, duration=240.0)
        length, direction = chords(path)
        turn = turns(path)
        assert_within(LIMITS, length, turn)
        # A chord points midway between the yaw at either end of its arc.
        yaw = np.stack([fleet.yaw for fleet in path])
        assert np.abs(wrapped(direction - yaw[:-1] - turn / 2)).max() < 1e-6
        speed = length / np.sinc(turn / 2 / np.pi)
        assert np.abs(np.diff(speed, axis=0)).max() <= LIMITS.max_acceleration + 1e-6
        assert nearest(path) > 100.0

    def test_displacement_is_reached(self, family: str, model: str) -> None:
        for seed, asked in enumerate((0.1, 0.3)):
            rng = np.random.default_rng(seed)
            before = draw(family, 12, rng)
            after = move_by(before, asked, rng, model)
            assert displacement(before, after) == pytest.approx(asked, rel=0.1)
            assert after.ids == before.ids


@pytest.mark.parametrize("model", AIR_MOTIONS)
class TestEveryModel:
    def test_same_seed_same_path(self, model: str) -> None:
        one, same, other = (path_of("wedge", 9, model, seed) for seed in (3, 3, 4))
        for a, b in zip(one, same, strict=True):
            assert_same(a, b)
        assert not np.allclose(one[-1].positions, other[-1].positions)

    def test_starts_where_the_fleet_is(self, model: str) -> None:
        rng = np.random.default_rng(1)
        fleet = draw("elements", 8, rng)
        path = move(fleet, model, rng, duration=1.0)
        assert path[0] is fleet
        _, direction = chords(path)
        assert np.abs(wrapped(direction[0] - fleet.yaw)).max() <= LIMITS.max_turn_rate / 2 + 1e-9

    def test_large_fleets_keep_apart(self, model: str) -> None:
        for family, n, duration in (
            ("scatter", 100, 200),
            ("crossing", 100, 200),
            ("trail", 100, 200),
            ("orbit", 256, 20),
        ):
            path = path_of(family, n, model, seed=2, duration=duration)
            assert len(path) == duration + 1
            assert nearest(path) > 100.0

    def test_other_limits_are_kept(self, model: str) -> None:
        slow = Kinematics(v_min=20.0, v_max=30.0, max_turn_rate=0.2, safety=50.0)
        rng = np.random.default_rng(5)
        path = move(draw("box", 9, rng), model, rng, duration=60.0, kinematics=slow)
        assert_within(slow, chords(path)[0], turns(path))

    def test_every_step_is_there_however_long_it_is(self, model: str) -> None:
        for duration, step, count in ((10.0, 2.5, 5), (10.0, 3.0, 4), (0.3, 0.1, 4)):
            assert len(path_of("box", 4, model, 0, duration, step)) == count
        length, _ = chords(path_of("box", 4, model, 0, duration=40.0, step=4.0))
        assert length.max() <= 4 * LIMITS.v_max

    @pytest.mark.parametrize("n", (2, 3, 33))
    def test_displacement_of_small_and_large_fleets(self, model: str, n: int) -> None:
        for seed in range(4):
            rng = np.random.default_rng(seed)
            before = draw("mixed", n, rng)
            assert displacement(before, move_by(before, 0.2, rng, model)) == pytest.approx(0.2, rel=0.1)


def test_group_stays_a_group() -> None:
    """After minutes on a common way, a formation is still about as large as it was; on their own they part."""
    growth: dict[str, float] = {}
    for model in AIR_MOTIONS:
        paths = [path_of("wedge", 9, model, seed, duration=240.0) for seed in range(6)]
        growth[model] = float(np.median([path[-1].spread / path[0].spread for path in paths]))
    assert 0.6 < growth["group"] < 1.6
    assert growth["gauss-markov"] > growth["group"] or growth["turns"] > growth["group"]


def test_move_by_without_a_model_picks_one() -> None:
    rng = np.random.default_rng(0)
    before = draw("box", 6, rng)
    after = move_by(before, 0.15, rng)
    assert displacement(before, after) == pytest.approx(0.15, rel=0.1)
    again = np.random.default_rng(0)
    assert (move_by(draw("box", 6, again), 0.15, again).positions == after.positions).all()


def test_displacement_is_reached_where_headings_cancel_out_and_the_mean_heading_may_jump() -> None:
    fleet = Fleet([(0, 0), (9e3, 9e3)], [0.0, np.pi - 0.02])
    for seed in range(20):
        moved = move_by(fleet, 0.3, np.random.default_rng(seed), "gauss-markov")
        assert displacement(fleet, moved) == pytest.approx(0.3, rel=0.11)


class TestAnySpacing:
    @pytest.mark.parametrize("model", AIR_MOTIONS)
    @pytest.mark.parametrize("family", AIR)
    def test_nobody_comes_near(self, family: str, model: str) -> None:
        for seed, spacing in enumerate((100.0, 1500.0)):
            rng = np.random.default_rng(seed)
            path = move(draw(family, 20, rng, spacing=spacing), model, rng, duration=60.0)
            assert nearest(path) > min(0.09 * spacing, 100.0)

    @pytest.mark.parametrize("model", AIR_MOTIONS)
    @pytest.mark.parametrize("spacing", (100.0, 100_000.0))
    def test_displacement_is_reached(self, spacing: float, model: str) -> None:
        rng = np.random.default_rng(4)
        before = draw("orbit", 20, rng, spacing=spacing)
        assert displacement(before, move_by(before, 0.15, rng, model)) == pytest.approx(0.15, rel=0.1)

    def test_small_aircraft_are_slower_and_wide_fleets_are_as_fast(self) -> None:
        speeds = []
        for spacing in (100.0, 3000.0, 100_000.0):
            rng = np.random.default_rng(0)
            length, _ = chords(move(draw("box", 16, rng, spacing=spacing), "group", rng, duration=20.0))
            speeds.append(float(length.mean()))
        assert speeds[0] < 15.0
        assert LIMITS.v_min < speeds[1] < LIMITS.v_max
        assert LIMITS.v_min < speeds[2] < LIMITS.v_max

    @pytest.mark.parametrize("family", ("scatter", "wedge"))
    def test_a_thousand_keep_apart(self, family: str) -> None:
        rng = np.random.default_rng(1)
        path = move(draw(family, 1000, rng, spacing=200.0), "gauss-markov", rng, duration=5.0)
        assert nearest(path) > 0.09 * 200.0

    def test_what_a_fleet_scaled_as_a_whole_does_is_scaled_too(self) -> None:
        paths = []
        for spacing in (100.0, 400.0):
            rng = np.random.default_rng(3)
            fleet = draw("scatter", 12, rng, spacing=spacing)
            path = move(fleet, "turns", rng, duration=30.0)
            paths.append((path[-1].positions - fleet.positions.mean(axis=0)) / spacing)
        assert np.allclose(paths[0], paths[1], atol=1e-6)

    def test_heights_stay(self) -> None:
        rng = np.random.default_rng(2)
        fleet = draw("wedge", 9, rng, heights=(500.0, 4000.0))
        assert np.array_equal(move(fleet, "group", rng, duration=5.0)[-1].heights, fleet.heights)


def test_motions_suit_their_families() -> None:
    assert all(motions_of(family) == AIR_MOTIONS for family in (*AIR, "mixed"))
    assert motions_of("streets") == ("streets",)
    assert motions_of("sea-lanes") == ("sea-lanes",)


class TestClearance:
    def test_is_the_least_distance_of_circling_aircraft(self) -> None:
        """Known answer: fly the circles and look."""
        rng = np.random.default_rng(4)
        places = rng.uniform(-8e3, 8e3, (2, 6))
        flight = Flight(places[0] + 1j * places[1], rng.uniform(-3, 3, 6), rng.uniform(120, 300, 6))
        first, second = np.triu_indices(6, 1)
        for circling in (LIMITS.max_turn_rate, -LIMITS.max_turn_rate):
            least = np.full(len(first), np.inf)
            later = flight
            for _ in range(12_000):
                least = np.minimum(least, np.abs(later.places[first] - later.places[second]))
                later = later.flown(Controls(np.full(6, circling), flight.speed), 0.005)
            # The circle takes 60 s, that is all of the 12 000 steps.
            assert clearances(flight, circling, first, second) == pytest.approx(least, abs=3.0)

    def test_head_on_aircraft_pass_one_another(self) -> None:
        for seed in range(10):
            fleet = Fleet([[0.0, 0.0], [6000.0, 5.0], [3000.0, 40e3]], [0.0, np.pi, 0.0])
            for model in AIR_MOTIONS:
                path = move(fleet, model, np.random.default_rng(seed), duration=60.0)
                assert nearest(path) > LIMITS.safety - 1.0


class TestErrors:
    @pytest.mark.parametrize(
        ("asked", "problem"),
        [
            ({"duration": 1.0, "model": "brownian"}, f"unknown motion 'brownian': choose one of {', '.join(MOTIONS)}"),
            ({"displacement": 0.1, "model": "brownian"}, "unknown motion 'brownian'"),
            ({"displacement": 3.0, "model": "group"}, "less than 2√2"),
            ({"displacement": 2.0, "model": "group", "time_limit": 20.0}, "group motion did not displace"),
            *(
                ({**asked, "model": "group", name: value}, f"{name} must be a positive number")
                for asked, name in (
                    ({}, "duration"),
                    ({"duration": 1.0}, "step"),
                    ({}, "displacement"),
                    ({"displacement": 0.1}, "time_limit"),
                )
                for value in (0.0, -1.0, np.nan, np.inf)
            ),
        ],
    )
    def test_motion_that_cannot_be_is_said(self, asked: dict[str, Any], problem: str) -> None:
        rng = np.random.default_rng(0)
        fly = move_by if "displacement" in asked else move
        with pytest.raises(ScenarioError, match=problem):
            fly(draw("box", 16, rng), rng=rng, **asked)

    @pytest.mark.parametrize(
        "numbers",
        [
            {"v_min": 0},
            {"v_min": 300, "v_max": 200},
            {"max_turn_rate": 0},
            {"safety": -1},
            {"max_acceleration": np.nan},
        ],
    )
    def test_limits_without_meaning(self, numbers: dict[str, float]) -> None:
        with pytest.raises(ScenarioError):
            Kinematics(**numbers)
