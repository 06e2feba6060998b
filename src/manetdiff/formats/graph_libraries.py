"""Topologies as graphs of other libraries: networkx and PyTorch Geometric, each where it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.formats.netjson import layout_among, network_graph
from manetdiff.formats.nodes import fleet_of, frame_among, node_records, without_degrees
from manetdiff.formats.record import naming
from manetdiff.layout import Layout
from manetdiff.radio import Radio, link_rates
from manetdiff.topology import Topology


def to_networkx(topology: Topology, fleet: Fleet | Layout | None = None, radio: Radio | None = None) -> Any:
    """A networkx.Graph: nodes by id with x, y, yaw and parity (and z), links with sectors, rates and cost.

    - fleet, radio: by default those that the topology was made for.
    """
    graph = library("networkx", "networkx").Graph()
    document = network_graph(topology, fleet, radio)
    graph.graph.update(document["properties"])
    for node in document["nodes"]:
        graph.add_node(node["id"], **node["properties"])
    for link in document["links"]:
        graph.add_edge(link["source"], link["target"], cost=link["cost"], **link["properties"])
    return graph


def from_networkx(graph: Any, name: str = "the graph") -> tuple[Fleet, Topology]:
    """The fleet and topology of such a graph: nodes need x, y, yaw and parity, all or none z.

    - name: what messages call it.
    """
    if graph.is_directed() or graph.is_multigraph():
        raise FormatError(f"{name}: must be undirected, with at most one link between two nodes")
    entries = [{**without_degrees(_plain(values)), "id": str(node)} for node, values in graph.nodes(data=True)]
    records = node_records(name, entries)
    properties = _plain(graph.graph)
    fleet = fleet_of(name, records, frame_among(name, properties))
    index = {node: place for place, node in enumerate(graph.nodes)}
    links = [(index[one], index[other]) for one, other in graph.edges]
    with naming(name):
        parity = [record.bit("parity") for record in records]
        return fleet, Topology(links, parity, layout=layout_among(name, fleet, properties))


def to_pyg(topology: Topology, fleet: Fleet | Layout | None = None, radio: Radio | None = None) -> Any:
    """A torch_geometric Data; fleet, radio: by default those that the topology was made for.

    - x (n, 4): position, cos and sin of yaw. edge_index (2, 2m): every link both ways. edge_attr (2m, 1): Mbit/s that
      way. y (n,): the parity. pos (n, 2). With heights x is (n, 5) and pos (n, 3).
    """
    data = library("torch_geometric.data", "torch-geometric")
    torch = import_module("torch")
    layout = topology.on(fleet, radio)
    pairs = topology.links.T
    rates = link_rates(layout.placement, topology.links, topology.parity).astype(np.float32)
    places, yaw = layout.fleet.positions, layout.fleet.yaw
    features = np.column_stack([places, np.cos(yaw), np.sin(yaw)]).astype(np.float32)
    return data.Data(
        x=torch.from_numpy(features),
        edge_index=torch.from_numpy(np.concatenate([pairs, pairs[::-1]], axis=1).astype(np.int64)),
        edge_attr=torch.from_numpy(np.concatenate([rates[:, :1], rates[:, 1:]])),
        y=torch.from_numpy(topology.parity.astype(np.int64)),
        pos=torch.from_numpy(places.astype(np.float32)),
    )


def library(module: str, package: str) -> Any:
    """The module, or a FormatError that names the package to install."""
    try:
        return import_module(module)
    except ImportError:
        raise FormatError(f"this format needs the package {package}: pip install {package}") from None


def _plain(values: Any) -> dict[str, Any]:
    """numpy's numbers, which graphs are often built with, as Python's own."""
    return {str(name): value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
