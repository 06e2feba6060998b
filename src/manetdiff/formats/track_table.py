"""A table of times and places: CSV with the columns time, id, x, y and, if known, yaw; or time, id, lat, lon, heading.

Seconds, metres and radians, or degrees; z or alt beside them is the height in metres. Without yaw or heading a node
points where it goes. The plainest of mobility files, and the one to export to from anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet, LocalFrame, Track, Tracks
from manetdiff.fleet.geodetic import compass_to_yaw
from manetdiff.formats.csv_table import columns_in, csv_rows, csv_text, with_numbers
from manetdiff.formats.files import PathLike, Source, read_source, write_text
from manetdiff.formats.format import Format, Holds
from manetdiff.formats.nodes import ALTITUDE, HEIGHT, written_columns
from manetdiff.formats.record import Record, naming, shown

LOCAL = ("time", "id", "x", "y")
GEODETIC = ("time", "id", "lat", "lon")
ANGLES = {True: "yaw", False: "heading"}  # of local tables, and of those in degrees


def write_track_table(moments: Iterable[tuple[float, Fleet]], path: PathLike) -> None:
    """Write a fleet over time, as pairs of seconds and fleet, all of one kind.

    In degrees where the fleets know where on earth they are, and in metres and radians otherwise.
    """
    header: list[str] = []
    rows: list[tuple[str, ...]] = []
    for time, fleet in moments:
        columns = written_columns(fleet)
        header = header or ["time", "id", *columns]
        if header[2:] != [*columns]:
            now, before = ", ".join(columns), ", ".join(header[2:])
            raise FormatError(f"a table has the same columns at all times: {before}, but at {time:g} s {now}")
        numbers = ([repr(value) for value in column.tolist()] for column in columns.values())
        rows += zip([repr(time)] * len(fleet), fleet.ids, *numbers, strict=True)
    write_text(path, csv_text(header or [*LOCAL, "yaw"], rows))


def _is_header(columns: Iterable[str]) -> bool:
    """Whether these are the columns of such a table."""
    names = {column.strip().lower() for column in columns}
    return set(LOCAL) <= names or set(GEODETIC) <= names


def read_track_table(path: PathLike) -> Tracks:
    """The tracks in a table of times and places; `-` reads standard input."""
    return tracks_in(read_source(path))


def tracks_in(source: Source) -> Tracks:
    """The tracks in the text of such a table."""
    columns, rows = csv_rows(source, _check_header)
    if not rows:
        raise FormatError(f"{source.name}: holds no rows under its columns")
    local = set(LOCAL) <= set(columns)
    angle = ANGLES[local]
    with_angle = angle in columns
    height = next((name for name in (HEIGHT, ALTITUDE) if name in columns), None)
    by_node: dict[str, list[list[float]]] = {}
    for number, row in enumerate(rows, start=1):
        record = Record(source.name, f"row {number}", with_numbers(row))
        place = (record.number("x"), record.number("y")) if local else record.degrees()
        more = [record.number(name) for name in (height, angle if with_angle else None) if name is not None]
        by_node.setdefault(record.name("id"), []).append([record.number("time"), *place, *more])
    with naming(source.name):
        return _tracks(by_node, local, height is not None, with_angle)


def _tracks(by_node: dict[str, list[list[float]]], local: bool, with_height: bool, with_angle: bool) -> Tracks:
    arrays = {name: np.array(sorted(rows, key=lambda row: row[0])) for name, rows in by_node.items()}
    frame = None
    if not local:
        every = np.concatenate(list(arrays.values()))
        frame = LocalFrame.around(every[:, 1], every[:, 2])
    tracks = []
    for name, rows in arrays.items():
        yaw = rows[:, -1] if with_angle else None
        ground = rows[:, 1:3]
        if frame is not None:
            yaw = None if yaw is None else compass_to_yaw(frame, rows[:, 1], rows[:, 2], yaw)
            ground = frame.to_xy(rows[:, 1], rows[:, 2])
        places = np.column_stack([ground, rows[:, 3]]) if with_height else ground
        tracks.append(Track(name, rows[:, 0], places, yaw))
    return Tracks(tuple(tracks), frame)


def _check_header(file: str, columns: Sequence[str]) -> None:
    if not _is_header(columns):
        raise FormatError(
            f"{file}: the first line must name the columns {', '.join(LOCAL)} or {', '.join(GEODETIC)}, "
            f"not {shown(', '.join(columns))}"
        )
    local = set(LOCAL) <= set(columns)
    if ANGLES[not local] in columns and ANGLES[local] not in columns:
        raise FormatError(
            f"{file}: the column {ANGLES[not local]} does not go with {'x, y' if local else 'lat, lon'}: "
            "yaw (radians) stands beside x, y and heading (degrees) beside lat, lon"
        )


FORMAT = Format(
    name="table",
    title="Plain table",
    holds=Holds.TRACKS,
    suffixes=(".csv",),
    keeps="times, ids, places, heights, yaw, where on earth",
    loses="movement between the moments",
    begins=lambda source: _is_header(columns_in(source.first_line)),
    read=tracks_in,
    write=lambda held, order: write_track_table(held.moments(order.time), order.path),
)
