"""ADS-B tables, as receivers and their archives keep them: one row a report of one aircraft.

Columns timestamp, icao24, latitude, longitude, altitude, groundspeed, track, or what else these are called: CSV with a
first line of names, or Parquet. The timestamp is in seconds of Unix time or ISO 8601 (UTC where it names no zone), the
track in degrees clockwise from north. The altitude is in feet, as aircraft send it; geoaltitude and baroaltitude, as
OpenSky has them, and alt_m are in metres. Reports without a position are left out, as receivers have many; one without
a track keeps the aircraft's last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from manetdiff.errors import FormatError
from manetdiff.fleet import Tracks
from manetdiff.formats.blocked import BLOCKED
from manetdiff.formats.columns import AIRCRAFT, Columns, meanings, understood
from manetdiff.formats.csv_table import columns_in, csv_rows
from manetdiff.formats.files import PathLike, Source, read_source
from manetdiff.formats.format import FLIGHT_PARTS, Format, Holds, read_as
from manetdiff.formats.parquet import MAGIC, parquet_rows
from manetdiff.formats.record import finite_number, naming
from manetdiff.formats.reports import Report, epoch_of, seconds_in, tracks_of

# What must be there, by our names and by those that receivers use.
NEEDED = {"time": "timestamp", "id": "icao24", "lat": "latitude", "lon": "longitude"}
# An aircraft of which nothing was heard for so long is taken to have left.
LONGEST_GAP_S = 60.0
# How tables write that there is no value; 'ground' stands for the altitude that an aircraft does not send there.
NOTHING = ("", "nan", "null", "none", "na", "ground")


def read_adsb(path: PathLike, longest_gap: float = LONGEST_GAP_S) -> Tracks:
    """The tracks of all aircraft in a CSV or Parquet table; `-` reads CSV from standard input.

    - longest_gap: seconds without a report after which an aircraft is taken to have left.
    """
    tracks = read_as((PARQUET, CSV), read_source(path), "ADS-B table")
    assert isinstance(tracks, Tracks)
    return replace(tracks, longest_gap=longest_gap)


def _from_csv(source: Source) -> Tracks:
    header, rows = csv_rows(source, lambda file, names: _check_needed(file, understood(file, names)))
    columns = understood(source.name, header)
    tracks = _tracks(source.name, rows, columns)
    columns.say_unused(source.name, BLOCKED)
    return tracks


def _from_parquet(source: Source) -> Tracks:
    columns: list[Columns] = []

    def choose(names: Sequence[str]) -> Sequence[str]:
        columns.append(understood(source.name, names))
        _check_needed(source.name, columns[0])
        return list(columns[0].names.values())

    rows = parquet_rows(source, choose)
    return _tracks(source.name, rows, columns[0])


def _check_needed(file: str, columns: Columns) -> None:
    for ours, usual in NEEDED.items():
        if ours not in columns.names:
            raise FormatError(f"{file}: the column {usual} is missing; needed are {', '.join(NEEDED.values())}")


def _tracks(name: str, rows: Iterable[Mapping[str, object]], columns: Columns) -> Tracks:
    """The tracks of all aircraft in rows by column name; times count from the first report."""
    reports: dict[str, dict[float, Report]] = {}
    for number, row in enumerate(rows, start=1):
        report = _report(f"{name}: row {number}", row, columns)
        if report is not None:
            # Of two reports of one moment the later one counts.
            reports.setdefault(str(row[columns.names["id"]]).strip(), {})[report.time] = report
    if not reports:
        raise FormatError(f"{name}: holds no report with a position")
    first = min(time for one in reports.values() for time in one)
    counted = {
        icao24: [report._replace(time=report.time - first) for report in one.values()]
        for icao24, one in reports.items()
    }
    with naming(name):
        return tracks_of(counted, geodetic=True, longest_gap=LONGEST_GAP_S, epoch=epoch_of(first, first))


def _report(where: str, row: Mapping[str, object], columns: Columns) -> Report | None:
    """A report, or None where the aircraft's position is not in it."""
    names = columns.names
    latitude, longitude = (_number(where, row, names[field]) for field in ("lat", "lon"))
    if latitude is None or longitude is None:
        return None
    icao24 = row.get(names["id"])
    if icao24 is None or str(icao24).strip().lower() in NOTHING:
        raise FormatError(f"{where}: field {names['id']!r} is missing: which aircraft is it?")
    for field, value, largest in ((names["lat"], latitude, 90.0), (names["lon"], longitude, 360.0)):
        if abs(value) > largest:
            raise FormatError(f"{where}: field {field!r} is outside -{largest:g} … {largest:g} ({value:g})")
    time, _ = seconds_in(where, names["time"], row.get(names["time"]))
    track, height = (_number(where, row, names[field]) if field in names else None for field in ("heading", "z"))
    in_metres = None if height is None else height * columns.height_factor
    return Report(time, (latitude, longitude), in_metres, track)


def _number(where: str, row: Mapping[str, object], field: str) -> float | None:
    """A finite number, or None where the table has none."""
    value = row.get(field)
    if value is None or str(value).strip().lower() in NOTHING:
        return None
    return finite_number(where, f"field {field!r}", value)


def _begins_csv(source: Source) -> bool:
    """No other table names aircraft so; what is missing beside it is said when it is read."""
    header = columns_in(source.first_line)
    return bool(AIRCRAFT & set(header)) and "time" in meanings(header)


PARQUET = Format(
    name="adsb",
    title="ADS-B, Parquet",
    holds=Holds.TRACKS,
    suffixes=(".parquet", ".pq"),
    keeps=FLIGHT_PARTS,
    begins=lambda source: source.data.startswith(MAGIC),
    read=_from_parquet,
)
CSV = Format(
    name="adsb",
    title="ADS-B, CSV",
    holds=Holds.TRACKS,
    suffixes=(".csv",),
    keeps=FLIGHT_PARTS,
    begins=_begins_csv,
    read=_from_csv,
)
