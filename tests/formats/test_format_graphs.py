"""Graphs of other libraries: networkx and GraphML give back every bit, PyTorch Geometric gets every number."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import FormatError
from manetdiff.formats.files import read_source
from manetdiff.formats.graph_libraries import from_networkx, to_networkx, to_pyg
from manetdiff.formats.graphml import topology_in, write_graphml
from manetdiff.formats.netjson import network_graph
from support.pairs import every_pair
from support.strategies import placed_fleets, topologies

networkx: Any = pytest.importorskip("networkx")

FLEET = Fleet([(0, 0), (100, 0), (0, 120)], [0.5, -1.0, 3.0], ["A1", "A7", "B"])
TOPOLOGY = Topology([(0, 1), (0, 2)], [0, 1, 1])


@given(placed_fleets(st.text(min_size=1)), st.data())
def test_a_networkx_graph_gives_everything_back_to_the_last_bit(fleet: Fleet, data: st.DataObject) -> None:
    topology = data.draw(topologies(len(fleet)))
    again, links = from_networkx(to_networkx(topology, fleet, Radio(range=10.0)))
    assert network_graph(links) == network_graph(topology, fleet, Radio(range=10.0))
    assert links == topology
    assert np.array_equal(again.positions, fleet.positions)


def test_a_graph_carries_parity_sectors_rates_and_cost() -> None:
    graph = to_networkx(TOPOLOGY, FLEET)
    assert set(graph) == {"A1", "A7", "B"}
    assert [graph.nodes[name]["parity"] for name in FLEET.ids] == [0, 1, 1]
    link = graph.edges["A1", "A7"]
    assert link["cost"] == pytest.approx(1 / (link["rate_forward"] + link["rate_backward"]))
    assert link["distance"] == pytest.approx(100)
    # Along +x, seen from a node that points to 0.5 rad, and back, seen from one that points to -1 rad.
    sector = every_pair(FLEET).sector
    assert (link["sector_source"], link["sector_target"]) == (sector[0, 1], sector[1, 0])
    assert sector[0, 1] != sector[1, 0]
    assert networkx.shortest_path_length(graph, "A7", "B", weight="distance") == pytest.approx(220)


def by_hand(*nodes: dict[str, Any]) -> Any:
    """A graph of numbered nodes with these values; None is left out."""
    graph = networkx.Graph()
    for node, values in enumerate(nodes):
        graph.add_node(node, **{name: value for name, value in values.items() if value is not None})
    return graph


def test_a_graph_may_be_built_by_hand_with_numpy_numbers_and_numbered_nodes() -> None:
    place = {"y": np.float32(0.5), "yaw": 0}
    graph = by_hand(*({"x": np.float64(k), **place, "parity": np.int64(k % 2)} for k in range(3)))
    graph.add_edge(2, 0)
    fleet, topology = from_networkx(graph)
    assert fleet.ids == ("0", "1", "2")
    assert fleet.positions.tolist() == [[0, 0.5], [1, 0.5], [2, 0.5]]
    assert topology == Topology([(0, 2)], [0, 1, 0])


def test_a_graph_in_degrees_alone_is_read() -> None:
    fleet, _ = from_networkx(
        by_hand(*({"lat": lat, "lon": 11.0, "heading": 90.0, "parity": 0} for lat in (48.0, 48.1)))
    )
    assert fleet.frame is not None
    assert fleet.yaw == pytest.approx([0, 0], abs=1e-3)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"x": None}, "node '1': field 'x' is missing"),
        ({"yaw": "north"}, "node '1': field 'yaw' is not a number"),
        ({"y": math.nan}, "node '1': field 'y' is not a finite number"),
        ({"parity": None}, "node '1': field 'parity' is missing"),
        ({"parity": 2}, "node '1': field 'parity' must be 0 or 1, not 2"),
        ({"parity": 1.0}, "node '1': field 'parity' must be 0 or 1"),
        ({"x": 0.0}, "nodes '0' and '1' are at the same place"),
        ({}, "joins a node to itself"),
    ],
)
def test_what_is_wrong_with_a_node_is_named(changes: dict[str, Any], problem: str) -> None:
    first = {"x": 0.0, "y": 0.0, "yaw": 0.0, "parity": 0}
    graph = by_hand(first, {**first, "x": 1.0, **changes})
    graph.add_edge(1, 1)
    with pytest.raises(FormatError, match=f"^mine: .*{problem}"):
        from_networkx(graph, "mine")


@pytest.mark.parametrize("kind", ["DiGraph", "MultiGraph", "MultiDiGraph"])
def test_directed_graphs_and_multigraphs_are_refused(tmp_path: Path, kind: str) -> None:
    graph = getattr(networkx, kind)(to_networkx(TOPOLOGY, FLEET))
    with pytest.raises(FormatError, match="the graph: must be undirected, with at most one link between two nodes"):
        from_networkx(graph)
    if "Multi" in kind:
        graph.add_edge("A1", "A7")
    networkx.write_graphml(graph, tmp_path / "t.graphml")
    with pytest.raises(FormatError, match=r"t\.graphml: must be undirected"):
        topology_in(read_source(tmp_path / "t.graphml"))


@pytest.mark.parametrize("declaration", ["<!DOCTYPE graphml>", '<!DOCTYPE g [<!ENTITY a "aaaa">]>', '<!ENTITY a "b">'])
def test_a_document_type_is_refused(tmp_path: Path, declaration: str) -> None:
    path = tmp_path / "t.graphml"
    write_graphml(TOPOLOGY, FLEET, None, path)
    first, rest = path.read_text().split("<graphml", 1)
    path.write_text(f"{first}{declaration}<graphml{rest}")
    with pytest.raises(FormatError, match=r"t\.graphml: declares a document type, which GraphML does not need"):
        topology_in(read_source(path))


def test_a_file_cannot_choose_the_encoding_that_it_is_read_in(tmp_path: Path) -> None:
    path = tmp_path / "t.graphml"
    write_graphml(TOPOLOGY, Fleet(FLEET.positions, FLEET.yaw, ["ä", "b", "c"]), None, path)
    text = path.read_text(encoding="utf-8")
    body = text[text.index("<graphml") :].replace("&#228;", "ä")
    assert "ä" in body
    path.write_text(f'<?xml version="1.0" encoding="iso-8859-1"?>\n{body}', encoding="utf-8")
    assert topology_in(read_source(path))[0].ids == ("ä", "b", "c")


@pytest.mark.parametrize("module", ["networkx", "torch_geometric.data"])
def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    write = to_networkx if module == "networkx" else to_pyg
    package = "networkx" if module == "networkx" else "torch-geometric"
    with pytest.raises(FormatError, match=f"this format needs the package {package}: pip install {package}"):
        write(TOPOLOGY, FLEET)


@pytest.fixture
def pyg_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for torch_geometric: its Data keeps what it is given."""
    package, data = ModuleType("torch_geometric"), ModuleType("torch_geometric.data")
    data.Data = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch_geometric", package)
    monkeypatch.setitem(sys.modules, "torch_geometric.data", data)


def check_pyg(topology: Topology, fleet: Fleet) -> None:
    torch: Any = pytest.importorskip("torch")
    made = to_pyg(topology, fleet)
    n, m = len(fleet), len(topology.links)
    axes = fleet.positions.shape[1]
    assert made.x.shape == (n, axes + 2)
    assert made.x.dtype == made.pos.dtype == made.edge_attr.dtype == torch.float32
    assert made.x[:, :axes].numpy() == pytest.approx(fleet.positions, rel=1e-6)
    assert torch.equal(made.pos, made.x[:, :axes])
    assert made.x[:, -2].numpy() == pytest.approx(np.cos(fleet.yaw), abs=1e-6)
    assert made.x[:, -1].numpy() == pytest.approx(np.sin(fleet.yaw), abs=1e-6)
    assert made.y.tolist() == topology.parity.tolist()
    assert made.edge_index.shape == (2, 2 * m)
    assert made.edge_index.dtype == made.y.dtype == torch.int64
    assert made.edge_attr.shape == (2 * m, 1)
    rates = {}
    for link in network_graph(topology, fleet)["links"]:
        one, other = fleet.ids.index(link["source"]), fleet.ids.index(link["target"])
        rates[one, other] = link["properties"]["rate_forward"]
        rates[other, one] = link["properties"]["rate_backward"]
    pairs = [tuple(pair) for pair in made.edge_index.T.tolist()]
    assert set(pairs) == set(rates)
    assert made.edge_attr[:, 0].tolist() == pytest.approx([rates[pair] for pair in pairs], rel=1e-6)


@pytest.mark.usefixtures("pyg_data")
def test_pytorch_geometric_gets_every_link_both_ways_with_the_rate_of_that_way() -> None:
    rng = np.random.default_rng(5)
    scattered = Fleet(rng.normal(size=(9, 2)) * 1e3, rng.uniform(-3, 3, 9))
    dense = Topology(np.argwhere(np.triu(rng.random((9, 9)) < 0.4, 1)), rng.integers(0, 2, 9))
    links = network_graph(dense, scattered)["links"]
    assert any(link["properties"]["rate_forward"] != link["properties"]["rate_backward"] for link in links)
    check_pyg(dense, scattered)
    check_pyg(Topology([], [0, 1, 0]), FLEET)
    check_pyg(dense, Fleet(rng.normal(size=(9, 3)) * 1e3, scattered.yaw))


def test_pytorch_geometric_itself_takes_it() -> None:
    pytest.importorskip("torch_geometric", reason="torch-geometric is not installed")
    check_pyg(TOPOLOGY, FLEET)
    assert to_pyg(TOPOLOGY, FLEET).is_undirected()
