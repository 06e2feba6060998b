"""Fleet files: JSON `{"nodes": [{"id", "x", "y", "yaw"} …]}` or CSV with those columns.

x and y are metres, yaw is radians counter-clockwise from +x. `lat`, `lon`, `heading` in their place are degrees, the
heading clockwise from north. `z` or `alt` beside them is the height in metres, and `blocked` says where a node has no
antenna. A topology file holds a fleet too and is read as one. A JSON fleet may also carry `"frame": {"lat", "lon"}`:
where on earth x = y = 0 is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet, LocalFrame
from manetdiff.formats import netjson
from manetdiff.formats.blocked import BLOCKED, blocked_column
from manetdiff.formats.columns import meanings, understood
from manetdiff.formats.csv_table import by_what, columns_in, csv_rows, csv_text
from manetdiff.formats.files import PathLike, Source, read_source, suffix_of, write_text
from manetdiff.formats.format import FLEET_PARTS, Format, Holds, Part, read_as
from manetdiff.formats.nodes import GEODETIC, LOCAL, distinct, fleet_of, local_columns, node_records, written_columns
from manetdiff.formats.record import Record, object_list, parse_object, shown

COLUMNS = (("id", *LOCAL), ("id", *GEODETIC))


def read_fleet(path: PathLike) -> Fleet:
    """The fleet in a JSON, CSV or topology file; `-` reads standard input."""
    fleet = read_as((JSON, CSV), read_source(path))
    assert isinstance(fleet, Fleet)
    return fleet


def write_fleet(fleet: Fleet, path: PathLike) -> None:
    """Write the fleet, as CSV if the path ends so and as JSON otherwise.

    JSON is in metres and radians and says where on earth x = y = 0 is: reading it back gives the same numbers to the
    last bit. CSV is in degrees where the fleet knows where on earth it is, and in metres and radians otherwise.
    """
    if suffix_of(path) in CSV.suffixes:
        _write_csv(fleet, path)
    else:
        _write_json(fleet, path)


def _write_json(fleet: Fleet, path: PathLike) -> None:
    columns = {"id": fleet.ids, **{name: column.tolist() for name, column in local_columns(fleet).items()}}
    rows = zip(*columns.values(), strict=True)
    nodes: list[dict[str, object]] = [dict(zip(columns, row, strict=True)) for row in rows]
    for node, arcs in zip(nodes, fleet.blocked or (), strict=False):
        if arcs:
            node[BLOCKED] = arcs
    document: dict[str, object] = {"nodes": nodes}
    if fleet.frame is not None:
        document["frame"] = {"lat": fleet.frame.latitude, "lon": fleet.frame.longitude}
    write_text(path, json.dumps(document, indent=1) + "\n")


def _write_csv(fleet: Fleet, path: PathLike) -> None:
    columns = written_columns(fleet)
    cells = {name: [repr(value) for value in column.tolist()] for name, column in columns.items()}
    if fleet.blocked is not None:
        cells[BLOCKED] = blocked_column(fleet)
    write_text(path, csv_text(["id", *cells], list(zip(fleet.ids, *cells.values(), strict=True))))


def _from_json(source: Source) -> Fleet:
    document = parse_object(source.name, source.content)
    if "type" in document:
        return netjson.fleet_in(source.name, document)
    records = node_records(source.name, object_list(source.name, document, "nodes"))
    whole = Record(source.name, "the file", document)
    return fleet_of(source.name, records, LocalFrame(*whole.part("frame").degrees()) if "frame" in document else None)


def _from_csv(source: Source) -> Fleet:
    header, cells = csv_rows(source, _check_header, "node number")
    columns = understood(source.name, header)
    time = columns.names.get("time")
    if time is not None and len({row.get(time) for row in cells}) > 1:
        raise _over_time(source.name, time)
    rows = [columns.row(source.name, f"node number {place}", row) for place, row in enumerate(cells, start=1)]
    fleet = fleet_of(source.name, distinct(source.name, rows, "rows"))
    columns.doubt(source.name, fleet.heights)
    columns.say_unused(source.name)
    return fleet


def _check_header(file: str, header: Sequence[str]) -> None:
    names = understood(file, header).names
    missing = [[name for name in columns if name not in names] for columns in COLUMNS]
    if [] in missing:
        return
    for columns, lacking in zip(COLUMNS, missing, strict=True):
        if lacking == [columns[-1]] and "time" in names:  # over time a node points where it goes
            raise _over_time(file, names["time"])
        if len(lacking) == 1:
            there = [names[name] for name in columns if name in names]
            raise FormatError(f"{file}: the column {lacking[0]} is missing beside {', '.join(there)}")
    raise FormatError(
        f"{file}: the first line must name the columns {' or '.join(', '.join(columns) for columns in COLUMNS)}, "
        f"not {shown(', '.join(header))}{by_what(header)}"
    )


def _over_time(file: str, column: str) -> FormatError:
    told = "'manetdiff simulate' flies it, 'manetdiff convert --time' takes one moment of it"
    return FormatError(f"{file}: is a table over time (column {column}): {told}")


def _begins_csv(source: Source) -> bool:
    """Whether it names at least two of the columns, so that what is missing can be said; a time is another format's."""
    header = meanings(columns_in(source.first_line))
    return len(header & set().union(*COLUMNS)) > 1 and "time" not in header


JSON = Format(
    name="fleet",
    title="Fleet, JSON",
    holds=Holds.FLEET,
    suffixes=(".json",),
    keeps=FLEET_PARTS | {Part.BLOCKED},
    begins=lambda source: source.content.lstrip().startswith(("{", "[")),
    read=_from_json,
    write=lambda held, order: _write_json(held.fleet_at(order.time), order.path),
)
CSV = Format(
    name="fleet",
    title="Fleet, CSV",
    holds=Holds.FLEET,
    suffixes=(".csv",),
    keeps=FLEET_PARTS | {Part.BLOCKED},
    begins=_begins_csv,
    read=_from_csv,
    write=lambda held, order: _write_csv(held.fleet_at(order.time), order.path),
)
