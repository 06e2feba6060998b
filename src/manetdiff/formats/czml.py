"""CZML for Cesium: aircraft and their links over time on a globe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from manetdiff.formats.files import PathLike, write_text
from manetdiff.formats.format import Contents, Format, Holds, Order, Part
from manetdiff.formats.moments import (
    EPOCH,
    LINK_COLOUR,
    NODE_COLOURS,
    LinkedFleet,
    Spans,
    check_moments,
    date_at,
    extend,
    steps,
)

ALTITUDE_M = 3000.0


def write_czml(moments: Sequence[LinkedFleet], path: PathLike, *, epoch: datetime = EPOCH) -> None:
    """Write moments (seconds, fleet, topology) in the order of time; the fleets must know where on earth they are."""
    write_text(path, json.dumps(czml(moments, epoch=epoch), indent=1) + "\n")


def czml(
    moments: Sequence[LinkedFleet], *, epoch: datetime = EPOCH, altitude: float = ALTITUDE_M
) -> list[dict[str, Any]]:
    """The packets of a CZML document: a point for each node, a line for each link while it is there.

    - altitude: in metres, of fleets that do not say how high they are.
    """
    check_moments(moments, "CZML")
    start, end = date_at(epoch, moments[0][0], "CZML"), date_at(epoch, moments[-1][0], "CZML")
    head = {"id": "document", "name": "manetdiff", "version": "1.0"}
    clock = {"interval": f"{start}/{end}", "currentTime": start, "multiplier": 10}
    return [{**head, "clock": clock}, *_nodes(moments, epoch, altitude), *_links(moments, epoch)]


def _nodes(moments: Sequence[LinkedFleet], epoch: datetime, altitude: float) -> list[dict[str, Any]]:
    places: dict[str, list[float]] = {}
    colours: dict[str, list[tuple[Spans, int]]] = {}
    there: dict[str, Spans] = {}
    for time, until, fleet, topology in steps(moments):
        assert fleet.frame is not None
        latitude, longitude = fleet.frame.to_degrees(fleet.horizontal)
        heights = fleet.heights.tolist() if fleet.has_heights else [altitude] * len(fleet)
        degrees = zip(latitude.tolist(), longitude.tolist(), heights, strict=True)
        for name, (lat, lon, height), parity in zip(fleet.ids, degrees, topology.parity.tolist(), strict=True):
            places.setdefault(name, []).extend([time, round(lon, 7), round(lat, 7), height])
            extend(there.setdefault(name, []), time, until)
            before = colours.setdefault(name, [])
            if not before or before[-1][1] != parity:
                before.append(([], parity))
            extend(before[-1][0], time, until)
    return [
        {
            "id": _node_id(name),
            "name": name,
            "availability": _intervals(epoch, there[name]),
            "position": {"epoch": date_at(epoch, 0.0, "CZML"), "cartographicDegrees": places[name]},
            "point": {
                "pixelSize": 10,
                "color": [
                    {"interval": interval, "rgba": [*NODE_COLOURS[parity]]}
                    for spans, parity in colours[name]
                    for interval in _intervals(epoch, spans)
                ],
            },
            "label": {"text": name, "font": "12px sans-serif", "pixelOffset": {"cartesian2": [0, -18]}},
        }
        for name in places
    ]


def _links(moments: Sequence[LinkedFleet], epoch: datetime) -> list[dict[str, Any]]:
    there: dict[tuple[str, str], Spans] = {}
    for time, until, fleet, topology in steps(moments):
        for i, j in topology.links.tolist():
            one, other = sorted((fleet.ids[i], fleet.ids[j]))  # nodes may stand in another order later
            extend(there.setdefault((one, other), []), time, until)
    return [
        {
            "id": f"link:{number}",
            "name": f"{one} - {other}",
            "availability": _intervals(epoch, spans),
            "polyline": {
                "positions": {"references": [_position_of(one), _position_of(other)]},
                "arcType": "NONE",
                "width": 2,
                "material": {"solidColor": {"color": {"rgba": [*LINK_COLOUR]}}},
            },
        }
        for number, ((one, other), spans) in enumerate(there.items())
    ]


def _intervals(epoch: datetime, spans: Spans) -> list[str]:
    return [f"{date_at(epoch, start, 'CZML')}/{date_at(epoch, end, 'CZML')}" for start, end in spans]


def _node_id(name: str) -> str:
    """Under a prefix, so that no node's name is that of a link or of the document."""
    return f"node:{name}"


def _position_of(name: str) -> str:
    """CZML splits a reference at its first '#' that no backslash guards."""
    return _node_id(name).replace("\\", "\\\\").replace("#", "\\#") + "#position"


def _write(held: Contents, order: Order) -> None:
    fleet, topology = held.linked("CZML")
    write_czml([(0.0, fleet, topology), (1.0, fleet, topology)], order.path)


FORMAT = Format(
    name="czml",
    title="CZML",
    holds=Holds.TOPOLOGY,
    suffixes=(".czml",),
    keeps=frozenset({Part.IDS, Part.PLACES, Part.HEIGHTS, Part.EARTH, Part.LINKS, Part.PARITY}),
    write=_write,
)
