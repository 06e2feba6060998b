"""CZML for Cesium: aircraft and their links over time on a globe."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.formats.files import PathLike, write_text
from manetdiff.formats.format import Contents, Format, Holds, Order
from manetdiff.topology import Topology

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
ALTITUDE_M = 3000.0
# Parity 0 and 1, and links: as in the pictures.
NODE_COLOURS = ([0, 114, 178, 255], [230, 159, 0, 255])
LINK_COLOUR = [0, 158, 115, 255]

LinkedFleet = tuple[float, Fleet, Topology]  # at so many seconds
Spans = list[tuple[float, float]]  # from and to, seconds


def write_czml(moments: Sequence[LinkedFleet], path: PathLike, *, epoch: datetime = EPOCH) -> None:
    """Write moments (seconds, fleet, topology) in the order of time; the fleets must know where on earth they are."""
    write_text(path, json.dumps(czml(moments, epoch=epoch), indent=1) + "\n")


def czml(
    moments: Sequence[LinkedFleet], *, epoch: datetime = EPOCH, altitude: float = ALTITUDE_M
) -> list[dict[str, Any]]:
    """The packets of a CZML document: a point for each node, a line for each link while it is there.

    - altitude: in metres, of fleets that do not say how high they are.
    """
    if not moments:
        raise FormatError("there is no moment to write")
    if any(later[0] <= earlier[0] for earlier, later in pairwise(moments)):
        raise FormatError("CZML needs moments in the order of time, each once")
    if any(fleet.frame is None for _, fleet, _ in moments):
        raise FormatError("CZML needs latitude and longitude: read the fleet from degrees")
    start, end = _clock(epoch, moments[0][0]), _clock(epoch, moments[-1][0])
    head = {"id": "document", "name": "manetdiff", "version": "1.0"}
    clock = {"interval": f"{start}/{end}", "currentTime": start, "multiplier": 10}
    return [{**head, "clock": clock}, *_nodes(moments, epoch, altitude), *_links(moments, epoch)]


def _nodes(moments: Sequence[LinkedFleet], epoch: datetime, altitude: float) -> list[dict[str, Any]]:
    places: dict[str, list[float]] = {}
    colours: dict[str, list[tuple[Spans, int]]] = {}
    there: dict[str, Spans] = {}
    for time, until, fleet, topology in _steps(moments):
        assert fleet.frame is not None
        latitude, longitude = fleet.frame.to_degrees(fleet.horizontal)
        heights = fleet.heights.tolist() if fleet.has_heights else [altitude] * len(fleet)
        degrees = zip(latitude.tolist(), longitude.tolist(), heights, strict=True)
        for name, (lat, lon, height), parity in zip(fleet.ids, degrees, topology.parity.tolist(), strict=True):
            places.setdefault(name, []).extend([time, round(lon, 7), round(lat, 7), height])
            _extend(there.setdefault(name, []), time, until)
            before = colours.setdefault(name, [])
            if not before or before[-1][1] != parity:
                before.append(([], parity))
            _extend(before[-1][0], time, until)
    return [
        {
            "id": _node_id(name),
            "name": name,
            "availability": _intervals(epoch, there[name]),
            "position": {"epoch": _clock(epoch, 0.0), "cartographicDegrees": places[name]},
            "point": {
                "pixelSize": 10,
                "color": [
                    {"interval": interval, "rgba": NODE_COLOURS[parity]}
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
    for time, until, fleet, topology in _steps(moments):
        for i, j in topology.links.tolist():
            one, other = sorted((fleet.ids[i], fleet.ids[j]))  # nodes may stand in another order later
            _extend(there.setdefault((one, other), []), time, until)
    return [
        {
            "id": f"link:{number}",
            "name": f"{one} - {other}",
            "availability": _intervals(epoch, spans),
            "polyline": {
                "positions": {"references": [_position_of(one), _position_of(other)]},
                "arcType": "NONE",
                "width": 2,
                "material": {"solidColor": {"color": {"rgba": LINK_COLOUR}}},
            },
        }
        for number, ((one, other), spans) in enumerate(there.items())
    ]


def _steps(moments: Sequence[LinkedFleet]) -> Iterator[tuple[float, float, Fleet, Topology]]:
    """Each moment with the time until which it holds: that of the next; the last is but an instant."""
    ends = [time for time, _, _ in moments[1:]] + [moments[-1][0]]
    for (time, fleet, topology), until in zip(moments, ends, strict=True):
        yield time, until, fleet, topology


def _extend(spans: Spans, time: float, until: float) -> None:
    """Add a span, or make the last one longer where it goes on."""
    if spans and spans[-1][1] == time:
        spans[-1] = (spans[-1][0], until)
    else:
        spans.append((time, until))


def _intervals(epoch: datetime, spans: Spans) -> list[str]:
    return [f"{_clock(epoch, start)}/{_clock(epoch, end)}" for start, end in spans]


def _node_id(name: str) -> str:
    """Under a prefix, so that no node's name is that of a link or of the document."""
    return f"node:{name}"


def _position_of(name: str) -> str:
    """CZML splits a reference at its first '#' that no backslash guards."""
    return _node_id(name).replace("\\", "\\\\").replace("#", "\\#") + "#position"


def _clock(epoch: datetime, seconds: float) -> str:
    try:
        return (epoch + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise FormatError(f"CZML counts in dates, and {seconds:g} s after {epoch.date()} is none") from None


def _write(held: Contents, order: Order) -> None:
    fleet, topology = held.linked("CZML")
    write_czml([(0.0, fleet, topology), (1.0, fleet, topology)], order.path)


FORMAT = Format(
    name="czml",
    title="CZML",
    holds=Holds.TOPOLOGY,
    suffixes=(".czml",),
    keeps="places, heights, parity, links",
    loses="yaw, sectors, rates",
    write=_write,
)
