"""ADS-B tables: CSV and Parquet, with all that receivers leave out or mix up."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from manetdiff.errors import FormatError
from manetdiff.fleet import Tracks
from manetdiff.formats import parquet
from manetdiff.formats.conversion import read_tracks
from manetdiff.formats.files import read_source

pytestmark = pytest.mark.filterwarnings("ignore:.*counts as away:UserWarning")

COLUMNS = ("timestamp", "icao24", "latitude", "longitude", "altitude", "groundspeed", "track")
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
Row = tuple[Any, ...]
# Two aircraft for 20 s: one eastwards along the equator, one northwards.
ROWS: list[Row] = [
    (1000.0, "aaa111", 0.0, 10.00, 9000, 450, 90.0),
    (1002.0, "bbb222", 0.1, 10.10, 9000, 450, 0.0),
    (1010.0, "aaa111", 0.0, 10.01, 9000, 450, 90.0),
    (1012.0, "bbb222", 0.11, 10.10, 9000, 450, 0.0),
    (1020.0, "aaa111", 0.0, 10.02, 9000, 450, 90.0),
]


def csv(rows: list[Row], columns: tuple[str, ...] = COLUMNS) -> str:
    lines = [",".join(columns), *(",".join("" if cell is None else str(cell) for cell in row) for row in rows)]
    return "\n".join(lines) + "\n"


def from_csv(tmp_path: Path, rows: list[Row]) -> Tracks:
    path = tmp_path / "flights.csv"
    path.write_text(csv(rows))
    return read_tracks(path, "adsb")


def from_parquet(tmp_path: Path, columns: dict[str, Any]) -> Tracks:
    pq.write_table(pa.table(columns), tmp_path / "flights.parquet")
    return read_tracks(tmp_path / "flights.parquet", "adsb")


def columns_of(rows: list[Row]) -> dict[str, Any]:
    return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))


def refusal(tmp_path: Path, rows: list[Row]) -> str:
    with pytest.raises(FormatError) as caught:
        from_csv(tmp_path, rows)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{tmp_path / 'flights.csv'}: ")


def degrees(tracks: Tracks, time: float) -> dict[str, tuple[float, float]]:
    fleet = tracks.at(time)
    assert fleet.frame is not None
    places = zip(*(column.tolist() for column in fleet.frame.to_degrees(fleet.positions)), strict=True)
    return dict(zip(fleet.ids, places, strict=True))


def assert_same(one: Tracks, other: Tracks) -> None:
    assert one.ids == other.ids
    assert one.frame == other.frame
    for first, second in zip(one.tracks, other.tracks, strict=True):
        assert first.times == pytest.approx(second.times, abs=1e-6)
        assert np.array_equal(first.places, second.places)
        assert (first.yaw is None) == (second.yaw is None)
        if first.yaw is not None:
            assert np.array_equal(first.yaw, second.yaw)  # type: ignore[arg-type]


def test_times_count_from_the_first_report_and_places_are_where_they_were(tmp_path: Path) -> None:
    tracks = from_csv(tmp_path, ROWS)
    assert tracks.ids == ("aaa111", "bbb222")
    assert (tracks.start, tracks.end) == (0, 20)
    assert tracks.tracks[1].times.tolist() == [2, 12]
    there = degrees(tracks, 7)
    assert there["aaa111"] == pytest.approx((0.0, 10.007), abs=1e-6)
    assert there["bbb222"] == pytest.approx((0.105, 10.10), abs=1e-6)
    assert tracks.at(7).yaw == pytest.approx([0, math.pi / 2], abs=1e-3)


def test_parquet_and_csv_say_the_same(tmp_path: Path) -> None:
    assert_same(from_parquet(tmp_path, columns_of(ROWS)), from_csv(tmp_path, ROWS))
    assert_same(read_tracks(tmp_path / "flights.parquet"), read_tracks(tmp_path / "flights.csv"))


def stamped(write: Any) -> list[Row]:
    return [(write(NOON + timedelta(seconds=row[0])), *row[1:]) for row in ROWS]


@pytest.mark.parametrize(
    "write",
    [
        lambda time: time.timestamp(),
        lambda time: time.replace(tzinfo=None).isoformat(sep=" "),
        lambda time: time.isoformat(),
        lambda time: time.isoformat().replace("+00:00", "Z"),
        lambda time: time.astimezone(timezone(timedelta(hours=-7))).isoformat(),
        lambda time: time.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat(timespec="milliseconds"),
    ],
    ids=["unix", "no zone", "utc", "Z", "-07:00", "+05:30"],
)
def test_times_may_be_unix_seconds_or_iso_and_are_utc_without_a_zone_wherever_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "XYZ+7")
        getattr(time, "tzset", lambda: None)()  # where the zone of a process can be set
        # The first report is in UTC, so that a time in a wrong zone shows.
        assert_same(
            from_csv(tmp_path, [*stamped(datetime.isoformat)[:1], *stamped(write)[1:]]), from_csv(tmp_path, ROWS)
        )
    getattr(time, "tzset", lambda: None)()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "+05:30"])
def test_timestamps_of_parquet_are_moments_whatever_their_unit_and_zone(
    tmp_path: Path, unit: str, zone: str | None
) -> None:
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    odd = 1 if unit == "ns" else 0  # a nanosecond that Python's own datetime cannot hold
    noon = int(NOON.timestamp())
    stamps = pa.array([(noon + int(row[0])) * ticks + odd for row in ROWS], pa.timestamp(unit, zone))
    assert_same(from_parquet(tmp_path, {**columns_of(ROWS), "timestamp": stamps}), from_csv(tmp_path, ROWS))
    rows = parquet.parquet_rows(read_source(tmp_path / "flights.parquet"), lambda names: ["timestamp"])
    assert rows[0] == {"timestamp": pytest.approx(noon + 1000, abs=1e-6)}


def test_parquet_may_hold_text_and_nothing_where_numbers_are_missing(tmp_path: Path) -> None:
    columns = columns_of(ROWS)
    columns["timestamp"] = [f"1970-01-01T00:{int(time) // 60:02d}:{time % 60:02.0f}" for time in columns["timestamp"]]
    columns["latitude"] = [str(value) for value in columns["latitude"]]
    columns["track"] = [90.0, None, float("nan"), 0.0, None]
    tracks = from_parquet(tmp_path, columns)
    assert tracks.at(7).yaw == pytest.approx([0, math.pi / 2], abs=1e-3)


@pytest.mark.parametrize("nothing", [None, "nan", "NaN", "null", "None", "NA", " "])
def test_reports_without_a_position_are_left_out(tmp_path: Path, nothing: Any) -> None:
    lost = [(1005.0, "aaa111", nothing, 10.5, 0, 0, 90), (1006.0, "ccc333", 10.5, nothing, 0, 0, 90)]
    tracks = from_csv(tmp_path, [*ROWS[:2], *lost, *ROWS[2:]])
    assert_same(tracks, from_csv(tmp_path, ROWS))


def test_a_missing_track_is_the_last_one_or_the_first_to_come(tmp_path: Path) -> None:
    first, last = 30.0, 60.0
    given = [None, first, None, last, None]
    rows = [(1000.0 + 10 * i, "aaa111", 0.0, 10 + i / 100, 0, 0, value) for i, value in enumerate(given)]
    yaw = from_csv(tmp_path, [*rows, *ROWS[1:2]]).tracks[0].yaw
    assert yaw is not None
    # As reported: it moves to the east, which would be 0.
    assert np.degrees(yaw) == pytest.approx([60, 60, 60, 30, 30], abs=1e-2)


def test_an_aircraft_without_any_track_points_where_it_goes(tmp_path: Path) -> None:
    rows = [(*row[:6], None) if row[1] == "aaa111" else row for row in ROWS]
    tracks = from_csv(tmp_path, rows)
    assert tracks.tracks[0].yaw is None
    assert tracks.tracks[1].yaw is not None
    assert tracks.at(7).yaw == pytest.approx([0, math.pi / 2], abs=1e-3)


def test_reports_may_stand_in_any_order(tmp_path: Path) -> None:
    expected = from_csv(tmp_path, ROWS)
    for order in ([4, 3, 2, 1, 0], [2, 4, 0, 3, 1]):
        mixed = from_csv(tmp_path, [ROWS[place] for place in order])
        assert degrees(mixed, 7)["aaa111"] == pytest.approx(degrees(expected, 7)["aaa111"])
        assert [one.times.tolist() for one in sorted(mixed.tracks, key=lambda one: one.id)] == [[0, 10, 20], [2, 12]]


def test_of_two_reports_of_one_moment_the_later_counts(tmp_path: Path) -> None:
    again = (1010.0, "aaa111", 0.5, 10.5, 0, 0, 45.0)
    tracks = from_csv(tmp_path, [*ROWS, again])
    assert tracks.tracks[0].times.tolist() == [0, 10, 20]
    assert degrees(tracks, 10)["aaa111"] == pytest.approx((0.5, 10.5), abs=1e-6)


def test_aircraft_appear_with_their_first_report_and_leave_when_nothing_is_heard(tmp_path: Path) -> None:
    for_long = [
        (1000.0 + 30 * i, name, place, 10 + i / 100, 0, 0, 90)
        for i in range(11)
        for name, place in (("aaa111", 0.0), ("bbb222", 0.2))
    ]
    guest = [(time, "ccc333", 0.1, 10.0 + time / 1e5, 0, 0, 90) for time in (1050.0, 1090.0, 1250.0, 1260.0)]
    tracks = from_csv(tmp_path, [*for_long, *guest])
    assert tracks.longest_gap == 60
    there = {time: "ccc333" in tracks.at(time).ids for time in (49, 50, 70, 90, 91, 200, 250, 255, 260, 261)}
    assert [time for time, is_there in there.items() if is_there] == [50, 70, 90, 250, 255, 260]


def test_the_date_line_is_no_jump(tmp_path: Path) -> None:
    rows = [
        (0.0, "aaa111", 0.0, 179.99, 0, 0, 90),
        (10.0, "aaa111", 0.0, -179.99, 0, 0, 90),
        (0.0, "bbb222", 0.1, 180.0, 0, 0, 90),
        (10.0, "bbb222", 0.1, 180.02, 0, 0, 90),
    ]
    tracks = from_csv(tmp_path, rows)
    metres = np.hypot(*(tracks.tracks[0].places[1] - tracks.tracks[0].places[0])[:2])
    assert metres == pytest.approx(0.02 * math.pi / 180 * 6_378_137, rel=1e-4)
    assert abs(degrees(tracks, 5)["aaa111"][1]) == pytest.approx(180, abs=1e-6)
    assert tracks.at(5).yaw == pytest.approx([0, 0], abs=1e-3)


@pytest.mark.parametrize("column", ["timestamp", "icao24", "latitude", "longitude"])
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    place = COLUMNS.index(column)
    names = tuple(name for name in COLUMNS if name != column)
    path = tmp_path / "flights.csv"
    path.write_text(csv([row[:place] + row[place + 1 :] for row in ROWS], names))
    with pytest.raises(FormatError, match=f"flights.csv: the column {column} is missing; needed are timestamp, icao24"):
        read_tracks(path, "adsb")
    with pytest.raises(FormatError, match=f"flights.parquet: the column {column} is missing; needed are timestamp"):
        from_parquet(tmp_path, {name: cells for name, cells in columns_of(ROWS).items() if name != column})


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"latitude": 90.5}, "field 'latitude' is outside -90 … 90 (90.5)"),
        ({"latitude": -91}, "field 'latitude' is outside -90 … 90 (-91)"),
        ({"longitude": 361}, "field 'longitude' is outside -360 … 360 (361)"),
        ({"latitude": "north"}, "field 'latitude' is not a finite number (\"north\")"),
        ({"longitude": "inf"}, "field 'longitude' is not a finite number"),
        ({"track": "E"}, "field 'track' is not a finite number"),
        ({"track": "1_0"}, "field 'track' is not a finite number"),
        ({"icao24": None}, "field 'icao24' is missing: which aircraft is it?"),
        ({"icao24": "nan"}, "field 'icao24' is missing"),
        ({"timestamp": None}, "field 'timestamp' is neither seconds nor a date such as 2026-01-31 12:00:00 (null)"),
        ({"timestamp": "noon"}, "field 'timestamp' is neither seconds nor a date"),
        ({"timestamp": "31.01.2026 12:00"}, "field 'timestamp' is neither seconds nor a date"),
        ({"timestamp": "1_000"}, "field 'timestamp' is neither seconds nor a date"),
        ({"timestamp": "nan"}, "field 'timestamp' is neither seconds nor a date"),
        ({"timestamp": 1769860800000}, "field 'timestamp' is beyond the year 9999 (1.76986e+12): give seconds"),
        ({"timestamp": "inf"}, "field 'timestamp' is beyond the year 9999"),
    ],
)
def test_a_bad_cell_is_named(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    bad = tuple({**dict(zip(COLUMNS, ROWS[2], strict=True)), **changes}.values())
    assert refusal(tmp_path, [*ROWS[:2], bad, *ROWS[3:]]).startswith(f"row 3: {problem}")


def test_no_report_and_one_aircraft_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, []) == "holds no report with a position"
    assert refusal(tmp_path, [(0, "aaa111", None, None, 0, 0, 0)]) == "holds no report with a position"
    assert "at least two nodes, not 1" in refusal(tmp_path, ROWS[:1])


def test_a_parquet_file_of_too_many_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MOST_ROWS", 4)
    with pytest.raises(FormatError, match=r"flights\.parquet: holds 5 rows, more than 4: cut out the time"):
        from_parquet(tmp_path, columns_of(ROWS))


def test_a_column_that_stands_twice_in_parquet_is_refused(tmp_path: Path) -> None:
    arrays = [pa.array(cells) for cells in columns_of(ROWS).values()]
    table = pa.Table.from_arrays([*arrays, arrays[2]], names=[*COLUMNS, "latitude"])
    pq.write_table(table, tmp_path / "flights.parquet")
    with pytest.raises(FormatError, match=r"flights\.parquet: the column latitude stands twice"):
        read_tracks(tmp_path / "flights.parquet", "adsb")
