"""Tables of times and places: in metres or degrees, rows and columns in any order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from manetdiff.fleet import Tracks
from manetdiff.formats.files import Source
from manetdiff.formats.track_table import tracks_in
from support.format_samples import refusal

LOCAL = "time,id,x,y,yaw\n0,a,0,0,0.5\n10,a,100,0,1.5\n0,b,5,5,3\n10,b,5,25,-3\n"
DEGREES = "time,id,lat,lon,heading\n0,a,48.0,11.0,90\n10,a,48.0,11.001,90\n0,b,48.1,11.0,0\n10,b,48.101,11.0,0\n"


def read(content: str) -> Tracks:
    return tracks_in(Source("t.csv", content.encode()))


def test_a_table_in_metres_is_read_as_it_stands() -> None:
    tracks = read(LOCAL)
    assert tracks.frame is None
    fleet = tracks.at(5)
    assert fleet.ids == ("a", "b")
    assert fleet.positions.tolist() == [[50, 0], [5, 15]]
    assert fleet.yaw[0] == 1.0
    assert math.remainder(fleet.yaw[1], math.tau) == pytest.approx(math.pi)


def test_without_yaw_nodes_point_where_they_go() -> None:
    tracks = read("time,id,x,y\n0,a,0,0\n10,a,100,0\n0,b,5,5\n10,b,5,25\n")
    assert tracks.at(5).yaw.tolist() == pytest.approx([0, math.pi / 2])


def test_a_table_in_degrees_knows_where_on_earth_it_is() -> None:
    tracks = read(DEGREES)
    assert tracks.frame is not None
    fleet = tracks.at(5)
    latitude, longitude = tracks.frame.to_degrees(fleet.positions)
    assert latitude == pytest.approx([48.0, 48.1005])
    assert longitude == pytest.approx([11.0005, 11.0])
    assert fleet.yaw == pytest.approx([0, math.pi / 2], abs=1e-3)
    without = read("\n".join(line.rsplit(",", 1)[0] for line in DEGREES.splitlines()))
    assert without.at(5).yaw == pytest.approx([0, math.pi / 2], abs=1e-3)


def test_rows_may_stand_in_any_order() -> None:
    header, *rows = LOCAL.splitlines()
    for seed in range(5):
        mixed = read("\n".join([header, *np.random.default_rng(seed).permutation(rows)]))
        for one in read(LOCAL).tracks:
            other = next(track for track in mixed.tracks if track.id == one.id)
            assert np.array_equal(one.times, other.times)
            assert np.array_equal(one.places, other.places)


def test_columns_may_stand_in_any_order_in_any_case_beside_others() -> None:
    with pytest.warns(UserWarning, match='columns that are not used: "colour"'):
        tracks = read('colour,Y, X ,ID,"Time"\nred,5,1,"a, b",0\n,6,2,7,0\n')
    assert tracks.ids == ("a, b", "7")
    assert tracks.at(0).positions.tolist() == [[1, 5], [2, 6]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        # An empty cell in the first row does not change what the table is.
        (LOCAL.replace("0,a,0,0,0.5", "0,a,,0,0.5"), "row 1: field 'x' is missing"),
        ("time;id;x;y\n0;1;2;3\n", ": separate them by commas, not semicolons"),
        ("time\tid\tx\ty\n0\t1\t2\t3\n", ": separate them by commas, not tabs"),
        ("time,x,y\n0,1,2\n", "the first line must name the columns time, id, x, y or time, id, lat, lon, not"),
        ("0,a,0,0\n1,a,1,1\n", "the first line must name the columns"),
        ("time,id,x,y\n", "holds no rows under its columns"),
        ("time,id,x,y\n0,a,0,0\n0,b,1,1,1\n", "row 2: has 5 cells under 4 columns"),
        ("time,id,x,y\n0,a,0,0\nsoon,b,1,1\n", "row 2: field 'time' is neither seconds nor a date"),
        ("time,id,x,y\n0,a,0,0\n0,b,1,inf\n", "row 2: field 'y' is not a finite number"),
        ("time,id,x,y\n0,a,0,0\n0,,1,1\n", "row 2: field 'id' is missing"),
        ("time,id,x,y\n0,a,0,0\n1,a,1,1\n", "at least two nodes, not 1"),
        ("time,id,lat,lon\n0,a,91,0\n", "row 1: field 'lat' is outside -90 … 90 (91)"),
        ("time,id,lat,lon\n0,a,9,361\n", "row 1: field 'lon' is outside -180 … 360 (361)"),
        ("time,id,lat,lon,yaw\n0,a,9,9,1\n", "the column yaw does not go with lat, lon"),
        ("time,id,x,y,heading\n0,a,9,9,1\n", "the column heading does not go with x, y"),
    ],
)
def test_what_is_wrong_with_a_table_is_named(content: str, problem: str) -> None:
    assert problem in refusal(tracks_in, "t.csv", content)


def test_a_first_line_of_very_many_columns_is_checked_in_no_time() -> None:
    wide = ",".join(f"column{number}" for number in range(200_000))
    assert "holds no rows" in refusal(tracks_in, "t.csv", f"time,id,x,y,{wide}\n")
