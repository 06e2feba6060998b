"""Any size at any spacing: what a fleet guarantees that was drawn for a spacing, a range and heights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.scenarios import FAMILIES, draw
from manetdiff.scenarios.placing import FloatArray
from manetdiff.scenarios.spacing import closed_up

SPACINGS = (100.0, 3_000.0, 100_000.0)
HEIGHTS = (200.0, 9_000.0)


def distances(positions: FloatArray) -> FloatArray:
    """(n, n), by the definition and apart from the package's own; infinite on the diagonal."""
    gaps = positions[:, None, :] - positions[None, :, :]
    return np.asarray(np.sqrt((gaps**2).sum(axis=2)) + np.diag(np.full(len(positions), np.inf)))


def one_part_within(away: FloatArray, longest: float) -> bool:
    """Whether pairs no further apart join all nodes: by growing one part from the nearest pair on."""
    to_part = away[0].copy()
    to_part[0] = np.inf
    joined = {0}
    while len(joined) < len(away):
        node = int(to_part.argmin())
        if to_part[node] > longest:
            return False
        joined.add(node)
        to_part = np.minimum(to_part, away[node])
        to_part[list(joined)] = np.inf
    return True


def drawn(family: str, n: int, seed: int, **asked: Any) -> Fleet:
    return draw(family, n, np.random.default_rng(seed), **asked)


@pytest.mark.parametrize("n", (2, 3, 5, 16, 100))
@pytest.mark.parametrize("family", FAMILIES)
def test_spacing_separation_and_connection_are_as_asked(family: str, n: int) -> None:
    for seed, spacing in enumerate(SPACINGS):
        heights = HEIGHTS if seed % 2 else None
        fleet = drawn(family, n, seed, spacing=spacing, within=2 * spacing, heights=heights)
        assert len(fleet) == n
        nearest = distances(fleet.horizontal).min(axis=1)
        assert np.median(nearest) == pytest.approx(spacing, rel=1e-6)
        assert nearest.min() >= 0.2 * spacing * (1 - 1e-9)
        assert one_part_within(distances(fleet.positions), 2 * spacing)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_thousand_nodes_at_any_spacing(family: str) -> None:
    spacing = SPACINGS[FAMILIES.index(family) % len(SPACINGS)]
    fleet = drawn(family, 1000, 1, spacing=spacing, within=2.5 * spacing)
    away = distances(fleet.positions)
    assert np.median(away.min(axis=1)) == pytest.approx(spacing, rel=1e-6)
    assert away.min() >= 0.2 * spacing * (1 - 1e-9)
    assert one_part_within(away, 2.5 * spacing)


def test_the_largest_fleet_is_drawn() -> None:
    assert len(drawn("box", 1024, 0)) == 1024


@pytest.mark.parametrize("family", FAMILIES)
def test_a_range_in_metres_holds_at_the_familys_own_spacing(family: str) -> None:
    for seed in range(3):
        fleet = drawn(family, 24, seed)
        within = 2 * float(np.median(distances(fleet.positions).min(axis=1)))
        assert one_part_within(distances(drawn(family, 24, seed, within=within).positions), within)


@pytest.mark.parametrize("family", FAMILIES)
class TestHeights:
    def test_are_within_the_range_and_leave_the_places_alone(self, family: str) -> None:
        flat, high = (drawn(family, 40, 5, spacing=1000.0, heights=heights) for heights in (None, HEIGHTS))
        assert not flat.has_heights
        assert np.array_equal(flat.positions, high.horizontal)
        assert HEIGHTS[0] <= high.heights.min() < high.heights.max() <= HEIGHTS[1]

    def test_neighbours_are_at_similar_ones(self, family: str) -> None:
        fleet = drawn(family, 60, 5, spacing=1000.0, heights=HEIGHTS)
        rise = np.abs(fleet.heights[:, None] - fleet.heights)
        away = distances(fleet.horizontal)
        assert rise[np.arange(60), away.argmin(axis=1)].mean() < 0.7 * rise.mean()
        assert (rise / away).max() < 0.5

    def test_one_height_is_a_range_too(self, family: str) -> None:
        assert np.array_equal(drawn(family, 5, 0, heights=(80.0, 80.0)).heights, np.full(5, 80.0))


def test_gaps_are_closed_and_what_stands_together_stays_together() -> None:
    two_pairs = np.array([0.0, 10.0, 500.0, 500.0 + 10.0j])
    closed = closed_up(two_pairs, 20.0)
    assert np.abs(np.diff(closed)).tolist() == pytest.approx([10.0, 20.0, 10.0])
    assert closed[3] - closed[2] == pytest.approx(10.0j)
    assert np.array_equal(closed_up(two_pairs, 500.0), two_pairs)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        *(({"spacing": spacing}, "spacing must be a positive number") for spacing in (0.0, -1.0, np.nan, np.inf)),
        *(({"within": within}, "within must be a positive number") for within in (0.0, np.nan)),
        ({"heights": (10.0, 5.0)}, "heights are a range in metres, the lower first, not 10.0 … 5.0"),
        ({"heights": (0.0, np.nan)}, "heights are a range"),
        ({"spacing": 100.0, "within": 50.0}, "with 100 m between neighbours came out connected within 50 m"),
    ],
)
def test_what_cannot_be_asked_for_is_said(asked: dict[str, Any], problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        drawn("box", 9, 0, **asked)
