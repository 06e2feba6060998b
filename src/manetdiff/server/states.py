"""What viewers are shown of a network: its whole state, and what of it has changed since the last."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from manetdiff.formats.netjson import network_graph
from manetdiff.radio import Radio
from manetdiff.server.versions import Version

State = dict[str, Any]


def date_text(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def graph_of(version: Version) -> dict[str, Any]:
    """The NetJSON document of a version."""
    graph = network_graph(version.topology)
    graph["properties"] |= {"version": version.number, "time": version.time, "at": date_text(version.at)}
    for node in graph["nodes"]:
        node["properties"]["stale"] = node["id"] in version.stale
    return graph


def state_of(version: Version | None, network: Mapping[str, Any]) -> State:
    """The state of a network at a version. network: what is said about the network itself."""
    if version is None:
        empty: dict[str, Any] = {"metrics": {}, "update": None, "frame": None, "nodes": [], "links": []}
        return {"network": network, "version": None, "time": None, "at": None, **empty}
    layout, graph = version.layout, graph_of(version)
    radio, frame = layout.radio, layout.fleet.frame
    pinned = {frozenset(pair) for pair in network["pins"]["keep"]}
    return {
        "network": network,
        "version": version.number,
        "time": version.time,
        "at": date_text(version.at),
        "frame": None if frame is None else {"lat": frame.latitude, "lon": frame.longitude},
        "range": radio.range * layout.unit,
        "sectors": radio.sectors,
        "boresight": radio.boresight,
        "beam": beam_width(radio),
        "nodes": [{"id": node["id"], **_shown(node["properties"])} for node in graph["nodes"]],
        "links": [_link(link, pinned) for link in graph["links"]],
        "metrics": dict(version.metrics),
        "update": version.change.to_dict(),
    }


def beam_width(radio: Radio) -> float:
    """Radians from one edge of a beam to the other; of a steered one, where it has fallen by 3 dB."""
    if radio.pattern != "cone" and radio.beamwidth is not None:
        return radio.beamwidth
    return min(2 * radio.theta_max, 2 * math.pi)


def change_of(before: State, after: State) -> State:
    """What of a state is new: nodes and links that are new or have changed, and those that are gone."""
    old_nodes = {node["id"]: node for node in before["nodes"]}
    old_links = {_ends(link): link for link in before["links"]}
    here, linked = {node["id"] for node in after["nodes"]}, {_ends(link) for link in after["links"]}
    return {
        **after,
        "nodes": [node for node in after["nodes"] if old_nodes.get(node["id"]) != node],
        "links": [link for link in after["links"] if old_links.get(_ends(link)) != link],
        "gone": [name for name in old_nodes if name not in here],
        "unlinked": [list(ends) for ends in old_links if ends not in linked],
    }


def with_stale(state: State, stale: frozenset[str]) -> State:
    """The state with these nodes marked."""
    return {**state, "nodes": [{**node, "stale": node["id"] in stale} for node in state["nodes"]]}


def _shown(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in ("heading", "alt")}


def _link(link: Mapping[str, Any], pinned: set[frozenset[str]]) -> dict[str, Any]:
    told = link["properties"]
    return {
        "source": link["source"],
        "target": link["target"],
        "forward": told["rate_forward"],
        "backward": told["rate_backward"],
        "distance": told["distance"],
        "sector_source": told["sector_source"],
        "sector_target": told["sector_target"],
        "pinned": frozenset((link["source"], link["target"])) in pinned,
    }


def _ends(link: Mapping[str, Any]) -> tuple[str, str]:
    return link["source"], link["target"]
