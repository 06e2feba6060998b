from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology, continuity, kept, metrics
from manetdiff.errors import TopologyError
from manetdiff.topology import METRICS, Report
from support.strategies import fleets, topologies

CROSS = Fleet([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]], np.zeros(5))


def test_links_are_sorted_pairs_and_equality_ignores_their_order() -> None:
    one = Topology([(3, 1), (0, 2)], [0, 1, 1, 0, 0])
    assert one.links.tolist() == [[0, 2], [1, 3]]
    assert one == Topology([(1, 3), (2, 0)], [0, 1, 1, 0, 0], Report(method="by hand"))
    assert one != Topology([(1, 3)], [0, 1, 1, 0, 0])
    assert hash(one) == hash(Topology([(1, 3), (2, 0)], [0, 1, 1, 0, 0]))
    assert Topology.from_adjacency(one.adjacency, one.parity) == one


@pytest.mark.parametrize(
    ("links", "parity", "words"),
    [
        ([(0, 5)], [0, 1], "outside 0 … 1"),
        ([(-1, 0)], [0, 1], "outside"),
        ([(1, 1)], [0, 1], "itself"),
        ([(0, 1), (1, 0)], [0, 1], "twice"),
        ([(0.5, 1)], [0, 1], "whole"),
        ([0, 1], [0, 1], "(m, 2)"),
        ([], [0, 2], "node 1"),
        ([], [[0, 1]], "(n,)"),
    ],
)
def test_bad_topologies_are_refused(links: object, parity: object, words: str) -> None:
    with pytest.raises(TopologyError) as caught:
        Topology(links, parity)  # type: ignore[arg-type]
    assert words in str(caught.value)


def test_metrics_of_a_hand_made_star() -> None:
    star = metrics(Topology([(0, 1), (0, 2), (0, 3), (0, 4)], [0, 1, 1, 1, 1]), CROSS, Radio(unit=1.0))
    assert set(star) == {*METRICS, "sustained"}
    assert (star["links"], star["mean_length"]) == (4, 1.0)
    assert (star["connected"], star["parity"], star["valid"], star["antenna_saturation"]) == (1, 1, 1, 0)
    # Nobody is under another's beam: each direction carries log2(1 + 1 / σ²).
    assert np.isclose(star["throughput"], 8 * np.log2(1 + 1 / 0.45))
    assert np.isclose(star["link_throughput"], star["throughput"] / 4)


def test_metrics_count_violations_where_they_should() -> None:
    # Two links on one antenna of node 0, one of them inside a parity; node 4 is left out.
    fleet = Fleet(np.array([[0, 0], [1, 0.2], [1, -0.2], [-1, 0], [0, -2]]), np.zeros(5))
    scored = metrics(Topology([(0, 1), (0, 2), (0, 3)], [0, 1, 0, 1, 0]), fleet)
    assert scored["antenna_saturation"] == 1 / 5
    assert scored["node_saturation"] == 1 / 5
    assert (scored["connected"], scored["valid"]) == (0, 0)
    assert np.isclose(scored["parity"], 2 / 3)


def test_an_empty_topology_has_no_nan() -> None:
    scored = metrics(Topology(np.empty((0, 2), int), [0] * 5), CROSS)
    assert all(np.isfinite(value) for value in scored.values())
    assert (scored["links"], scored["throughput"], scored["connected"]) == (0, 0, 0)


@given(st.data())
def test_connectivity_agrees_with_networkx(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    topology = data.draw(topologies(len(fleet)))
    graph = nx.Graph(topology.links.tolist())
    graph.add_nodes_from(range(len(fleet)))
    assert metrics(topology, fleet)["connected"] == nx.is_connected(graph)


def test_continuity_and_kept() -> None:
    before = Topology([(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1])
    after = Topology([(0, 1), (1, 2), (0, 3)], [0, 1, 0, 1])
    assert continuity(before, after) == 2 / 4
    assert kept(before, after) == 2 / 3
    empty = Topology(np.empty((0, 2), int), [0, 0, 0, 0])
    assert continuity(empty, empty) == kept(empty, empty) == 1.0


def test_a_topology_of_another_fleet_is_refused() -> None:
    with pytest.raises(TopologyError, match="2 nodes, the fleet 5"):
        metrics(Topology([(0, 1)], [0, 1]), CROSS)


def test_a_report_says_what_was_done_and_nothing_else() -> None:
    report = Report(method="netdiff", seed=0).replace(steps=3, correction={"added": 1})
    assert report == Report(method="netdiff", seed=0, steps=3, correction={"added": 1})
    assert report.to_dict() == {"method": "netdiff", "seed": 0, "steps": 3, "correction": {"added": 1}}
    assert Report().to_dict() == {}
    with pytest.raises(TypeError, match="no entry step"):
        report.replace(step=3)
