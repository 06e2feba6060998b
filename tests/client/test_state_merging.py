"""Deltas merged into states."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.client.errors import ClientError
from manetdiff.client.states import link_ends, merged, whole

NAMES = "ABCDE"
numbers = st.integers(0, 2)


@st.composite
def states(draw: st.DrawFn) -> dict[str, Any]:
    """Any nodes in any order, any links between any names, and a key that is replaced."""
    ids = draw(st.permutations(draw(st.lists(st.sampled_from(NAMES), unique=True))))
    pairs = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), unique=True, max_size=8))
    return {
        "version": draw(numbers),
        "nodes": [{"id": id, "x": draw(numbers)} for id in ids],
        "links": [{"source": a, "target": b, "forward": draw(numbers)} for a, b in pairs],
        "metrics": {"links": draw(numbers)},
    }


def delta_of(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What the server sends: the inverse of merging."""
    nodes = {node["id"] for node in new["nodes"]}
    links = {link_ends(link) for link in new["links"]}
    return {
        **new,
        "nodes": [node for node in new["nodes"] if node not in old["nodes"]],
        "links": [link for link in new["links"] if link not in old["links"]],
        "gone": [node["id"] for node in old["nodes"] if node["id"] not in nodes],
        "unlinked": [list(link_ends(link)) for link in old["links"] if link_ends(link) not in links],
    }


def in_order(state: dict[str, Any]) -> dict[str, Any]:
    by_id = sorted(state["nodes"], key=lambda node: str(node["id"]))
    return {**state, "nodes": by_id, "links": sorted(state["links"], key=link_ends)}


@given(st.lists(states(), min_size=1, max_size=6))
def test_merging_the_deltas_of_any_states_gives_each_of_them(path: list[dict[str, Any]]) -> None:
    state = path[0]
    for before, after in itertools.pairwise(path):
        delta = delta_of(before, after)
        was, said = copy.deepcopy(state), copy.deepcopy(delta)
        then = merged(state, delta)
        assert in_order(then) == in_order(after)
        assert (state, delta) == (was, said)
        state = then


def test_what_has_changed_keeps_its_place() -> None:
    state = {"nodes": [{"id": "A", "x": 0}, {"id": "B", "x": 0}], "links": []}
    delta = {"nodes": [{"id": "C", "x": 1}, {"id": "A", "x": 1}], "links": [], "gone": [], "unlinked": []}
    assert [node["id"] for node in merged(state, delta)["nodes"]] == ["A", "B", "C"]


@pytest.mark.parametrize("told", [None, [], {}, {"nodes": 1, "links": []}, {"nodes": [{}], "links": []}])
def test_what_is_no_state_is_said_in_one_line(told: Any) -> None:
    with pytest.raises(ClientError, match="manetdiff serve"):
        whole(told)
    with pytest.raises(ClientError, match="manetdiff serve"):
        merged({"nodes": [], "links": []}, told)
