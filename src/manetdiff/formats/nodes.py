"""Node records to a fleet: metres and yaw, or degrees and compass heading, but one of the two for all nodes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet, LocalFrame
from manetdiff.formats.record import Record, naming

LOCAL = ("x", "y", "yaw")
GEODETIC = ("lat", "lon", "heading")


def node_records(file: str, entries: Sequence[Mapping[str, object]]) -> list[Record]:
    """The entries of a node list, each under its id; ids must be there and distinct."""
    if not entries:
        raise FormatError(f"{file}: holds no nodes")
    records = []
    seen: set[str] = set()
    for place, entry in enumerate(entries, start=1):
        name = Record(file, f"node number {place}", entry).name("id")
        record = Record(file, f"node {name!r}", {**entry, "id": name})
        if name in seen:
            raise record.error("id", "stands twice: every node needs its own")
        seen.add(name)
        records.append(record)
    return records


def fleet_of(file: str, records: Sequence[Record], frame: LocalFrame | None = None) -> Fleet:
    """The fleet of records that hold x, y, yaw or lat, lon, heading.

    - frame: the frame that x and y are in, where the file says so.
    """
    ids = [record.name("id") for record in records]
    with naming(file):
        if _is_local(records):
            x, y, yaw = ([record.number(field) for record in records] for field in LOCAL)
            _doubt_degrees(file, ids, yaw)
            return Fleet([*zip(x, y, strict=True)], yaw, ids, frame)
        latitude, longitude = zip(*(record.degrees() for record in records), strict=True)
        return Fleet.from_geodetic(latitude, longitude, [record.number("heading") for record in records], ids)


def _doubt_degrees(file: str, ids: Sequence[str], yaw: Sequence[float]) -> None:
    """Radians beyond a full turn are most likely degrees: said, but taken as they are."""
    beyond = [(name, value) for name, value in zip(ids, yaw, strict=True) if abs(value) > 2 * math.pi + 1e-6]
    for name, value in beyond[:1]:
        told = f"yaw {value:g} is beyond a full turn: yaw is in radians, heading in degrees"
        warnings.warn(f"{file}: node {name!r}: {told}", UserWarning, stacklevel=2)


def frame_among(file: str, properties: Mapping[str, object]) -> LocalFrame | None:
    """The frame that a topology of ours has among its properties, if there is one."""
    if "frame_lat" not in properties:
        return None
    return LocalFrame(*Record(file, "its properties", properties).degrees("frame_lat", "frame_lon"))


def without_degrees(values: Mapping[str, object]) -> Mapping[str, object]:
    """Where x, y and yaw are there they are exact; the degrees beside them are for other readers."""
    if not all(field in values for field in LOCAL):
        return values
    return {name: value for name, value in values.items() if name not in GEODETIC}


def _is_local(records: Sequence[Record]) -> bool:
    """Whether the nodes are in metres; they must all agree."""
    first = _kind(records[0])
    for record in records[1:]:
        if _kind(record) is not first:
            there, others = _kind(record)[0], ", ".join(first)
            raise record.error(there, f"does not go with the nodes before it, which have {others}: give all the same")
    return first is LOCAL


def _kind(record: Record) -> tuple[str, str, str]:
    local = [field for field in LOCAL if field in record.values]
    geodetic = [field for field in GEODETIC if field in record.values]
    if local and geodetic:
        raise record.error(geodetic[0], f"stands next to {local[0]!r}: give x, y, yaw or lat, lon, heading, not both")
    return GEODETIC if geodetic else LOCAL
