"""Node records to a fleet and back: metres and yaw, or degrees and compass heading, but one of the two for all nodes.

Either may say how high the nodes are: all of them or none. Records are under our names for fields, see `columns`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet, LocalFrame
from manetdiff.fleet.fleet import FloatArray
from manetdiff.fleet.geodetic import yaw_to_compass
from manetdiff.formats.blocked import arcs_in
from manetdiff.formats.columns import understood
from manetdiff.formats.record import Record, naming

LOCAL = ("x", "y", "yaw")
GEODETIC = ("lat", "lon", "heading")
# The height beside x, y and beside lat, lon, in metres: two names for one thing, z to us.
HEIGHT, ALTITUDE = "z", "alt"


def node_records(file: str, entries: Sequence[Mapping[str, object]]) -> list[Record]:
    """The entries of a node list, each under its id and our names for its fields; ids must be there and distinct."""
    return distinct(
        file,
        [
            understood(f"{file}: node number {place}", [*entry]).record(file, f"node number {place}", entry)
            for place, entry in enumerate(entries, start=1)
        ],
    )


def distinct(file: str, numbered: Sequence[Record], rows: str = "number") -> list[Record]:
    """Records under the ids of their nodes, which must be there and distinct. rows: what their numbers count."""
    if not numbered:
        raise FormatError(f"{file}: holds no nodes")
    records = []
    seen: dict[str, int] = {}
    for place, one in enumerate(numbered, start=1):
        name = one.name("id")
        record = Record(file, f"node {name!r}", {**one.values, "id": name}, one.spelt)
        if name in seen:
            raise record.error("id", f"stands twice, in {rows} {seen[name]} and {place}: every node needs its own")
        seen[name] = place
        records.append(record)
    return records


def fleet_of(file: str, records: Sequence[Record], frame: LocalFrame | None = None) -> Fleet:
    """The fleet of records that hold x, y, yaw or lat, lon, heading, and perhaps z or alt, and blocked.

    - frame: the frame that x and y are in, where the file says so.
    """
    ids = [record.name("id") for record in records]
    heights = _heights(records)
    with naming(file):
        local = _is_local(records)
        blocked = [arcs_in(record, local) for record in records]
        if local:
            x, y, yaw = ([record.number(field) for record in records] for field in LOCAL)
            _doubt_degrees(file, ids, yaw)
            return Fleet([*zip(x, y, *heights, strict=True)], yaw, ids, frame, blocked)
        latitude, longitude = zip(*(record.degrees() for record in records), strict=True)
        heading = [record.number("heading") for record in records]
        return Fleet.from_geodetic(latitude, longitude, heading, ids, *heights, blocked=blocked)


def local_columns(fleet: Fleet) -> dict[str, FloatArray]:
    """x, y, z where the fleet has heights, and yaw, each (n,), by what files call them."""
    x, y = fleet.horizontal.T
    heights = {HEIGHT: fleet.heights} if fleet.has_heights else {}
    return {"x": x, "y": y, **heights, "yaw": fleet.yaw}


def geodetic_columns(fleet: Fleet) -> dict[str, FloatArray]:
    """lat, lon, alt where the fleet has heights, and heading, each (n,), of a fleet that knows where on earth it is."""
    assert fleet.frame is not None
    latitude, longitude = fleet.frame.to_degrees(fleet.horizontal)
    heading = yaw_to_compass(fleet.frame, latitude, longitude, fleet.yaw)
    heights = {ALTITUDE: fleet.heights} if fleet.has_heights else {}
    # To a tenth of a micrometre: beyond that there is only rounding.
    latitude, longitude, heading = np.round(latitude, 12), np.round(longitude, 12), np.round(heading, 9) % 360.0
    latitude, longitude = latitude + 0.0, longitude + 0.0  # not -0.0, which is rounding, too
    return {"lat": latitude, "lon": longitude, **heights, "heading": heading}


def written_columns(fleet: Fleet) -> dict[str, FloatArray]:
    """What a table says of a fleet: degrees where it knows where on earth it is, and metres and radians otherwise."""
    return local_columns(fleet) if fleet.frame is None else geodetic_columns(fleet)


def _heights(records: Sequence[Record]) -> list[list[float]]:
    """One list of all heights, or no list: either all nodes say how high they are, or none does."""
    high = next((record for record in records if HEIGHT in record.values), None)
    if high is None:
        return []
    for record in records:
        if HEIGHT not in record.values:
            called = high.spelt.get(HEIGHT, HEIGHT)
            raise record.error(called, "is missing, which other nodes have: give all nodes a height, or none")
    return [[record.number(HEIGHT) for record in records]]


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
    """Where x, y and yaw are there they are exact; the degrees beside them are for other readers, and so is alt."""
    if not all(field in values for field in LOCAL):
        return values
    told = {*GEODETIC, ALTITUDE} if HEIGHT in values else {*GEODETIC}
    return {name: value for name, value in values.items() if name not in told}


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
