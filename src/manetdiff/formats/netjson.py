"""Topology files: NetJSON NetworkGraph (https://netjson.org), with everything of ours under `properties`.

A node carries x, y (metres), yaw (radians), parity, and lat, lon, heading where the fleet knows where on earth it is;
z and alt where it knows how high its nodes are; blocked, in radians, where it has no antenna (see `blocked`).
A link carries the sectors at both ends and the rates both ways in Mbit/s: while its slot lasts, and sustained over
both slots. Its cost is 1 / (sum of both rates): seconds
per Mbit, so that smaller is better. A link that carries nothing, inside one parity, has the cost LARGEST_COST.
Properties hold scalars only: OpenWISP's reader breaks on lists there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from manetdiff.errors import FormatError, RadioError
from manetdiff.files import printable
from manetdiff.fleet import Fleet
from manetdiff.formats.blocked import BLOCKED, radians_text
from manetdiff.formats.columns import understood
from manetdiff.formats.files import PathLike, Source, read_source, write_text
from manetdiff.formats.format import FLEET_PARTS, LINK_PARTS, Contents, Format, Holds, Order, Part
from manetdiff.formats.nodes import (
    fleet_of,
    frame_among,
    geodetic_columns,
    local_columns,
    node_records,
    without_degrees,
)
from manetdiff.formats.record import Record, naming, object_list, parse_object, shown
from manetdiff.layout import Layout
from manetdiff.radio import Radio, link_rates
from manetdiff.topology import SLOT_SHARE, Topology

TYPE = "NetworkGraph"
LARGEST_COST = 1e9
# Before the names of the radio's parameters, among the properties.
RADIO = "radio_"


def write_topology(topology: Topology, fleet: Fleet | Layout | None, radio: Radio | None, path: PathLike) -> None:
    """Write the topology with its fleet; reading it back gives the same links, parity and numbers to the last bit.

    - fleet, radio: None for those that the topology was made for.
    """
    document = network_graph(topology, fleet, radio)
    try:
        text = json.dumps(document, indent=1, allow_nan=False)
    except ValueError:
        raise FormatError(f"{printable(path)}: cannot be written: a rate is not a finite number") from None
    write_text(path, text + "\n")


def read_topology(path: PathLike) -> tuple[Fleet, Topology]:
    """The fleet and its topology in a NetJSON file; `-` reads standard input.

    The topology knows its layout where the file says which radio it was written for.
    """
    return topology_in(read_source(path))


def topology_in(source: Source) -> tuple[Fleet, Topology]:
    """The fleet and its topology in the text of a NetJSON file."""
    if source.content.strip()[:1] not in ("{", "["):  # most likely a fleet as CSV in place of its topology
        raise FormatError(f"{source.name}: is no topology, which is JSON: 'manetdiff generate FLEET --out' makes one")
    document = parse_object(source.name, source.content)
    _check_type(source.name, document)
    records = _node_properties(source.name, document)
    fleet = _fleet(source.name, document, records)
    parity = [record.bit("parity") for record in records]
    properties = document.get("properties")
    layout = layout_among(source.name, fleet, properties) if isinstance(properties, dict) else None
    with naming(source.name):
        return fleet, Topology(_links(source.name, document, fleet), parity, layout=layout)


def layout_among(file: str, fleet: Fleet, properties: Mapping[str, Any]) -> Layout | None:
    """The layout that a topology of ours was written for, by the radio among its properties, if there is one."""
    told = {name.removeprefix(RADIO): value for name, value in properties.items() if name.startswith(RADIO)}
    try:
        return Layout(fleet, Radio.from_dict(told)) if told else None
    except (RadioError, TypeError) as error:
        raise FormatError(f"{file}: {error}") from None


def fleet_in(file: str, document: dict[str, Any]) -> Fleet:
    """The fleet of a NetJSON document, whatever its links are."""
    _check_type(file, document)
    return _fleet(file, document, _node_properties(file, document))


def network_graph(
    topology: Topology, fleet: Fleet | Layout | None = None, radio: Radio | None = None
) -> dict[str, Any]:
    """The NetJSON document of a topology, ready for json.dumps. fleet, radio: as of write_topology."""
    layout = topology.on(fleet, radio)
    properties = {f"{RADIO}{name}": value for name, value in layout.radio.to_dict().items() if value is not None}
    frame = layout.fleet.frame
    if frame is not None:
        properties |= {"frame_lat": frame.latitude, "frame_lon": frame.longitude}
    return {
        "type": TYPE,
        "protocol": "manetdiff",
        "version": "1",
        "metric": "1/(Mbit/s)",
        "properties": properties,
        "nodes": _written_nodes(topology, layout.fleet),
        "links": _written_links(topology, layout),
    }


def _written_nodes(topology: Topology, fleet: Fleet) -> list[dict[str, Any]]:
    columns = {**local_columns(fleet), "parity": topology.parity}
    if fleet.frame is not None:
        columns |= geodetic_columns(fleet)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    nodes: list[dict[str, Any]] = [
        {"id": name, "properties": dict(zip(columns, row, strict=True))}
        for name, row in zip(fleet.ids, rows, strict=True)
    ]
    for node, arcs in zip(nodes, fleet.blocked or (), strict=False):
        if arcs:
            node["properties"][BLOCKED] = radians_text(arcs)
    return nodes


def _written_links(topology: Topology, layout: Layout) -> list[dict[str, Any]]:
    fleet, of_links = layout.fleet, layout.pairs(topology.links)
    rates = link_rates(layout.placement, topology.links, topology.parity).tolist()
    metres = (of_links.distance[:, 0] * layout.unit).tolist()
    return [
        {
            "source": fleet.ids[i],
            "target": fleet.ids[j],
            "cost": 1 / max(forward + backward, 1 / LARGEST_COST),
            "properties": {
                "sector_source": sector_source,
                "sector_target": sector_target,
                "rate_forward": forward,
                "rate_backward": backward,
                "sustained_forward": SLOT_SHARE * forward,
                "sustained_backward": SLOT_SHARE * backward,
                "distance": distance,
            },
        }
        for (i, j), (sector_source, sector_target), (forward, backward), distance in zip(
            topology.links.tolist(), of_links.sector.tolist(), rates, metres, strict=True
        )
    ]


def _check_type(file: str, document: dict[str, Any]) -> None:
    if "type" not in document:
        raise FormatError(f"{file}: field 'type' is missing: a topology file is a NetJSON {TYPE}")
    if document["type"] != TYPE:
        raise FormatError(f"{file}: field 'type' must be \"{TYPE}\", not {shown(document['type'])}")


def _node_properties(file: str, document: dict[str, Any]) -> list[Record]:
    """The properties of each node as a record that also holds its id."""
    nodes = node_records(file, object_list(file, document, "nodes"))
    records = []
    for node in nodes:
        properties = {**without_degrees(node.part("properties").values), "id": node.values["id"]}
        records.append(understood(f"{file}: {node.what}", [*properties]).record(file, node.what, properties))
    return records


def _fleet(file: str, document: dict[str, Any], records: list[Record]) -> Fleet:
    properties = document.get("properties", {})
    return fleet_of(file, records, frame_among(file, properties) if isinstance(properties, dict) else None)


def _links(file: str, document: dict[str, Any], fleet: Fleet) -> list[tuple[int, int]]:
    index = {name: i for i, name in enumerate(fleet.ids)}
    links: dict[tuple[int, int], None] = {}
    for place, entry in enumerate(object_list(file, document, "links"), start=1):
        record = Record(file, f"link number {place}", entry)
        ends = []
        for field in ("source", "target"):
            name = record.name(field)
            if name not in index:
                raise record.error(field, f"names a node that is not there ({shown(name)})")
            ends.append(index[name])
        pair = (min(ends), max(ends))
        if pair[0] == pair[1]:
            raise record.error("target", "is the source itself")
        if pair in links:
            raise record.error("target", f"repeats a link: {fleet.ids[pair[0]]!r} and {fleet.ids[pair[1]]!r} have one")
        links[pair] = None
    return list(links)


def _begins(source: Source) -> bool:
    return source.content.lstrip().startswith("{") and "type" in parse_object(source.name, source.content)


def _write(held: Contents, order: Order) -> None:
    fleet, topology = held.linked("NetJSON")
    write_topology(topology, fleet, order.radio, order.path)


FORMAT = Format(
    name="netjson",
    title="NetJSON",
    holds=Holds.TOPOLOGY,
    suffixes=(".json", ".netjson"),
    keeps=FLEET_PARTS | LINK_PARTS | {Part.BLOCKED, Part.RADIO},
    begins=_begins,
    read=topology_in,
    write=_write,
)
