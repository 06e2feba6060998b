"""Nodes far out: who is, who is not, and that nothing else changes for it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, metrics, solve
from manetdiff.data.benchmark import load_benchmark
from manetdiff.fleet.outliers import FAR, far_out
from manetdiff.layout import Layout
from manetdiff.scenarios import FAMILIES, draw
from support.pairs import every_pair, linkable
from support.strategies import drawn, fleets


def with_nodes(fleet: Fleet, *places: tuple[float, float]) -> Fleet:
    """The fleet and more nodes after it, at places in spreads from its middle."""
    more = fleet.positions.mean(axis=0) + fleet.spread * np.array(places)
    return Fleet(np.vstack([fleet.positions, more]), np.append(fleet.yaw, np.zeros(len(places))))


def test_an_example_by_hand() -> None:
    cross = [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]
    assert far_out(np.array([*cross, [9.9, 0]], dtype=float)).tolist() == [False] * 6
    assert far_out(np.array([*cross, [0, -10.1]], dtype=float)).tolist() == [False] * 5 + [True]
    # The inner gap counts: what lies beyond it is far out, however far the farthest is.
    line = [[x, 0.0] for x in range(-3, 4)]
    assert far_out(np.array([*line, [50, 0], [1e6, 0]])).tolist() == [False] * 7 + [True, True]


def test_many_nodes_are_never_far_out() -> None:
    near, far = np.random.default_rng(0).normal(size=(2, 12, 2))
    for count in range(1, 12):
        split = np.vstack([near, far[:count] + 1e4])
        assert far_out(split).sum() == (count if 4 * count <= len(split) else 0)
    for few in (2, 3):
        assert not far_out(np.array([[0.0, 0], [1, 0], [1e6, 0]])[-few:]).any()


def test_nodes_above_each_other_leave_nobody_far_out() -> None:
    stack = [(0.0, 0.0, 100.0 * k) for k in range(5)]
    fleet = Fleet([*stack, (1e6, 0.0, 0.0)], np.zeros(6))
    assert not fleet.far_out.any()
    assert fleet.scale == fleet.spread > 0
    # Height is no distance from the middle.
    high = Fleet([(x, y, 1e6 * (x == y == 1)) for x in range(3) for y in range(3)], np.zeros(9))
    assert not high.far_out.any()


@pytest.mark.filterwarnings("error")
def test_coordinates_near_the_limits_are_no_trouble() -> None:
    corners = np.array([(1.0, 1), (1, -1), (-1, 1), (-1, -1), (0, 0.5)])
    assert not far_out(8e307 * corners).any()
    assert far_out(np.vstack([1e299 * corners, [(8e307, 8e307)]])).tolist() == [False] * 5 + [True]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_drawn_fleet_has_any_and_its_unit_is_its_spread(family: str) -> None:
    for n in (4, 5, 8, 16, 32):
        for seed in range(12):
            fleet = draw(family, n, np.random.default_rng((seed, n)))
            assert Radio().unit_for(fleet) == fleet.spread
            distance = np.sort(np.hypot(*(fleet.positions - np.median(fleet.positions, axis=0)).T))
            # Not even near it.
            assert (distance[n - n // 4 :] < 0.5 * FAR * distance[n - n // 4 - 1 : -1]).all()


@pytest.mark.parametrize("name", ["bench16", "bench32"])
def test_no_fleet_of_the_benchmark_sets_has_any(name: str) -> None:
    assert all(Radio().unit_for(one.fleet) == one.fleet.spread for one in load_benchmark(name)[::5])


@given(fleets(smallest=4), st.floats(0, 2 * np.pi), st.floats(100, 1e6))
def test_one_node_far_out_changes_nothing_for_the_others(fleet: Fleet, angle: float, away: float) -> None:
    more = with_nodes(fleet, (away * np.cos(angle), away * np.sin(angle)))
    assert more.far_out.tolist() == [False] * len(fleet) + [True]
    assert more.spread > 10 * fleet.spread
    assert more.scale == fleet.scale
    near = np.ix_(range(len(fleet)), range(len(fleet)))
    assert np.allclose(every_pair(more).distance[near], every_pair(fleet).distance, rtol=1e-6)
    assert not linkable(more)[-1].any()


def test_it_does_not_raise_t() -> None:
    fleet = drawn(12)
    alone = metrics(solve(fleet, method="mst-greedy"))["throughput"]
    with pytest.warns(UserWarning, match="'12' is so far out that the unit of distance is the spread of the others"):
        more = solve(with_nodes(fleet, (800.0, 600.0)), method="mst-greedy")
    assert metrics(more)["throughput"] == pytest.approx(alone)


def test_the_network_reads_of_the_others_what_it_would_read_without_it() -> None:
    fleet = drawn(12)
    more = with_nodes(fleet, (800.0, 600.0))
    # The same mean heading, so that both are seen in one frame.
    more = more.replace(yaw=np.append(fleet.yaw, fleet.mean_heading))
    seen, alone = Layout(more).features, Layout(fleet).features
    assert np.allclose(seen.node[:12], alone.node, atol=1e-5)
    assert np.allclose(seen.pair[:12, :12, :3], alone.pair[..., :3], atol=1e-5)
    assert np.abs(seen.node).max() <= 5
    assert seen.pair[..., 0].max() <= 5
