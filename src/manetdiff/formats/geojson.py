"""GeoJSON (RFC 7946), for maps and geographic information systems: nodes as points, links as lines."""

from __future__ import annotations

import json
from typing import Any

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.formats.files import PathLike, write_text
from manetdiff.formats.format import FLEET_PARTS, LINK_PARTS, Contents, Format, Holds, Order
from manetdiff.formats.map_lines import map_line, map_places
from manetdiff.formats.netjson import network_graph
from manetdiff.formats.nodes import geodetic_columns
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.topology import Topology


def write_geojson(topology: Topology | None, fleet: Fleet | Layout | None, radio: Radio | None, path: PathLike) -> None:
    """Write a topology, or a fleet alone. fleet, radio: None for those that the topology was made for."""
    write_text(path, json.dumps(geojson(topology, fleet, radio), indent=1, allow_nan=False) + "\n")


def geojson(
    topology: Topology | None, fleet: Fleet | Layout | None = None, radio: Radio | None = None
) -> dict[str, Any]:
    """The feature collection of a topology, or of a fleet alone, ready for json.dumps.

    A height is the third coordinate; a link across the antimeridian is a line in two parts.
    """
    placed = fleet.fleet if isinstance(fleet, Layout) else fleet
    if topology is not None:
        placed = topology.on(fleet, radio).fleet
    assert placed is not None
    if placed.frame is None:
        raise FormatError("GeoJSON needs latitude and longitude: read the fleet from degrees")
    links = [] if topology is None else _links(topology, placed, network_graph(topology, fleet, radio))
    return {"type": "FeatureCollection", "features": [*_nodes(placed, topology), *links]}


def _nodes(fleet: Fleet, topology: Topology | None) -> list[dict[str, Any]]:
    headings = geodetic_columns(fleet)["heading"].tolist()
    parity = [None] * len(fleet) if topology is None else topology.parity.tolist()
    return [
        {
            "type": "Feature",
            "id": name,
            "geometry": {"type": "Point", "coordinates": place},
            "properties": {"id": name, "heading": heading} | ({} if bit is None else {"parity": bit}),
        }
        for name, place, heading, bit in zip(fleet.ids, map_places(fleet), headings, parity, strict=True)
    ]


def _links(topology: Topology, fleet: Fleet, graph: dict[str, Any]) -> list[dict[str, Any]]:
    features = []
    for (one, other), link in zip(topology.links.tolist(), graph["links"], strict=True):
        parts = map_line(fleet, one, other)
        line = {"type": "LineString", "coordinates": parts[0]}
        if len(parts) > 1:
            line = {"type": "MultiLineString", "coordinates": parts}
        ends = {"source": link["source"], "target": link["target"]}
        features.append({"type": "Feature", "geometry": line, "properties": {**ends, **link["properties"]}})
    return features


def _write(held: Contents, order: Order) -> None:
    fleet = held.fleet_at(order.time)
    write_geojson(held.topology, fleet, order.radio, order.path)


FORMAT = Format(
    name="geojson",
    title="GeoJSON",
    holds=Holds.TOPOLOGY,
    suffixes=(".geojson",),
    keeps=FLEET_PARTS | LINK_PARTS,
    write=_write,
)
