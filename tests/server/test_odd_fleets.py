"""Fleets that reports could make and no topology could be of: refused at the door, or set right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.server.errors import RefusedError
from manetdiff.server.messages_in import Positions
from manetdiff.server.roster import Merged, Roster, fleet_of

PATIENCE = 10.0


def _merge(roster: Roster, time: float, *nodes: dict[str, Any], complete: bool = False) -> Merged:
    report = Positions.model_validate({"time": time, "nodes": list(nodes), "complete": complete})
    return roster.merge(report, 0.0, PATIENCE)


def _metres(name: str) -> dict[str, Any]:
    return {"id": name, "x": 0.0, "y": 0.0}


def _degrees(name: str, lat: float = 47.0, lon: float = 8.0) -> dict[str, Any]:
    return {"id": name, "lat": lat, "lon": lon}


def _ids(roster: Roster) -> list[str]:
    return [one.node.id for one in roster.seen()]


def test_a_late_report_of_all_nodes_cannot_mix_its_kind_of_positions_with_newer_ones() -> None:
    roster = Roster(10)
    _merge(roster, 10.0, _metres("A"))
    with pytest.raises(RefusedError, match="metres"):
        _merge(roster, 5.0, _degrees("B"), complete=True)
    with pytest.raises(RefusedError, match="metres"):
        _merge(roster, 5.0, _degrees("A"), _degrees("B"))
    assert _ids(roster) == ["A"]
    _merge(roster, 11.0, _degrees("B"), complete=True)  # all others have left
    assert _ids(roster) == ["B"]


def test_newer_nodes_count_when_a_late_report_of_all_nodes_is_as_large_as_may_be() -> None:
    roster = Roster(2)
    _merge(roster, 10.0, _metres("A"))
    with pytest.raises(RefusedError, match="at most 2"):
        _merge(roster, 5.0, _metres("B"), _metres("C"), complete=True)
    _merge(roster, 5.0, _metres("B"), complete=True)
    assert _ids(roster) == ["A", "B"]


def test_a_node_on_the_other_side_of_the_earth_is_refused_and_the_others_go_on() -> None:
    roster = Roster(10)
    _merge(roster, 0.0, _degrees("A"), _degrees("B", 47.1))
    with pytest.raises(RefusedError, match="node 'C' is beyond the horizon"):
        _merge(roster, 1.0, _degrees("C", -47.0, -172.0))
    _merge(roster, 2.0, _degrees("A", 47.01))
    assert len(fleet_of(roster.seen(), None)) == 2


def test_among_others_it_is_left_out_and_counted_also_where_it_came_first() -> None:
    roster = Roster(10)
    _merge(roster, 0.0, _degrees("C", -47.0, -172.0))
    taken = _merge(roster, 1.0, *(_degrees(name, 47.0 + 0.01 * k) for k, name in enumerate("ABDE")))
    assert (taken.taken, taken.left, taken.left_out) == (4, 1, 0)
    taken = _merge(roster, 2.0, _degrees("A", 47.01), _degrees("C", -47.0, -172.0))
    assert (taken.taken, taken.left_out, _ids(roster)) == (1, 1, ["A", "B", "D", "E"])


_PLACES = st.sampled_from([-1e9, 0.0, 1e-300, 1e-9, 1e-6, 0.1, 5.0, 1e9])


@given(st.lists(st.tuples(_PLACES, _PLACES), min_size=2, max_size=30))
def test_whatever_places_nodes_say_they_are_at_there_is_a_fleet_of_them(places: list[tuple[float, float]]) -> None:
    roster = Roster(100)
    _merge(roster, 0.0, *({"id": str(k), "x": x, "y": y} for k, (x, y) in enumerate(places)))
    fleet = fleet_of(roster.seen(), None)
    width = np.ptp(np.array(places), axis=0).max()
    assert np.abs(fleet.horizontal - places).max() <= max(2.0, 1e-6 * width)


def test_a_thousand_nodes_on_one_bench_are_a_fleet() -> None:
    roster = Roster(1024)
    _merge(roster, 0.0, *({"id": str(k), "x": 5.0, "y": 5.0, "z": 1.0} for k in range(1024)))
    assert len(fleet_of(roster.seen(), None)) == 1024
