from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from manetdiff import Fleet
from manetdiff.errors import FleetError
from manetdiff.fleet import same_places
from manetdiff.fleet.azimuths import width_of

PLACES, YAW = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], [0.0, 1.0, 2.0]
ARCS = (((0.5, 1.0), (2.0, 3.0)), (), ((6.0, 0.2),))


def _fleet(blocked: Any = ARCS) -> Fleet:
    return Fleet(PLACES, YAW, ["a", "b", "c"], blocked=blocked)


def test_arcs_are_kept_as_plain_numbers_in_tuples() -> None:
    fleet = _fleet([np.array([[0.5, 1], [2, 3]]), [], [(6, np.float32(0.5))]])
    assert fleet.blocked == (((0.5, 1.0), (2.0, 3.0)), (), ((6.0, 0.5),))
    assert all(type(end) is float for arcs in fleet.blocked for arc in arcs for end in arc)


def test_a_fleet_without_arcs_has_none() -> None:
    assert _fleet(None).blocked is None
    assert _fleet([[], [], []]).blocked is None


def test_fleets_made_from_a_fleet_keep_its_arcs() -> None:
    fleet = _fleet()
    kept = (fleet.replace(yaw=[0, 0, 0]), fleet.moved_to(fleet.positions * 2, fleet.yaw), fleet.normalised())
    for one in kept:
        assert one.blocked == ARCS
    some = fleet.part([2, 0])
    assert some.ids == ("c", "a")
    assert some.blocked == (ARCS[2], ARCS[0])
    assert some.positions.tolist() == [PLACES[2], PLACES[0]]
    assert fleet.part([1, 0]).blocked == ((), ARCS[0])
    assert _fleet(None).part([1, 2]).blocked is None


def test_degrees_become_places_but_arcs_stay_radians() -> None:
    fleet = Fleet.from_geodetic([50, 50.1, 50.2], [8, 8, 8], [0, 90, 180], blocked=ARCS)
    assert fleet.blocked == ARCS


def test_nobody_has_moved_only_if_the_same_directions_are_blocked() -> None:
    assert same_places(_fleet(), _fleet())
    assert not same_places(_fleet(), _fleet(None))
    assert not same_places(_fleet(), _fleet([*ARCS[:2], []]))


@pytest.mark.parametrize(
    ("arc", "width"),
    [((0, 1), 1), ((1, 0), 2 * math.pi - 1), ((6, 0.5), 2 * math.pi - 5.5), ((0, 2 * math.pi), 2 * math.pi)],
)
def test_the_width_of_an_arc(arc: tuple[float, float], width: float) -> None:
    assert width_of(arc) == pytest.approx(width, rel=1e-12)


@pytest.mark.parametrize(
    ("blocked", "words"),
    [
        ([[], []], "blocked has 2 entries for 3 nodes"),
        (5, "blocked must be a list"),
        ([[], 5, []], "node 'b': blocked must be a list of pairs"),
        ([[], [5.0], []], "node 'b': blocked must be a list of pairs"),
        ([[], "ab", []], "node 'b': blocked must be a list of pairs"),
        ([[], [(1.0,)], []], r"node 'b': blocked must hold pairs of finite numbers \(start, stop\)"),
        ([[], [(1.0, 2.0, 3.0)], []], "node 'b': blocked must hold pairs of finite numbers"),
        ([[], [(1.0, math.nan)], []], "node 'b': blocked must hold pairs of finite numbers"),
        ([[], [(1.0, math.inf)], []], "node 'b': blocked must hold pairs of finite numbers"),
        ([[], [(1.0, "2")], []], "node 'b': blocked must hold pairs of finite numbers"),
        ([[], [(True, 2)], []], "node 'b': blocked must hold pairs of finite numbers"),
        ([[], [], [(30.0, 60.0)]], "node 'c': .* is beyond two full turns: azimuths are in radians"),
        ([[(1.0, 1.0)], [], []], "node 'a': .* blocks nothing: it ends where it begins"),
    ],
)
def test_what_is_no_list_of_arcs_is_refused_by_node(blocked: Any, words: str) -> None:
    with pytest.raises(FleetError, match=words):
        _fleet(blocked)
