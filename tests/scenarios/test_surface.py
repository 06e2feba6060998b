"""Vehicles stand between the crossings of streets and ships in lanes, and they point along them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from manetdiff.fleet import Fleet
from manetdiff.scenarios import draw
from manetdiff.scenarios.placing import ComplexArray, FloatArray, as_places

SIZES = (5, 16, 100, 1000)
UNSTEADY = 2 * np.sin(np.radians(0.5))  # how far off a street or lane anyone points, and the axis that we find


def turned(fleet: Fleet, quarter: int) -> tuple[ComplexArray, ComplexArray]:
    """Places in spacings and headings (unit vectors), turned so that all headings are along the axes of the frame.

    - quarter: how many headings there are around the circle: 4 on streets, 2 in lanes.
    """
    axis = np.angle(np.exp(1j * quarter * fleet.yaw).sum()) / quarter
    places = as_places(fleet.horizontal) * np.exp(-1j * axis)
    nearest = np.abs(places[:, None] - places) + np.diag(np.full(len(fleet), np.inf))
    return places / np.median(nearest.min(axis=1)), np.exp(1j * (fleet.yaw - axis))


def lines_of(across: FloatArray, width: float) -> list[FloatArray]:
    """Indices of what stands in one line: neighbours across are nearer than the width."""
    order = np.argsort(across)
    return np.split(order, np.flatnonzero(np.diff(across[order]) > width) + 1)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed", range(3))
class TestStreets:
    def test_vehicles_stand_in_few_streets_and_drive_along_them_one_way(self, n: int, seed: int) -> None:
        places, headings = turned(draw("streets", n, np.random.default_rng(seed)), 4)
        along_x = np.abs(headings.real) > 0.5
        assert np.minimum(np.abs(headings.real), np.abs(headings.imag)).max() < UNSTEADY
        streets = 0
        for chosen, across, way in (
            (along_x, places.imag, headings.real),
            (~along_x, places.real, headings.imag),
        ):
            for line in lines_of(across[chosen], 0.3) if chosen.any() else []:
                streets += 1
                assert np.ptp(across[chosen][line]) < 0.03
                assert len(set(np.sign(way[chosen][line]))) == 1
        assert streets <= 4 * np.sqrt(n)

    def test_more_drive_one_way_than_back(self, n: int, seed: int) -> None:
        if n >= 100:
            _, headings = turned(draw("streets", n, np.random.default_rng(seed)), 4)
            assert abs(headings.mean()) > 0.1


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("seed", range(3))
def test_ships_keep_to_lanes_and_neighbouring_lanes_go_opposite_ways(n: int, seed: int) -> None:
    places, headings = turned(draw("sea-lanes", n, np.random.default_rng(seed)), 2)
    assert np.abs(headings.imag).max() < UNSTEADY
    lanes = lines_of(places.imag, 0.4)
    ways = [set(np.sign(headings.real[lane])) for lane in lanes]
    assert all(len(way) == 1 for way in ways)
    assert all(one != other for one, other in pairwise(ways))
    assert len(lanes) >= 2
    # Right-hand traffic: the lane to the left of the first one leads back.
    assert min(ways[0]) == 1
    assert np.ptp(places.real) > np.ptp(places.imag) or n < 16


@pytest.mark.parametrize("family", ("streets", "sea-lanes"))
def test_every_small_size_is_drawn(family: str) -> None:
    for n in range(2, 40):
        for seed in range(3):
            assert len(draw(family, n, np.random.default_rng(seed))) == n
