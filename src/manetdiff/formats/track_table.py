"""A table of times and places: CSV with the columns time, id, x, y and, if known, yaw; or time, id, lat, lon, heading.

Seconds or dates, metres and radians, or degrees; z or alt beside them is the height in metres; other common names are
understood, see `columns`. A row without yaw or heading keeps the node's last, a node without any points where it goes.
`blocked` says where a node has no antenna, in one of its rows or in all of them alike.
A node is there from its first row to its last, but not while it has none for much longer than is usual in the table.
The plainest of mobility files, and the one to export to from anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet, Tracks
from manetdiff.fleet.azimuths import Arc
from manetdiff.formats.blocked import BLOCKED, arcs_in, blocked_column
from manetdiff.formats.columns import meanings, understood
from manetdiff.formats.csv_table import by_what, columns_in, csv_rows, csv_text
from manetdiff.formats.files import PathLike, Source, read_source, write_text
from manetdiff.formats.format import FLIGHT_PARTS, Format, Holds, Part
from manetdiff.formats.nodes import HEIGHT, written_columns
from manetdiff.formats.record import Record, naming, shown
from manetdiff.formats.reports import Report, epoch_of, seconds_in, tracks_of

LOCAL = ("time", "id", "x", "y")
GEODETIC = ("time", "id", "lat", "lon")
ANGLES = {True: "yaw", False: "heading"}  # of local tables, and of those in degrees


def write_track_table(moments: Iterable[tuple[float, Fleet]], path: PathLike) -> None:
    """Write a fleet over time, as pairs of seconds and fleet, all of one kind.

    In degrees where the fleets know where on earth they are, and in metres and radians otherwise.
    """
    header: list[str] = []
    rows: list[tuple[str, ...]] = []
    fleets = list(moments)
    blocked = any(fleet.blocked is not None for _, fleet in fleets)  # though such a node may not be there all the time
    for time, fleet in fleets:
        columns = {name: [repr(one) for one in column.tolist()] for name, column in written_columns(fleet).items()}
        if blocked:
            columns[BLOCKED] = blocked_column(fleet)
        header = header or ["time", "id", *columns]
        if header[2:] != [*columns]:
            now, before = ", ".join(columns), ", ".join(header[2:])
            raise FormatError(f"a table has the same columns at all times: {before}, but at {time:g} s {now}")
        rows += zip([repr(time)] * len(fleet), fleet.ids, *columns.values(), strict=True)
    write_text(path, csv_text(header or [*LOCAL, "yaw"], rows))


def read_track_table(path: PathLike, longest_gap: float | None = None) -> Tracks:
    """The tracks in a table of times and places; `-` reads standard input.

    - longest_gap: seconds without a row after which a node is taken to have left; by default five times the median of
      the intervals between rows of a node. math.inf: every node is there all the time.
    """
    return tracks_in(read_source(path), longest_gap)


def tracks_in(source: Source, longest_gap: float | None = None) -> Tracks:
    """The tracks in the text of such a table. longest_gap: as of read_track_table."""
    header, rows = csv_rows(source, _check_header)
    columns = understood(source.name, header)
    if not rows:
        raise FormatError(f"{source.name}: holds no rows under its columns")
    geodetic = set(GEODETIC) <= set(columns.names)
    dated = False
    reports: dict[str, dict[float, tuple[int, Report]]] = {}
    blocked: dict[str, tuple[Arc, ...]] = {}
    for number, cells in enumerate(rows, start=1):
        record = columns.row(source.name, f"row {number}", cells)
        seconds, is_date = seconds_in(f"{source.name}: row {number}", columns.names["time"], record.value("time"))
        report = _report(record, seconds, geodetic)
        before, same = reports.setdefault(record.name("id"), {}).setdefault(seconds, (number, report))
        if same != report:
            told = f"is at two places at {seconds:.12g} s, in rows {before} and {number}: ids must be distinct"
            raise FormatError(f"{source.name}: node {record.value('id')!r} {told}")
        if BLOCKED in record.values:
            arcs = arcs_in(record, not geodetic)
            if blocked.setdefault(record.name("id"), arcs) != arcs:
                raise record.error(
                    BLOCKED, f"differs from that of rows before, of the same node {record.value('id')!r}"
                )
        dated = dated or is_date
    # Dates count from the first of them; seconds are kept as they are.
    first = min(seconds for said in reports.values() for seconds in said)
    counted_from = first if dated else 0.0
    by_node = {
        name: [report._replace(time=seconds - counted_from) for seconds, (_, report) in said.items()]
        for name, said in reports.items()
    }
    with naming(source.name):
        tracks = tracks_of(by_node, geodetic, longest_gap, epoch_of(first, counted_from, dated))
    masked = tuple(replace(one, blocked=blocked.get(one.id, ())) for one in tracks.tracks)
    tracks = replace(tracks, tracks=masked)
    columns.doubt(source.name, (report.height or 0.0 for one in by_node.values() for report in one))
    columns.say_unused(source.name)
    return tracks


def _report(record: Record, time: float, geodetic: bool) -> Report:
    place = record.degrees() if geodetic else (record.number("x"), record.number("y"))
    angle = ANGLES[not geodetic]
    height = record.number(HEIGHT) if HEIGHT in record.values else None
    return Report(time, place, height, record.number(angle) if angle in record.values else None)


def _is_header(columns: Iterable[str]) -> bool:
    """Whether these are the columns of such a table."""
    names = meanings(columns)
    return set(LOCAL) <= names or set(GEODETIC) <= names


def _check_header(file: str, header: Sequence[str]) -> None:
    names = understood(file, header).names
    local, geodetic = set(LOCAL) <= set(names), set(GEODETIC) <= set(names)
    if local and geodetic:
        raise FormatError(f"{file}: has x, y and {names['lat']}, {names['lon']}: leave one of the two out")
    if not local and not geodetic:
        raise FormatError(
            f"{file}: the first line must name the columns {', '.join(LOCAL)} or {', '.join(GEODETIC)}, "
            f"not {shown(', '.join(header))}{by_what(header)}"
        )
    if ANGLES[not local] in names and ANGLES[local] not in names:
        raise FormatError(
            f"{file}: the column {names[ANGLES[not local]]} does not go with {'x, y' if local else 'lat, lon'}: "
            "yaw (radians) stands beside x, y and heading (degrees) beside lat, lon"
        )


FORMAT = Format(
    name="table",
    title="Plain table",
    holds=Holds.TRACKS,
    suffixes=(".csv",),
    keeps=FLIGHT_PARTS | {Part.BLOCKED},
    note="movement as moments",
    begins=lambda source: _is_header(columns_in(source.first_line)),
    read=tracks_in,
    write=lambda held, order: write_track_table(held.moments(order.time), order.path),
)
