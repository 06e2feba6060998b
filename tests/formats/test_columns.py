"""Names of columns: what users' tables call things is understood, in their units, or refused by name."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import pytest

from manetdiff import Fleet
from manetdiff.errors import FormatError
from manetdiff.fleet import Tracks
from manetdiff.formats import read_fleet, read_topology, read_tracks
from manetdiff.formats.columns import NAMES, understood
from manetdiff.formats.conversion import read_contents
from support.strategies import assert_same

FOOT = 0.3048
DEGREES = ["A,48.0,11.0,90,1000", "B,48.1,11.1,180,2000"]


def fleet_from(folder: Path, header: str, rows: list[str]) -> Fleet:
    path = folder / "fleet.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return read_fleet(path)


def tracks_from(folder: Path, header: str, rows: list[str]) -> Tracks:
    path = folder / "table.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return read_tracks(path)


def refusal(call: object, *arguments: object) -> str:
    with pytest.raises(FormatError) as caught:
        call(*arguments)  # type: ignore[operator]
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "header",
    [
        "id,lat,lon,heading,alt",
        "ID,Lat,Lon,Heading,Alt",
        "name,latitude,longitude,hdg,altitude",
        "callsign,LATITUDE,lng,track,alt_m",
        "node,lat,long,course,z",
        "Node_ID,latitude,longitude,bearing,height",
    ],
)
def test_a_fleet_is_the_same_whatever_its_columns_are_called(tmp_path: Path, header: str) -> None:
    expected = fleet_from(tmp_path, "id,lat,lon,heading,alt", DEGREES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(fleet_from(tmp_path, header, DEGREES), expected)
    document = {"nodes": [dict(zip(header.split(","), _cells(row), strict=True)) for row in DEGREES]}
    (tmp_path / "fleet.json").write_text(json.dumps(document))
    assert_same(read_fleet(tmp_path / "fleet.json"), expected)


def _cells(row: str) -> list[str | float]:
    name, *numbers = row.split(",")
    return [name, *(float(number) for number in numbers)]


@pytest.mark.parametrize(
    ("name", "aircraft", "metres"),
    [
        ("alt", False, 1000),
        ("altitude", False, 1000),
        ("alt_m", True, 1000),
        ("alt_ft", False, 1000 * FOOT),
        ("altitude_ft", True, 1000 * FOOT),
        # As aircraft send it, unless the name says otherwise; OpenSky has metres.
        ("altitude", True, 1000 * FOOT),
        ("alt", True, 1000 * FOOT),
        ("geoaltitude", True, 1000),
        ("baroaltitude", True, 1000),
        ("alt_baro", True, 1000 * FOOT),
    ],
)
def test_heights_are_in_the_unit_of_their_name(tmp_path: Path, name: str, aircraft: bool, metres: float) -> None:
    who = "icao24" if aircraft else "id"
    assert fleet_from(tmp_path, f"{who},lat,lon,heading,{name}", DEGREES).heights == pytest.approx([metres, 2 * metres])
    rows = [f"{time},{row}" for time in (0, 10) for row in DEGREES]
    tracks = tracks_from(tmp_path, f"time,{who},lat,lon,heading,{name}", rows)
    assert tracks.at(5).heights == pytest.approx([metres, 2 * metres])


def test_an_altitude_on_the_ground_counts_as_missing(tmp_path: Path) -> None:
    rows = ["0,abc,48,11,0,ground", "10,abc,48,11.01,0,1000", "0,def,48.1,11,0,2000", "10,def,48.1,11.01,0,2000"]
    tracks = tracks_from(tmp_path, "time,icao24,lat,lon,track,alt_baro", rows)
    assert tracks.at(0).heights == pytest.approx([1000 * FOOT, 2000 * FOOT])


def test_an_id_is_text_whatever_its_column_is_called(tmp_path: Path) -> None:
    fleet = fleet_from(tmp_path, "callsign,lat,lon,heading", ["007,48,11,0", "1e3,48.1,11,0"])
    assert fleet.ids == ("007", "1e3")


def test_of_several_names_the_better_is_taken_and_the_other_is_said(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=r'fleet\.csv: columns that are not used: "track"'):
        fleet = fleet_from(tmp_path, "id,lat,lon,track,heading", ["a,0,0,0,90", "b,0,1,0,90"])
    assert fleet.yaw == pytest.approx([0, 0], abs=1e-3)
    opensky = "time,icao24,lat,lon,velocity,heading,vertrate,callsign,onground,baroaltitude,geoaltitude"
    places = (("a", 11), ("b", 12))
    rows = [f"{time},{name},48,{lon},230,90,0,DLH1,false,900,1000" for time in (0, 5) for name, lon in places]
    with pytest.warns(UserWarning, match='columns that are not used: "baroaltitude"$'):
        tracks = tracks_from(tmp_path, opensky, rows)
    assert tracks.ids == ("a", "b")
    assert tracks.at(0).heights.tolist() == [1000, 1000]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("id,lat,lon,heading,alt,alt_ft", '"alt" and "alt_ft" both say the height'),
        ("id,lat,latitude,lon,heading", '"lat" and "latitude" both say lat'),
        ("id,lat,lon,hdg,heading", '"hdg" and "heading" both say the heading'),
        ("callsign,node,lat,lon,hdg", '"callsign" and "node" both say which node it is'),
    ],
)
def test_two_names_for_one_thing_are_refused(tmp_path: Path, header: str, names: str) -> None:
    assert f"fleet.csv: {names}: leave one out" in refusal(fleet_from, tmp_path, header, [])
    assert f"table.csv: {names}: leave one out" in refusal(tracks_from, tmp_path, f"time,{header}", [])


def test_errors_call_a_field_what_the_file_calls_it(tmp_path: Path) -> None:
    header = "callsign,latitude,longitude,hdg"
    assert "node 'B': field 'hdg' is missing" in refusal(fleet_from, tmp_path, header, ["A,48,11,0", "B,49,11,"])
    assert "field 'latitude' is outside -90 … 90" in refusal(fleet_from, tmp_path, header, ["A,148,11,0", "B,49,11,0"])
    table = ["0,A,48,11,0", "0,B,49,east,0"]
    assert "row 2: field 'longitude' is not a number" in refusal(tracks_from, tmp_path, f"t,{header}", table)


def test_a_column_that_is_missing_is_said_beside_those_that_are_there(tmp_path: Path) -> None:
    assert "the column heading is missing beside callsign, latitude, lng" in refusal(
        fleet_from, tmp_path, "callsign,latitude,lng", []
    )


def test_ids_that_stand_twice_are_named_with_their_rows(tmp_path: Path) -> None:
    rows = ["A,48,11,0", "B,49,11,0", "A,50,11,0"]
    expected = "node 'A': field 'id' stands twice, in rows 1 and 3: every node needs its own"
    assert expected in refusal(fleet_from, tmp_path, "id,lat,lon,heading", rows)
    table = ["0,A,48,11", "0,B,48,12", "0,A,49,11"]
    expected = "node 'A' is at two places at 0 s, in rows 1 and 3: ids must be distinct"
    assert expected in refusal(tracks_from, tmp_path, "time,id,lat,lon", table)
    # The same row twice says nothing new.
    assert len(tracks_from(tmp_path, "time,id,lat,lon", [*table[:2], table[0]]).at(0)) == 2


def test_a_table_over_time_is_no_fleet_unless_it_is_of_one_moment(tmp_path: Path) -> None:
    rows = ["0,A,48,11,0", "0,B,49,11,0", "10,A,48,11.1,0"]
    without = [row.rpartition(",")[0] for row in rows]  # nor is it one that merely lacks a heading
    for header, table in (("t,id,lat,lon,hdg", rows), ("t,id,lat,lon", without)):
        said = refusal(fleet_from, tmp_path, header, table)
        assert "is a table over time (column t): 'manetdiff simulate' flies it, 'manetdiff convert --time'" in said
    assert fleet_from(tmp_path, "t,id,lat,lon,hdg", rows[:2]).ids == ("A", "B")


def test_columns_that_are_not_used_are_said_once_and_shortly(tmp_path: Path) -> None:
    header = "id,x,y,yaw,colour,w1,w2,w3,w4,w5,w6,speed"
    with pytest.warns(UserWarning, match=r'not used: "colour", "w1", "w2", "w3", "w4" and 2 more$') as caught:
        fleet_from(tmp_path, header, ["a,0,0,0" + ",1" * 8, "b,1,0,0" + ",1" * 8])
    assert len(caught) == 1


def test_heights_in_metres_that_are_most_likely_feet_are_doubted(tmp_path: Path) -> None:
    rows = ["A,48,11,0,33000", "B,49,11,0,35000"]
    with pytest.warns(UserWarning, match="alt 35000 is in metres: if it is in feet, call it alt_ft"):
        fleet_from(tmp_path, "id,lat,lon,heading,alt", rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fleet_from(tmp_path, "id,lat,lon,heading,alt_m", rows)


def test_nodes_of_netjson_may_say_their_height_by_any_name(tmp_path: Path) -> None:
    nodes = [
        {"id": name, "properties": {"x": x, "y": 0, "yaw": 0, "parity": 0, "Altitude": 5 * x, "name": "label"}}
        for name, x in (("a", 0), ("b", 10))
    ]
    (tmp_path / "t.json").write_text(json.dumps({"type": "NetworkGraph", "nodes": nodes, "links": []}))
    assert read_topology(tmp_path / "t.json")[0].heights.tolist() == [0, 50]


def test_every_name_means_one_thing_and_ours_come_first() -> None:
    names = [name for groups in NAMES.values() for group in groups for name in group]
    assert len(set(names)) == len(names)
    assert understood("t", [*NAMES]).names == {name: name for name in NAMES}


# Tables over time.

JOINS = [f"{time},{name},48.{place},11.{time:03d}" for time in range(0, 101, 10) for place, name in enumerate("ab")]


def test_nodes_of_a_table_are_there_from_their_first_row_to_their_last(tmp_path: Path) -> None:
    guest = [f"{time},guest,48.5,11.{time:03d}" for time in (30, 40, 50)]
    tracks = tracks_from(tmp_path, "time,id,lat,lon", [*JOINS, *guest])
    there = [time for time in range(0, 101, 5) if "guest" in tracks.at(time).ids]
    assert there == [30, 35, 40, 45, 50]
    assert tracks.longest_gap == 50


def test_a_table_and_the_same_reports_of_aircraft_agree_on_who_is_there(tmp_path: Path) -> None:
    guest = [f"{time},guest,48.5,11.{time:03d}" for time in (30, 40, 50)]
    table = tracks_from(tmp_path, "time,id,lat,lon", [*JOINS, *guest])
    aircraft = tracks_from(tmp_path, "time,icao24,lat,lon", [*JOINS, *guest])
    for time in range(101):
        assert_same(table.at(time), aircraft.at(time))


def test_a_node_without_rows_for_long_is_away_and_that_is_said(tmp_path: Path) -> None:
    rows = [*JOINS, "0,base,48.5,11", "50,base,48.5,11.1", "100,base,48.5,11.2"]
    assert "base" in tracks_from(tmp_path, "time,id,lat,lon", rows).at(25).ids  # five intervals: a loss of reports
    with pytest.warns(UserWarning, match="node 'base' has no row for 100 s after 0 s and counts as away; .* 50 s$"):
        tracks = tracks_from(tmp_path, "time,id,lat,lon", [*JOINS, "0,base,48.5,11", "100,base,48.5,11.2"])
    assert [time for time in (0, 10, 99, 100) if "base" in tracks.at(time).ids] == [0, 100]
    with pytest.warns(UserWarning, match="node 'base' has one row only and counts as away but at 0 s"):
        tracks = tracks_from(tmp_path, "time,id,lat,lon", [*JOINS, "0,base,48.5,11"])
    assert [time for time in (0, 10, 100) if "base" in tracks.at(time).ids] == [0]


@pytest.mark.parametrize("who", ["id", "icao24"])
def test_who_asks_for_another_gap_gets_it_without_a_word(tmp_path: Path, who: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text("\n".join([f"time,{who},lat,lon", *JOINS, "10,base,48.5,11", "90,base,48.5,11.1"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there = {
            gap: [time for time in (0, 10, 50, 90, 100) if "base" in read_tracks(path, longest_gap=gap).at(time).ids]
            for gap in (0.0, 79.0, 80.0, math.inf)
        }
    assert there == {0.0: [10, 90], 79.0: [10, 90], 80.0: [10, 50, 90], math.inf: [0, 10, 50, 90, 100]}


def test_a_gap_goes_with_tables_alone(tmp_path: Path) -> None:
    (tmp_path / "m.movements").write_text("0 0 0\n0 1 1\n")
    (tmp_path / "f.csv").write_text("id,x,y,yaw\na,0,0,0\nb,1,1,0\n")
    (tmp_path / "t.csv").write_text("time,id,x,y\n0,a,0,0\n0,b,1,1\n")
    assert "says where its nodes are at all times: --gap goes with" in refusal(
        read_tracks, tmp_path / "m.movements", None, 5.0
    )
    assert "at one time only: --gap goes with" in refusal(read_contents, tmp_path / "f.csv", None, 1.0, 5.0)
    for wrong in (-1.0, math.nan):
        assert "--gap: must be at least 0 seconds" in refusal(read_tracks, tmp_path / "t.csv", None, wrong)


def test_a_row_without_heading_keeps_the_last_and_one_without_height_lies_between(tmp_path: Path) -> None:
    rows = ["0,a,48,11,90,100", "10,a,48,11.1,,", "20,a,48,11.2,0,300", "0,b,49,11,180,50", "20,b,49,11.1,180,50"]
    tracks = tracks_from(tmp_path, "time,id,lat,lon,heading,alt", rows)
    assert tracks.tracks[0].yaw == pytest.approx([0, 0, math.pi / 2], abs=1e-2)
    assert tracks.tracks[0].places[:, 2].tolist() == [100, 200, 300]


def test_a_node_without_any_heading_points_where_it_goes(tmp_path: Path) -> None:
    tracks = tracks_from(tmp_path, "time,id,x,y,yaw", ["0,a,0,0,", "10,a,0,5,", "0,b,9,9,3", "10,b,9,9,3"])
    assert tracks.at(5).yaw == pytest.approx([math.pi / 2, 3])


@pytest.mark.parametrize("who", ["id", "icao24"])
def test_a_node_that_never_says_how_high_it_is_is_named(tmp_path: Path, who: str) -> None:
    rows = ["0,a,48,11,100", "0,b,49,11,", "1,b,49,11,", "0,c,49,12,"]
    expected = "nodes 'b', 'c': no height in any row, though others have one: leave out these nodes, or the column"
    assert expected in refusal(tracks_from, tmp_path, f"time,{who},lat,lon,alt", rows)


@pytest.mark.filterwarnings("ignore:.*counts as away:UserWarning")
def test_times_of_a_table_may_be_dates_and_then_count_from_the_first(tmp_path: Path) -> None:
    rows = ["2026-01-31 12:00:05,a,0,0", "2026-01-31T12:00:15Z,a,10,0", "2026-01-31 12:00:05,b,0,9"]
    tracks = tracks_from(tmp_path, "timestamp,node,x,y", rows)
    assert tracks.tracks[0].times.tolist() == [0, 10]
    seconds = tracks_from(tmp_path, "t,name,x,y", ["5,a,0,0", "15,a,10,0", "5,b,0,9"])
    assert seconds.tracks[0].times.tolist() == [5, 15]


def test_metres_and_degrees_in_one_table_are_refused(tmp_path: Path) -> None:
    assert "has x, y and lat, lng: leave one of the two out" in refusal(tracks_from, tmp_path, "t,id,x,y,lat,lng", [])
