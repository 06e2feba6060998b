"""Fleet files: JSON `{"nodes": [{"id", "x", "y", "yaw"} …]}` or CSV with those columns.

x and y are metres, yaw is radians counter-clockwise from +x. `lat`, `lon`, `heading` in their place are degrees, the
heading clockwise from north. A topology file holds a fleet too and is read as one. A JSON fleet may also carry
`"frame": {"lat", "lon"}`: where on earth x = y = 0 is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.formats import netjson
from manetdiff.formats.csv_table import csv_rows, csv_text, number_or_text
from manetdiff.formats.files import PathLike, Text, read_text, write_text
from manetdiff.formats.nodes import GEODETIC, LOCAL, fleet_of, frame_of, node_records
from manetdiff.formats.record import Record, object_list, parse_object, shown

JSON_SUFFIXES = (".json", ".netjson")
CSV_SUFFIXES = (".csv",)


def read_fleet(path: PathLike) -> Fleet:
    """The fleet in a JSON, CSV or topology file; `-` reads standard input."""
    text = read_text(path)
    if _is_json(path, text):
        return _from_json(text)
    return fleet_of(text.name, node_records(text.name, _csv_rows(text)))


def write_fleet(fleet: Fleet, path: PathLike) -> None:
    """Write the fleet in metres and radians, as CSV if the path ends so and as JSON otherwise.

    Reading it back gives the same numbers to the last bit; CSV has no room for the fleet's frame.
    """
    columns = zip(fleet.ids, fleet.positions.tolist(), fleet.yaw.tolist(), strict=True)
    nodes = [{"id": name, "x": x, "y": y, "yaw": yaw} for name, (x, y), yaw in columns]
    if Path(path).suffix.lower() in CSV_SUFFIXES:
        write_text(path, csv_text(["id", *LOCAL], [[repr(v) if k != "id" else v for k, v in n.items()] for n in nodes]))
        return
    document: dict[str, object] = {"nodes": nodes}
    if fleet.frame is not None:
        document["frame"] = {"lat": fleet.frame.latitude, "lon": fleet.frame.longitude}
    write_text(path, json.dumps(document, indent=1) + "\n")


def _is_json(path: PathLike, text: Text) -> bool:
    """By the file's suffix, or by its first character where that says nothing."""
    suffix = Path(path).suffix.lower()
    if suffix in JSON_SUFFIXES + CSV_SUFFIXES:
        return suffix in JSON_SUFFIXES
    return text.content.lstrip()[0] in "{["


def _from_json(text: Text) -> Fleet:
    document = parse_object(text.name, text.content)
    if "type" in document:
        return netjson.fleet_in(text.name, document)
    records = node_records(text.name, object_list(text.name, document, "nodes"))
    frame = frame_of(Record(text.name, "the file", document).part("frame")) if "frame" in document else None
    return fleet_of(text.name, records, frame)


def _csv_rows(text: Text) -> list[dict[str, object]]:
    """The rows as objects: cells other than the id as numbers where they are numbers."""
    rows = csv_rows(text, _check_header, "node number")
    return [{name: cell if name == "id" else number_or_text(cell) for name, cell in row.items()} for row in rows]


def _check_header(file: str, header: Sequence[str]) -> None:
    for columns in (LOCAL, GEODETIC):
        if {"id", *columns} <= set(header):
            break
    else:
        for columns in (LOCAL, GEODETIC):
            missing = [name for name in ("id", *columns) if name not in header]
            if len(missing) == 1:
                there = [name for name in ("id", *columns) if name in header]
                raise FormatError(f"{file}: the column {missing[0]} is missing beside {', '.join(there)}")
        raise FormatError(
            f"{file}: the first line must name the columns id, x, y, yaw or id, lat, lon, heading, "
            f"not {shown(', '.join(header))}"
        )
