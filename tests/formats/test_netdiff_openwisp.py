"""Our topology files in OpenWISP's netdiff: it reads them, and its diff names the links that an update changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manetdiff as md
from manetdiff import Fleet, Topology
from manetdiff.formats import write_topology
from manetdiff.scenarios import draw, move_by
from support.strategies import fleets, topologies

netdiff = pytest.importorskip("netdiff", reason="OpenWISP's netdiff is not installed (pip install netdiff)")

Link = frozenset[str]


def parsed(topology: Topology, fleet: Fleet, path: Path) -> Any:
    """What OpenWISP's parser makes of the file that we write."""
    write_topology(topology, fleet, None, path)
    return netdiff.NetJsonParser(file=str(path))


def named_links(topology: Topology, fleet: Fleet) -> set[Link]:
    return {frozenset((fleet.ids[i], fleet.ids[j])) for i, j in topology.links}


def links_of(part: Any) -> set[Link]:
    """The links in one part of a diff; None stands for a part without any."""
    return set() if part is None else {frozenset((link["source"], link["target"])) for link in part["links"]}


def nodes_of(part: Any) -> set[str]:
    return set() if part is None else {node["id"] for node in part["nodes"]}


@st.composite
def before_and_after(drawn: st.DrawFn) -> tuple[tuple[Fleet, Topology], tuple[Fleet, Topology]]:
    """Two fleets that share some of their ids, in another order, each with any topology."""
    pair = []
    for _ in range(2):
        fleet = drawn(fleets())
        ids = drawn(st.permutations([f"n{k}" for k in range(14)]))[: len(fleet)]
        pair.append((Fleet(fleet.positions, fleet.yaw, ids), drawn(topologies(len(fleet)))))
    return pair[0], pair[1]


@given(before_and_after())
def test_a_file_is_read_as_it_was_meant(tmp_path_factory: pytest.TempPathFactory, pair: Any) -> None:
    (fleet, topology), _ = pair
    read = parsed(topology, fleet, tmp_path_factory.getbasetemp() / "openwisp.json")
    assert (read.protocol, read.version, read.metric) == ("manetdiff", "1", "1/(Mbit/s)")
    assert list(read.graph.nodes) == list(fleet.ids)
    assert {frozenset(link) for link in read.graph.edges} == named_links(topology, fleet)
    for k, (_, node) in enumerate(read.graph.nodes(data=True)):
        assert (node["x"], node["y"], node["yaw"]) == (*fleet.positions[k], fleet.yaw[k])
        assert node["parity"] == topology.parity[k]
    rates = md.rates(topology, fleet)
    for (i, j), both in zip(topology.links, rates, strict=True):
        link = read.graph.edges[fleet.ids[i], fleet.ids[j]]
        assert (link["rate_forward"], link["rate_backward"]) == tuple(both)
        assert link["weight"] == pytest.approx(1 / max(both.sum(), 1e-9))


@given(before_and_after())
def test_a_diff_names_the_links_and_nodes_that_came_and_went(
    tmp_path_factory: pytest.TempPathFactory, pair: Any
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (fleet, topology), (later, new) = pair
    was, now = named_links(topology, fleet), named_links(new, later)
    before, after = parsed(topology, fleet, folder / "before.json"), parsed(new, later, folder / "after.json")
    assert netdiff.diff(before, before) == {"added": None, "removed": None, "changed": None}
    diff = netdiff.diff(before, after)
    assert links_of(diff["added"]) == now - was
    assert links_of(diff["removed"]) == was - now
    assert nodes_of(diff["added"]) == set(later.ids) - set(fleet.ids)
    assert nodes_of(diff["removed"]) == set(fleet.ids) - set(later.ids)
    assert links_of(diff["changed"]) <= was & now


def test_the_diff_of_an_update_of_a_fleet_that_moved_lost_and_gained_nodes(tmp_path: Path) -> None:
    drawn = draw("mixed", 16, np.random.default_rng(7))
    fleet = Fleet(drawn.positions, drawn.yaw, [f"n{k}" for k in range(16)])
    moved = move_by(fleet, 0.3, np.random.default_rng(8))
    joined = moved.positions[0] + 0.3 * fleet.spread
    later = Fleet([*moved.positions[2:], joined], [*moved.yaw[2:], 0.0], [*fleet.ids[2:], "new"])
    model = md.load()
    topology = model.generate(fleet, seed=1)
    update = model.update(topology, later, previous=fleet, seed=1)
    was, now = named_links(topology, fleet), named_links(update, later)
    kept, new, dropped = was & now, now - was, was - now
    assert kept and new and dropped  # otherwise this test says little
    diff = netdiff.diff(parsed(topology, fleet, tmp_path / "a.json"), parsed(update, later, tmp_path / "b.json"))
    assert links_of(diff["added"]) == new
    assert links_of(diff["removed"]) == dropped
    assert links_of(diff["changed"]) == kept  # every node has moved, and with it every rate
    assert nodes_of(diff["added"]) == {"new"}
    assert nodes_of(diff["removed"]) == {"n0", "n1"}
