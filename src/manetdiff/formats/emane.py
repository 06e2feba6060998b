"""EMANE: where the nodes are and which links are up as emulation events (EEL), and the parity as a TDMA schedule of
two slots.

    # nem:1 is "lead"
    0.000000 nem:1 location gps 48.100000,11.500000,3000.000000
    0.000000 nem:1 orientation 0.000000,0.000000,90.000000
    0.000000 nem:1 pathloss nem:2,80.000000,80.000000

Nodes are numbered from 1 in their order: EMANE knows them by number only. Comments, which EMANE's tools skip, say which
number is whose. A location needs latitude and longitude, so the fleet must have been read from degrees, or carry a
frame. Yaw is written as EMANE reads it, in degrees clockwise from north.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from manetdiff.checks import check_at_least_0
from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.fleet.geodetic import yaw_to_compass
from manetdiff.formats.files import PathLike, write_text
from manetdiff.formats.format import FLIGHT_PARTS, Contents, Format, Holds, Order, Part
from manetdiff.formats.record import shown
from manetdiff.topology import Topology

ALTITUDE_M = 3000.0
LARGEST_NEM = 65_534  # 65,535 is everybody
# Path loss in dB: what most receivers still hear, and what none does.
UP_DB, DOWN_DB = 80.0, 200.0


def eel_text(moments: Iterable[tuple[float, Fleet]], altitude: float = ALTITUDE_M) -> str:
    """The events for EMANE's eventservice of a fleet over time: pairs of seconds and fleet.

    A node keeps its number as long as it is there. altitude: in metres, of fleets that do not say how high they are.
    """
    numbers: dict[str, int] = {}
    lines = []
    for time, fleet in moments:
        if fleet.frame is None:
            raise FormatError(
                "EMANE needs latitude and longitude: read the fleet from degrees, or name the place of x = y = 0"
            )
        latitude, longitude = fleet.frame.to_degrees(fleet.horizontal)
        heading = yaw_to_compass(fleet.frame, latitude, longitude, fleet.yaw)
        heights = fleet.heights if fleet.has_heights else np.full(len(fleet), altitude)
        for name, lat, lon, height, course in zip(fleet.ids, latitude, longitude, heights, heading, strict=True):
            nem = numbers.setdefault(name, len(numbers) + 1)
            _check_nem(nem)
            lines.append(f"{time:.6f} nem:{nem} location gps {lat:.9f},{lon:.9f},{height:.6f}")
            lines.append(f"{time:.6f} nem:{nem} orientation 0.000000,0.000000,{round(course, 6) % 360:.6f}")
    return "\n".join([*_whose(numbers), *lines]) + "\n"


def link_events_text(
    ids: Sequence[str],
    events: Iterable[tuple[float, npt.ArrayLike, npt.ArrayLike]],
    up_db: float = UP_DB,
    down_db: float = DOWN_DB,
) -> str:
    """The events for EMANE's eventservice of links that come and go, for its propagation model 'precomputed'.

    - events: seconds, rising, links (k, 2) that are up from then on, and those that are down; what comes last counts.
    - up_db, down_db: path loss of a link that is up and of one that is down, either way.
    """
    for name, loss in (("up_db", up_db), ("down_db", down_db)):
        check_at_least_0(FormatError, name, loss)
    _check_nem(len(ids))
    lines = []
    for time, up, down in events:
        for links, loss in ((down, down_db), (up, up_db)):
            for i, j in np.asarray(links).tolist():
                lines.append(f"{time:.6f} nem:{i + 1} pathloss nem:{j + 1},{loss:.6f},{loss:.6f}")
    return "\n".join([*_whose({name: nem for nem, name in enumerate(ids, start=1)}), *lines]) + "\n"


def write_eel(moments: Iterable[tuple[float, Fleet]], path: PathLike, altitude: float = ALTITUDE_M) -> None:
    """Write the events for EMANE's eventservice."""
    write_text(path, eel_text(moments, altitude))


def schedule_xml(
    topology: Topology,
    ids: Sequence[str] | None = None,
    *,
    slot_us: int = 1000,
    overhead_us: int = 0,
    frequency_hz: int = 2_400_000_000,
    bandwidth_hz: int = 1_000_000,
    data_rate_bps: int = 1_000_000,
    power_dbm: float = 0.0,
) -> str:
    """The schedule for `emaneevent-tdmaschedule`: nodes of parity 0 transmit in slot 0, the others in slot 1.

    Every node stands in every slot, because EMANE tells a schedule only to nodes that it names. ids: of the nodes, for
    comments that say which number is whose; by default those of the fleet that the topology was made for.
    """
    _check_nem(len(topology))
    root = ElementTree.Element("emane-tdma-schedule")
    structure = {"frames": "1", "slots": "2", "slotoverhead": str(overhead_us), "slotduration": str(slot_us)}
    ElementTree.SubElement(root, "structure", {**structure, "bandwidth": str(bandwidth_hz)})
    defaults = {"frequency": str(frequency_hz), "power": f"{power_dbm:.3f}", "class": "0"}
    multiframe = ElementTree.SubElement(root, "multiframe", {**defaults, "datarate": str(data_rate_bps)})
    frame = ElementTree.SubElement(multiframe, "frame", {"index": "0"})
    for slot in (0, 1):
        for parity, act in ((slot, "tx"), (1 - slot, "rx")):
            nems = [str(node + 1) for node in np.flatnonzero(topology.parity == parity)]
            if nems:
                element = ElementTree.SubElement(frame, "slot", {"index": str(slot), "nodes": ",".join(nems)})
                ElementTree.SubElement(element, act)
    ElementTree.indent(root)
    if ids is None and topology.layout is not None:
        ids = topology.layout.fleet.ids
    # Above the root, where no reader that walks through its children meets them.
    named = [f"<!-- nem {nem} is {_comment(name)} -->" for nem, name in enumerate(ids or (), start=1)]
    document = ElementTree.tostring(root, encoding="unicode")
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *named, document]) + "\n"


def write_schedule(topology: Topology, path: PathLike, ids: Sequence[str] | None = None, **settings: Any) -> None:
    """Write the schedule for `emaneevent-tdmaschedule`; ids, settings: as of schedule_xml."""
    write_text(path, schedule_xml(topology, ids, **settings))


def _whose(numbers: Mapping[str, int]) -> list[str]:
    """Comments that say which number is whose."""
    return [f"# nem:{nem} is {shown(name)}" for name, nem in numbers.items()]


def _comment(name: str) -> str:
    """A name for people; XML allows no two hyphens in a comment, so they are spelt out."""
    return shown(name).replace("--", "\\u002d\\u002d")


def _write_schedule(held: Contents, order: Order) -> None:
    fleet, topology = held.linked("an EMANE schedule")
    write_schedule(topology, order.path, fleet.ids)


def _check_nem(number: int) -> None:
    if number > LARGEST_NEM:
        raise FormatError(f"EMANE numbers at most {LARGEST_NEM:,} nodes, not {number:,}")


SCHEDULE = Format(
    name="emane-schedule",
    title="EMANE, schedule",
    holds=Holds.TOPOLOGY,
    suffixes=(".xml",),
    keeps=frozenset({Part.IDS, Part.PARITY}),
    note="nodes are numbers, comments say whose",
    write=_write_schedule,
)
EVENTS = Format(
    name="emane-eel",
    title="EMANE, events",
    holds=Holds.TRACKS,
    suffixes=(".eel",),
    keeps=FLIGHT_PARTS - {Part.PRESENCE},  # no event says that a node has left: it stays where it was
    note="nodes are numbers, comments say whose",
    write=lambda held, order: write_eel(held.moments(order.time), order.path),
)
