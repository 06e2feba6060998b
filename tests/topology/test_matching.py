"""Topologies whose fleets differ: nodes are matched by id."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Fleet, Radio, Topology, continuity, kept
from manetdiff.errors import TopologyError
from manetdiff.layout import Layout
from manetdiff.topology import carried_over, check_related, places_in
from support.strategies import drawn, topologies


def of(ids: str) -> Layout:
    """Nodes on a line."""
    return Layout(Fleet([[k, 0.1 * k * k] for k in range(len(ids))], np.zeros(len(ids)), list(ids)))


MODEL = md.load()
BEFORE = Topology([(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1], layout=of("abcd"))


def test_an_example_by_hand() -> None:
    # b has left, x has joined: of a-b, b-c and c-d the last is there still, and d-x is new.
    after = Topology([(0, 2), (0, 3)], [1, 0, 0, 0], layout=of("dacx"))
    assert places_in(of("abcd").fleet, of("dacx").fleet).tolist() == [3, 0, 2, -1]
    assert kept(BEFORE, after) == 1 / 3
    assert continuity(BEFORE, after) == continuity(after, BEFORE) == 1 / 4
    carried = carried_over(BEFORE, of("dacx"))
    assert carried.links.tolist() == [[0, 2]]
    assert carried.parity.tolist() == [1, 0, 0, 0]
    assert carried.on().fleet.ids == ("d", "a", "c", "x")


def test_without_fleets_nodes_are_matched_by_index() -> None:
    after = Topology([(0, 1), (0, 3)], [0, 1, 0, 1])
    assert continuity(BEFORE, after) == continuity(after, BEFORE) == 1 / 4
    assert kept(BEFORE, after) == 1 / 3


@given(topologies(8), topologies(8), st.permutations(range(8)))
def test_the_order_of_the_nodes_is_no_matter(before: Topology, after: Topology, order: list[int]) -> None:
    fleet = drawn(8)
    turned = Fleet(fleet.positions[order], fleet.yaw[order], [fleet.ids[k] for k in order])
    reordered = carried_over(after, Layout(turned), fleet)
    known = Topology(before.links, before.parity, layout=Layout(fleet))
    assert continuity(known, reordered) == continuity(before, after)
    assert kept(known, reordered) == kept(before, after)
    assert carried_over(reordered, Layout(fleet)) == after


def test_fleets_without_a_common_node_are_not_related() -> None:
    check_related(of("abcd").fleet, of("xd").fleet)
    with pytest.raises(TopologyError, match=r"it has 'a', 'b', 'c' and 1 more, the fleet 'x', 'y' \(nodes are matched"):
        check_related(of("abcd").fleet, of("xy").fleet)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [([0, 500], None, True), ([500, 500], None, False), ([0, 500], [0, 0], False), (None, [0, 500], False)],
)
def test_heights_that_the_fleet_no_longer_says_are_missed(
    before: list[float] | None, after: list[float] | None, told: bool
) -> None:
    def at(heights: list[float] | None) -> Fleet:
        flat = np.array([[0.0, 0.0], [900.0, 100.0]])
        return Fleet(flat if heights is None else np.column_stack([flat, heights]), [0, 0])

    topology = Topology([(0, 1)], [0, 1], layout=Layout(at(before), Radio(unit=1000)))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        MODEL.update(topology, at(after))
    assert ["have heights, the fleet's have none" in str(one.message) for one in seen] == [True] * told
    assert [one.filename for one in seen] == [__file__] * told
