"""Topologies as graphs of other libraries: networkx, GraphML, PyTorch Geometric, each where it is installed."""

from __future__ import annotations

import re
import warnings
from importlib import import_module
from typing import Any

import numpy as np

from manetdiff.errors import FleetError, FormatError, TopologyError
from manetdiff.fleet import Fleet, LocalFrame
from manetdiff.formats.files import PathLike, Text, read_text, write_text
from manetdiff.formats.netjson import layout_among, network_graph
from manetdiff.formats.nodes import GEODETIC, LOCAL, fleet_of, frame_of, node_records
from manetdiff.formats.record import Record, shown
from manetdiff.radio import Radio
from manetdiff.topology import Topology

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_networkx(topology: Topology, fleet: Fleet, radio: Radio | None = None) -> Any:
    """A networkx.Graph: nodes by id with x, y, yaw and parity, links with sectors, rates and cost."""
    graph = _library("networkx", "networkx").Graph()
    document = network_graph(topology, fleet, radio)
    graph.graph.update(document["properties"])
    for node in document["nodes"]:
        graph.add_node(node["id"], **node["properties"])
    for link in document["links"]:
        graph.add_edge(link["source"], link["target"], cost=link["cost"], **link["properties"])
    return graph


def from_networkx(graph: Any, name: str = "the graph") -> tuple[Fleet, Topology]:
    """The fleet and topology of such a graph: nodes need x, y, yaw and parity. name: what messages call it."""
    if graph.is_directed() or graph.is_multigraph():
        raise FormatError(f"{name}: must be undirected, with at most one link between two nodes")
    records = node_records(name, [{**_plain(values), "id": str(node)} for node, values in graph.nodes(data=True)])
    local = [Record(name, one.what, _without_degrees(one.values)) for one in records]
    fleet = fleet_of(name, local, _frame(name, _plain(graph.graph)))
    index = {node: place for place, node in enumerate(graph.nodes)}
    links = [(index[one], index[other]) for one, other in graph.edges]
    try:
        parity = [record.bit("parity") for record in records]
        return fleet, Topology(links, parity, layout=layout_among(name, fleet, _plain(graph.graph)))
    except (TopologyError, FleetError) as error:
        raise FormatError(f"{name}: {error}") from None


def write_graphml(topology: Topology, fleet: Fleet, radio: Radio | None, path: PathLike) -> None:
    """Write GraphML, as Gephi, yEd and igraph read it."""
    for node in fleet.ids:
        if NO_XML.search(node):
            raise FormatError(f"node {node!r}: GraphML cannot keep the control characters in its id")
    lines = _library("networkx", "networkx").generate_graphml(to_networkx(topology, fleet, radio))
    write_text(path, "\n".join(lines) + "\n")


def read_graphml(path: PathLike) -> tuple[Fleet, Topology]:
    """The fleet and topology in a GraphML file that holds x, y, yaw and parity; `-` reads standard input."""
    text = read_text(path)
    return from_networkx(_graph_in(text), text.name)


def _graph_in(text: Text) -> Any:
    # GraphML has no use for declarations of its own, and they are what attacks on XML readers are made of.
    if "<!DOCTYPE" in text.content or "<!ENTITY" in text.content:
        raise FormatError(f"{text.name}: declares a document type, which GraphML does not need")
    networkx = _library("networkx", "networkx")
    try:
        # As text, not as bytes: a file must not choose an encoding in which the check above saw nothing.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is missing is said below, by the node's name
            graph = networkx.parse_graphml(text.content)
    except Exception as error:  # networkx lets through whatever its XML reader raises
        raise FormatError(f"{text.name}: is not GraphML that can be read: {shown(str(error))}") from None
    return graph


def to_pyg(topology: Topology, fleet: Fleet, radio: Radio | None = None) -> Any:
    """A torch_geometric Data.

    x (n, 4): position, cos and sin of yaw. edge_index (2, 2m): every link both ways. edge_attr (2m, 1): Mbit/s that
    way. y (n,): the parity. pos (n, 2).
    """
    data = _library("torch_geometric.data", "torch-geometric")
    torch = import_module("torch")
    document = network_graph(topology, fleet, radio)
    pairs = topology.links.T
    rates = np.array(
        [[link["properties"]["rate_forward"], link["properties"]["rate_backward"]] for link in document["links"]],
        dtype=np.float32,
    ).reshape(-1, 2)
    features = np.column_stack([fleet.positions, np.cos(fleet.yaw), np.sin(fleet.yaw)]).astype(np.float32)
    return data.Data(
        x=torch.from_numpy(features),
        edge_index=torch.from_numpy(np.concatenate([pairs, pairs[::-1]], axis=1).astype(np.int64)),
        edge_attr=torch.from_numpy(np.concatenate([rates[:, :1], rates[:, 1:]])),
        y=torch.from_numpy(topology.parity.astype(np.int64)),
        pos=torch.from_numpy(fleet.positions.astype(np.float32)),
    )


def _library(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise FormatError(f"this format needs the package {package}: pip install {package}") from None


def _plain(values: Any) -> dict[str, Any]:
    """numpy's numbers, which graphs are often built with, as Python's own."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


def _without_degrees(values: Any) -> dict[str, Any]:
    """x, y and yaw are exact; the degrees beside them are for other readers."""
    local = all(name in values for name in LOCAL)
    return {name: value for name, value in values.items() if not (local and name in GEODETIC)}


def _frame(name: str, properties: dict[str, Any]) -> LocalFrame | None:
    if "frame_lat" not in properties:
        return None
    return frame_of(Record(name, "the graph", properties), "frame_lat", "frame_lon")
