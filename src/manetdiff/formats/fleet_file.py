"""Fleet files: JSON `{"nodes": [{"id", "x", "y", "yaw"} …]}` or CSV with those columns.

x and y are metres, yaw is radians counter-clockwise from +x. `lat`, `lon`, `heading` in their place are degrees, the
heading clockwise from north. A topology file holds a fleet too and is read as one. A JSON fleet may also carry
`"frame": {"lat", "lon"}`: where on earth x = y = 0 is.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.formats import netjson
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
    """Write the fleet as JSON in metres and radians; reading it back gives the same numbers to the last bit."""
    columns = zip(fleet.ids, fleet.positions.tolist(), fleet.yaw.tolist(), strict=True)
    document: dict[str, object] = {"nodes": [{"id": name, "x": x, "y": y, "yaw": yaw} for name, (x, y), yaw in columns]}
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
    """The rows as objects: empty cells left out, cells other than the id as numbers where they are numbers."""
    lines = _csv_lines(text)
    header = [cell.lower() for cell in lines[0]] if lines else []
    _check_header(text.name, header)
    rows: list[dict[str, object]] = []
    for place, cells in enumerate(lines[1:], start=1):
        if len(cells) > len(header):
            raise FormatError(f"{text.name}: node number {place}: has {len(cells)} cells under {len(header)} columns")
        pairs = zip(header, cells, strict=False)
        rows.append({name: cell if name == "id" else _number_or_text(cell) for name, cell in pairs if cell})
    return rows


def _csv_lines(text: Text) -> list[list[str]]:
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(io.StringIO(text.content, newline=""))]
    except csv.Error as error:
        raise FormatError(f"{text.name}: is not CSV: {error}") from None
    return [line for line in lines if any(line)]


def _check_header(file: str, header: list[str]) -> None:
    for columns in (LOCAL, GEODETIC):
        if {"id", *columns} <= set(header):
            break
    else:
        for columns in (LOCAL, GEODETIC):
            if set(columns) <= set(header):
                raise FormatError(f"{file}: the column id is missing beside {', '.join(columns)}")
        raise FormatError(
            f"{file}: the first line must name the columns id, x, y, yaw or id, lat, lon, heading, "
            f"not {shown(', '.join(header))}"
        )
    for name in header:
        if name and header.count(name) > 1:
            raise FormatError(f"{file}: the column {shown(name)} stands twice in the first line")


def _number_or_text(cell: str) -> float | str:
    """Python also reads 1_000 as a number; a table that holds it is more likely to be wrong."""
    try:
        return cell if "_" in cell else float(cell)
    except ValueError:
        return cell
