"""ADS-B tables, as receivers and their archives keep them: one row a report of one aircraft.

Columns timestamp, icao24, latitude, longitude, altitude, groundspeed, track: CSV with a first line of names, or
Parquet. The timestamp is in seconds of Unix time or ISO 8601 (UTC where it names no zone), the track in degrees
clockwise from north. Reports without a position are left out, as receivers have many; one without a track keeps the
aircraft's last.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate

import numpy as np

from manetdiff.errors import FormatError
from manetdiff.fleet import LocalFrame, Track, Tracks
from manetdiff.fleet.geodetic import compass_to_yaw
from manetdiff.formats.csv_table import columns_in, csv_rows
from manetdiff.formats.files import PathLike, read_source
from manetdiff.formats.format import Format, Holds, read_as
from manetdiff.formats.parquet import MAGIC, parquet_rows
from manetdiff.formats.record import finite_number, naming, number_in, shown

NEEDED = ("timestamp", "icao24", "latitude", "longitude", "track")
# An aircraft of which nothing was heard for so long is taken to have left.
LONGEST_GAP_S = 60.0
# How tables write that there is no value.
NOTHING = ("", "nan", "null", "none", "na")
# Unix time of the year 9999: whatever is beyond is in milliseconds.
LATEST_S = 253_402_300_800.0

Report = tuple[float, float, float, float | None]  # time, latitude, longitude, track


def read_adsb(path: PathLike, longest_gap: float = LONGEST_GAP_S) -> Tracks:
    """The tracks of all aircraft in a CSV or Parquet table; `-` reads CSV from standard input.

    - longest_gap: seconds without a report after which an aircraft is taken to have left.
    """
    tracks = read_as((PARQUET, CSV), read_source(path), "ADS-B table")
    assert isinstance(tracks, Tracks)
    return replace(tracks, longest_gap=longest_gap)


def _tracks(name: str, rows: Iterable[Mapping[str, object]]) -> Tracks:
    """The tracks of all aircraft in rows by column name; times count from the first report."""
    reports: dict[str, list[Report]] = {}
    for number, row in enumerate(rows, start=1):
        report = _report(f"{name}: row {number}", row)
        if report is not None:
            reports.setdefault(str(row["icao24"]).strip(), []).append(report)
    if not reports:
        raise FormatError(f"{name}: holds no report with a position")
    first = min(report[0] for one in reports.values() for report in one)
    every = np.array([report[1:3] for one in reports.values() for report in one], dtype=np.float64)
    frame = LocalFrame.around(every[:, 0], every[:, 1])
    with naming(name):
        tracks = tuple(_track(icao24, one, first, frame) for icao24, one in reports.items())
        return Tracks(tracks, frame, LONGEST_GAP_S)


def _check_header(file: str, columns: Sequence[str]) -> None:
    """Raise unless all columns that are needed are there."""
    for needed in NEEDED:
        if needed not in columns:
            raise FormatError(f"{file}: the first line must name the columns {', '.join(NEEDED)}; {needed} is missing")


def _report(where: str, row: Mapping[str, object]) -> Report | None:
    """A report, or None where the aircraft's position is not in it."""
    latitude, longitude, track = (_number(where, row, field) for field in ("latitude", "longitude", "track"))
    if latitude is None or longitude is None:
        return None
    icao24 = row.get("icao24")
    if icao24 is None or str(icao24).strip().lower() in NOTHING:
        raise FormatError(f"{where}: field 'icao24' is missing: which aircraft is it?")
    for field, value, largest in (("latitude", latitude, 90.0), ("longitude", longitude, 360.0)):
        if abs(value) > largest:
            raise FormatError(f"{where}: field {field!r} is outside -{largest:g} … {largest:g} ({value:g})")
    return _time(where, row.get("timestamp")), latitude, longitude, track


def _number(where: str, row: Mapping[str, object], field: str) -> float | None:
    """A finite number, or None where the table has none."""
    value = row.get(field)
    if value is None or str(value).strip().lower() in NOTHING:
        return None
    return finite_number(where, f"field {field!r}", value)


def _time(where: str, value: object) -> float:
    if isinstance(value, datetime):
        return _seconds(value)
    seconds = number_in(value)
    if seconds is not None and abs(seconds) > LATEST_S:
        raise FormatError(f"{where}: field 'timestamp' is beyond the year 9999 ({seconds:g}): give seconds")
    if seconds is not None and not math.isnan(seconds):
        return seconds
    try:
        return _seconds(datetime.fromisoformat(str(value)))
    except ValueError:
        raise FormatError(
            f"{where}: field 'timestamp' is neither seconds nor a date such as 2026-01-31 12:00:00 "
            f"({shown(None if value is None else str(value))})"
        ) from None


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _track(icao24: str, reports: list[Report], first: float, frame: LocalFrame) -> Track:
    """Sorted by time; of two reports of one moment the later one counts."""
    by_time = {report[0]: report for report in sorted(reports, key=lambda report: report[0])}
    times = np.array(list(by_time), dtype=np.float64) - first
    latitude = np.array([report[1] for report in by_time.values()])
    longitude = np.array([report[2] for report in by_time.values()])
    heading = _without_gaps([report[3] for report in by_time.values()])
    yaw = None if heading is None else compass_to_yaw(frame, latitude, longitude, np.array(heading))
    return Track(icao24, times, frame.to_xy(latitude, longitude), yaw)


def _without_gaps(values: list[float | None]) -> list[float] | None:
    """A missing value is the last one there was, at the beginning the first that comes; None where all are missing."""
    known = [value for value in values if value is not None]
    filled = accumulate(
        values, lambda last, value: last if value is None else value, initial=known[0] if known else None
    )
    return list(filled)[1:] if known else None


PARQUET = Format(
    name="adsb",
    title="ADS-B, Parquet",
    holds=Holds.TRACKS,
    suffixes=(".parquet", ".pq"),
    keeps="waypoints, tracks; height and speed are not read",
    begins=lambda source: source.data.startswith(MAGIC),
    read=lambda source: _tracks(source.name, parquet_rows(source, NEEDED)),
)
CSV = Format(
    name="adsb",
    title="ADS-B, CSV",
    holds=Holds.TRACKS,
    suffixes=(".csv",),
    keeps="waypoints, tracks; height and speed are not read",
    # No other table names aircraft so; what is missing beside it is said when it is read.
    begins=lambda source: "icao24" in columns_in(source.first_line),
    read=lambda source: _tracks(source.name, csv_rows(source, _check_header)[1]),
)
