"""Blocked azimuths: nothing is linked, sent or heard where either end has no antenna."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology, metrics, solve
from manetdiff.radio import Placement, link_rates
from manetdiff.radio.blocked import blocked_directions
from manetdiff.radio.rates import FloatArray
from support.pairs import every_pair, linkable
from support.strategies import fleets, radios, topologies

# Node 0 heads north; the others stand ahead, to the left, behind and to the right of it, and head east.
CROSS = Fleet([[0, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], [math.pi / 2, 0, 0, 0, 0])
DEGREE = math.pi / 180


def _rates(topology: Topology, fleet: Fleet, radio: Radio) -> FloatArray:
    return link_rates(Placement(fleet, radio), topology.links, topology.parity)


def _cross(*arcs: tuple[float, float], node: int = 0) -> Fleet:
    """Some of one node's directions blocked, in degrees."""
    blocked = [[] if k != node else [(a * DEGREE, b * DEGREE) for a, b in arcs] for k in range(5)]
    return Fleet(CROSS.positions, CROSS.yaw, blocked=blocked)


@pytest.mark.parametrize(
    ("arcs", "seen"),
    [
        ([(80, 100)], [1, 3, 4]),  # to the left
        ([(-10, 10)], [2, 3, 4]),  # ahead
        ([(350, 10)], [2, 3, 4]),  # the same
        ([(10, 350)], [1]),  # all but ahead
        ([(170, 190), (260, 280)], [1, 2]),
        ([(-190, -170)], [1, 2, 4]),
        ([(0, 360)], []),
        ([(45, 405)], []),
        ([(1, 2)], [1, 2, 3, 4]),
    ],
)
def test_arcs_run_counter_clockwise_from_the_nose(arcs: list[tuple[float, float]], seen: list[int]) -> None:
    candidate = linkable(_cross(*arcs))
    assert np.flatnonzero(candidate[0]).tolist() == seen
    assert np.array_equal(candidate, candidate.T)


def test_either_end_will_do() -> None:
    # Node 1 stands ahead of node 0, heads east, and has node 0 to its right.
    masted = _cross((260, 280), node=1)
    there = every_pair(masted)
    assert np.flatnonzero(linkable(masted)[0]).tolist() == [2, 3, 4]
    for power in (there.sent, there.signal, there.fade):
        assert power[0, 1] == power[1, 0] == 0.0
        assert (power[[0, 0, 2], [2, 3, 4]] > 0).all()


def test_a_link_in_a_blocked_direction_carries_and_spills_nothing() -> None:
    topology = Topology([(0, 1), (0, 2), (3, 4)], [0, 1, 1, 0, 1])
    both = _rates(topology, _cross((80, 100)), Radio(sectors=2))
    alone = _rates(Topology([(0, 1), (3, 4)], [0, 1, 1, 0, 1]), CROSS, Radio(sectors=2))
    assert both[1].tolist() == [0.0, 0.0]
    assert both[2].tolist() == alone[1].tolist()


def test_what_comes_from_a_blocked_direction_is_not_heard() -> None:
    # 0 → 1 and 3 → 2 along one line: node 1 hears 3 beyond 2, and node 2 hears 0 beyond 1.
    line = Fleet([[0, 0], [1, 0], [4, 0], [5, 0]], [0, 0, 0, 0])
    topology = Topology([(0, 1), (2, 3)], [0, 1, 1, 0])
    radio = Radio(unit=1.0, alpha=0.0, epsilon=0.0, sigma2=0.5, theta_max=0.1, sectors=1)
    heard, quiet = math.log2(1 + 1 / (0.5 + 1 / 16)), math.log2(3)
    assert _rates(topology, line, radio).ravel().tolist() == pytest.approx([heard, quiet, quiet, heard], rel=1e-12)
    # A mast ahead of node 1: it no longer hears node 3, and 0 → 1 comes from behind.
    masted = Fleet(line.positions, line.yaw, blocked=[[], [(-0.1, 0.1)], [], []])
    assert _rates(topology, masted, radio)[0, 0] == pytest.approx(quiet, rel=1e-12)
    for pattern in ("cone", "parabolic"):
        steered = dataclasses.replace(radio, pattern=pattern, beamwidth=0.5, reception="omni")
        assert _rates(topology, masted, steered)[0, 0] > _rates(topology, line, steered)[0, 0]


@given(st.data(), radios(options=True))
@settings(max_examples=50)
def test_blocking_never_makes_candidates_and_never_adds_to_interference(data: st.DataObject, radio: Radio) -> None:
    fleet = data.draw(fleets(largest=8, blocked=True))
    free = Fleet(fleet.positions, fleet.yaw)
    blocked, open_ = every_pair(fleet, radio), every_pair(free, radio)
    assert not (linkable(fleet, radio) & ~linkable(free, radio)).any()
    for name in ("sent", "signal", "fade"):
        assert (getattr(blocked, name) <= getattr(open_, name)).all()
    assert np.array_equal(blocked.sector, open_.sector)
    links = np.argwhere(np.triu(linkable(fleet, radio)))
    topology = Topology(links, data.draw(topologies(len(fleet))).parity)
    assert (_rates(topology, fleet, radio) >= _rates(topology, free, radio)).all()


@given(st.data(), radios(), st.floats(-3.1, 3.1))
@settings(max_examples=50)
def test_a_fleet_that_turns_as_a_whole_takes_its_blocked_directions_along(
    data: st.DataObject, radio: Radio, turn: float
) -> None:
    fleet = data.draw(fleets(largest=8, blocked=True))
    topology = data.draw(topologies(len(fleet)))
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    turned = fleet.replace(fleet.positions @ rotation, fleet.yaw + turn)
    before, after = metrics(topology, fleet, radio), metrics(topology, turned, radio)
    for name, value in before.items():
        assert math.isclose(value, after[name], rel_tol=1e-7, abs_tol=1e-9), name


@pytest.mark.filterwarnings("ignore:the network is in:UserWarning")
def test_a_search_links_nobody_in_a_blocked_direction() -> None:
    rng = np.random.default_rng(2)
    for _ in range(5):
        arcs = [[(start, start + 1.5)] for start in rng.uniform(-3, 3, 10)]
        fleet = Fleet(rng.normal(size=(10, 2)), rng.uniform(-3, 3, 10), blocked=arcs)
        found = solve(fleet, moves=300, seed=0)
        i, j = found.links.T
        east, north = (fleet.positions[j] - fleet.positions[i]).T
        there = np.arctan2(north, east)
        assert len(found.links)
        assert not (blocked_directions(fleet, i, there) | blocked_directions(fleet, j, there + math.pi)).any()


def test_directions_are_asked_one_by_one_or_all_at_once() -> None:
    rng = np.random.default_rng(1)
    arcs = [rng.uniform(-6, 6, (k % 3, 2)) for k in range(9)]
    fleet = Fleet(rng.normal(size=(9, 2)), rng.uniform(-3, 3, 9), blocked=arcs)
    nodes, bearing = np.arange(9), rng.uniform(-math.pi, math.pi, (9, 20))
    together = blocked_directions(fleet, nodes[:, None], bearing)
    assert together.shape == (9, 20) and 0 < together.sum() < together.size
    for k in range(20):
        assert np.array_equal(blocked_directions(fleet, nodes, bearing[:, k]), together[:, k])
    assert not together[::3].any()  # nodes without arcs
    assert not blocked_directions(Fleet(fleet.positions, fleet.yaw), nodes[:, None], bearing).any()
