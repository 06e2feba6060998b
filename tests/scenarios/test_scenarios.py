"""Layouts: what every drawn fleet guarantees, and that each family looks like what it is called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.scenarios import AIR, FAMILIES, MIN_SEPARATION, MIXED, draw, pick_family
from manetdiff.scenarios.formations import wedge
from manetdiff.scenarios.patrols import orbit, racetrack
from manetdiff.scenarios.placing import FloatArray, cells, members, split
from manetdiff.scenarios.spacing import connected, pushed_apart
from support.strategies import assert_same

SIZES = (2, 3, 5, 16, 33, 256)
TOGETHER = ("echelon", "wedge", "line-abreast", "trail", "box", "elements", "escort")
CRAB = np.radians(2.0)


def drawn(family: str, n: int, seed: int) -> Fleet:
    return draw(family, n, np.random.default_rng(seed))


def distances(fleet: Fleet) -> FloatArray:
    """(n, n), by the definition and apart from the package's own."""
    gaps = fleet.positions[:, None, :] - fleet.positions[None, :, :]
    return np.asarray(np.sqrt((gaps**2).sum(axis=2)) + np.diag(np.full(len(fleet), np.inf)))


def parts_within(fleet: Fleet, reach: float) -> int:
    """Number of connected parts, by merging labels."""
    label = list(range(len(fleet)))
    for i, j in np.argwhere(distances(fleet) <= reach * fleet.spread):
        old, new = label[i], label[j]
        label = [new if each == old else each for each in label]
    return len(set(label))


def turned_by(yaw: FloatArray, other: FloatArray | float) -> FloatArray:
    """Absolute angles between headings."""
    return np.asarray(np.abs(np.angle(np.exp(1j * (yaw - other)))))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("family", AIR)
def test_every_family_keeps_pairs_apart_and_within_reach_at_the_scale_of_aircraft(family: str, n: int) -> None:
    for seed in range(3):
        fleet = drawn(family, n, seed)
        assert (fleet.positions.shape, fleet.yaw.shape) == ((n, 2), (n,))
        assert np.abs(fleet.yaw).max() <= np.pi
        nearest = distances(fleet).min(axis=1)
        assert nearest.min() >= max(300.0, MIN_SEPARATION * np.sqrt(32 / max(n, 32)) * fleet.spread)
        assert np.ptp(fleet.positions, axis=0).max() < 350e3
        assert 300.0 < np.median(nearest) < 50e3
        if n > 2:  # two are always on a line, and 2√2 spreads apart: for them the reach cannot be asked for
            assert connected(fleet, 2.5 * fleet.spread)
            thickness = np.linalg.svd(fleet.positions - fleet.positions.mean(axis=0), compute_uv=False)[1]
            assert thickness > 0.005 * np.sqrt(n) * fleet.spread


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_follows_the_seed(family: str) -> None:
    one, same, other = (drawn(family, 16, seed) for seed in (7, 7, 8))
    assert_same(one, same)
    assert not np.allclose(one.positions, other.positions)


@given(st.sampled_from(FAMILIES), st.integers(3, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_any_size_and_seed_gives_one_part(family: str, n: int, seed: int) -> None:
    assert parts_within(drawn(family, n, seed), 2.5) == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_headings_of_layouts_point_anywhere(family: str) -> None:
    first = np.array([drawn(family, 5, seed).yaw[0] for seed in range(40)])
    assert {int(quarter) for quarter in np.floor(first / (np.pi / 2))} == {-2, -1, 0, 1}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("family", TOGETHER)
def test_formations_share_a_heading(family: str, n: int) -> None:
    for seed in range(5):
        fleet = drawn(family, n, seed)
        limit = np.radians(60.0 if family == "elements" else 20.0)
        assert turned_by(fleet.yaw, fleet.mean_heading).max() < limit


@pytest.mark.parametrize("n", (5, 8, 16, 33, 64, 256))
@pytest.mark.parametrize("seed", range(12))
class TestShapes:
    def test_a_trail_is_longer_than_wide_and_a_line_abreast_wider_than_long(self, n: int, seed: int) -> None:
        for family, longer in (("trail", True), ("line-abreast", False)):
            along, across = drawn(family, n, seed).normalised().positions.std(axis=0)
            assert (along > across) == longer

    def test_wedge_is_about_as_wide_left_as_right(self, n: int, seed: int) -> None:
        places, _ = wedge(n, np.random.default_rng(seed))
        assert abs(places.imag.min() + places.imag.max()) < 0.5 * np.ptp(places.imag)
        # The first one leads, and nobody flies beside it: the further back, the wider.
        assert places.real.argmax() == 0
        ahead, behind = np.array_split(np.argsort(-places.real), 2)
        if n in (5, 64, 256):  # other sizes may end in a part of a row
            assert np.abs(places.imag[ahead]).mean() < np.abs(places.imag[behind]).mean() * 1.1


def test_echelon_runs_back_to_one_side() -> None:
    for seed in range(20):
        x, y = drawn("echelon", 5, seed).normalised().positions.T
        assert abs(np.corrcoef(x, y)[0, 1]) > 0.8


def test_escorts_surround_the_first_aircraft() -> None:
    for seed in range(20):
        fleet = drawn("escort", 10, seed)
        from_first = fleet.positions - fleet.positions[0]
        assert np.hypot(*from_first[1:].T).min() > 2000.0
        bearings = np.sort(np.arctan2(from_first[1:, 1], from_first[1:, 0]))
        widest_gap = np.diff(np.append(bearings, bearings[0] + 2 * np.pi)).max()
        assert widest_gap < np.radians(215.0)


def test_orbit_headings_are_tangent_to_the_circle() -> None:
    for seed in range(30):
        places, yaw = orbit(3, np.random.default_rng(seed))  # three share one circle
        (ax, ay), (bx, by), (cx, cy) = ((place.real, place.imag) for place in places)
        system = np.array([[bx - ax, by - ay], [cx - ax, cy - ay]])
        squares = np.array([bx**2 + by**2 - ax**2 - ay**2, cx**2 + cy**2 - ax**2 - ay**2])
        east, north = np.linalg.solve(system, squares / 2)
        outward = np.angle(places - (east + 1j * north))
        off = [turned_by(yaw, outward + way * np.pi / 2).max() for way in (1, -1)]
        assert min(off) <= CRAB + 1e-9


def test_racetrack_legs_are_flown_both_ways() -> None:
    headings = np.concatenate([racetrack(3, np.random.default_rng(seed))[1] for seed in range(60)])
    along = np.abs(np.cos(headings)) > np.cos(np.radians(15.0))
    assert along.mean() > 0.35  # the legs are a good part of the way
    assert 0.3 < (np.cos(headings[along]) > 0).mean() < 0.7


def test_crossing_streams_have_different_headings() -> None:
    for seed in range(20):
        yaw = drawn("crossing", 16, seed).yaw
        assert turned_by(yaw[:, None], yaw[None, :]).max() > np.radians(20.0)


def test_scatter_flies_together_or_anyhow() -> None:
    unity = np.array([abs(np.exp(1j * drawn("scatter", 33, seed).yaw).mean()) for seed in range(40)])
    assert 5 < (unity > 0.95).sum() < 35
    assert 5 < (unity < 0.6).sum() < 35


def test_mixed_draws_every_family_of_aircraft() -> None:
    rng = np.random.default_rng(3)
    assert {pick_family(rng) for _ in range(300)} == set(AIR)
    picked = draw(pick_family(np.random.default_rng(5)), 16, np.random.default_rng(6))
    assert len(picked) == len(draw(MIXED, 16, np.random.default_rng(5))) == 16


@pytest.mark.parametrize(
    ("family", "n", "reach", "problem"),
    [
        ("swarm", 8, 2.5, f"unknown family 'swarm': choose one of {', '.join(FAMILIES)}"),
        *(("box", n, 2.5, f"2 to 1024 nodes, not {n}") for n in (-1, 0, 1, 1025)),
        *(("box", 8, reach, "reach is a positive number") for reach in (0.0, -1.0, np.nan, np.inf)),
        ("box", 16, 0.1, "no box layout of 16 nodes"),
    ],
)
def test_what_cannot_be_drawn_is_said(family: str, n: int, reach: float, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        draw(family, n, np.random.default_rng(0), reach=reach)


class TestBuildingBlocks:
    @given(st.integers(1, 300), st.integers(1, 20))
    def test_split_is_even_and_complete(self, n: int, largest: int) -> None:
        sizes = split(n, largest)
        assert sizes.sum() == n
        assert sizes.min() >= 1
        assert sizes.max() <= largest
        assert sizes.max() - sizes.min() <= 1
        group, place = members(sizes)
        assert len({*zip(group.tolist(), place.tolist(), strict=True)}) == n

    @given(st.integers(1, 300), st.integers(1, 20))
    def test_cells_are_distinct_and_centred(self, count: int, columns: int) -> None:
        row, column = cells(count, columns)
        assert len({*zip(row.tolist(), column.tolist(), strict=True)}) == count
        assert abs(column.sum()) < 1e-9
        assert np.abs(column).max() <= (columns - 1) / 2

    def test_pushing_apart_leaves_what_is_far_enough(self) -> None:
        places = np.array([0.0, 1000.0, 1010.0 + 0j])
        pushed = pushed_apart(places, 100.0)
        assert pushed[0] == places[0]
        assert abs(pushed[1] - pushed[2]) >= 100.0
        assert pushed.mean() == pytest.approx(places.mean())
