"""Conversion: what goes to what, how formats are told apart, and what is said where one cannot be had."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manetdiff import Fleet, Radio
from manetdiff.errors import FormatError
from manetdiff.formats import read_fleet, read_topology, read_tracks, write_fleet, write_topology
from manetdiff.formats.conversion import Order, left_out, read_contents, target_of, write_contents
from manetdiff.formats.format import Holds
from manetdiff.formats.registry import FORMATS, READ, WRITTEN, names
from support.format_samples import FLEET, SAMPLES, TABLE, TOPOLOGY

NS2 = (
    "# made by hand, for tests\n$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$node_(1) set X_ 0\n$node_(1) set Y_ 50\n"
    '$ns_ at 0 "$node_(0) setdest 100 0 10"\n'
)
ADSB = (
    "timestamp,icao24,latitude,longitude,track\n"
    "0,a,48.0,11.0,90\n10,a,48.0,11.001,90\n2,b,48.1,11.0,90\n10,b,48.1,11.001,90\n"
)
FORMAT = {name: next(one for one in FORMATS if one.title == sample.title) for name, sample in SAMPLES.items()}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A file of each format under its usual suffix, and one of ns-2 and of ADS-B with known places and times."""
    contents = {name: (sample.data(), sample.suffix) for name, sample in SAMPLES.items()}
    write_fleet(FLEET, tmp_path / "fleet on earth.json")
    made = {"fleet on earth": tmp_path / "fleet on earth.json"}
    for name, (data, suffix) in {**contents, "way": (NS2.encode(), ".tcl"), "flight": (ADSB.encode(), ".csv")}.items():
        made[name] = tmp_path / f"{name}{suffix}"
        made[name].write_bytes(data)
    return made


def assert_holds(path: str | Path, name: str, kind: str | None = None) -> None:
    held = read_contents(path, kind)
    holds = FORMAT[name].holds
    assert (held.tracks is not None) == (holds is Holds.TRACKS)
    assert (held.fleet is not None) == (holds is not Holds.TRACKS)
    assert held.topology == (TOPOLOGY if holds is Holds.TOPOLOGY else None)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_is_known_by_its_name_or_its_beginning(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert_holds(files[name], name)
    expected = read_contents(files[name]).fleet_at()
    data = files[name].read_bytes()
    (tmp_path / "nameless").write_bytes(data)
    for kind in [FORMAT[name].name] if name == "adsb parquet" else [FORMAT[name].name, None]:
        for path in (str(tmp_path / "nameless"), "-"):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            assert_holds(path, name, kind)
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            again = read_contents(path, kind)
            assert np.array_equal(again.fleet_at().positions, expected.positions)
            assert again.name == ("standard input" if path == "-" else path)


# What each can be written as; a CSV fleet and most mobility files do not say where on earth they are.
TRACKS = {"fleet", "ns2", "bonnmotion", "table"}
ON_EARTH = {"emane-eel", "geojson", "kml"}
AS = {
    "netjson": {"fleet", "netjson", "graphml", "emane-schedule", "czml", "table", *ON_EARTH},
    "graphml": {"fleet", "netjson", "graphml", "emane-schedule", "czml", "table", *ON_EARTH},
    "fleet": {"fleet", "table"},
    "fleet csv": {"fleet", "table"},
    "fleet on earth": {"fleet", "table", *ON_EARTH},
    "ns2": TRACKS,
    "bonnmotion": TRACKS,
    "bonnmotion 3D": TRACKS,
    "bonnmotion packed": TRACKS,
    "adsb parquet": TRACKS | ON_EARTH,
    "adsb": TRACKS | ON_EARTH,
    "table": TRACKS,
    "table in degrees": TRACKS | ON_EARTH,
}


@pytest.mark.parametrize("source", AS)
def test_everything_goes_to_whatever_can_hold_it(files: dict[str, Path], tmp_path: Path, source: str) -> None:
    held = read_contents(files[source])
    for target in dict.fromkeys(one.name for one in WRITTEN):
        out = tmp_path / target
        if target in AS[source]:
            assert write_contents(held, Order(out), target) == target
            assert out.stat().st_size > 0
        else:
            assert "needs" in failure(lambda out=out, target=target: write_contents(held, Order(out), target))
            assert not out.exists()


@pytest.mark.parametrize(
    ("source", "suffix", "expected"),
    [
        ("fleet", ".json", "fleet"),
        ("fleet", ".csv", "fleet"),
        ("fleet on earth", ".eel", "emane-eel"),
        ("netjson", ".json", "netjson"),
        ("netjson", ".netjson", "netjson"),
        ("netjson", ".GRAPHML", "graphml"),
        ("netjson", ".xml", "emane-schedule"),
        ("netjson", ".czml", "czml"),
        ("netjson", ".csv", "fleet"),
        ("netjson", ".geojson", "geojson"),
        ("netjson", ".kml", "kml"),
        ("table in degrees", ".kml", "kml"),
        ("ns2", ".movements", "bonnmotion"),
        ("bonnmotion", ".tcl", "ns2"),
        ("bonnmotion", ".ns_movements", "ns2"),
        ("bonnmotion", ".ns2", "ns2"),
        ("bonnmotion", ".csv", "table"),
        ("bonnmotion", ".json", "fleet"),
    ],
)
def test_the_target_is_known_by_its_suffix(
    files: dict[str, Path], tmp_path: Path, source: str, suffix: str, expected: str
) -> None:
    out = tmp_path / f"out{suffix}"
    assert write_contents(read_contents(files[source]), Order(out)) == expected
    if expected in {one.name for one in READ}:
        assert len(read_contents(out).fleet_at()) == len(read_contents(files[source]).fleet_at())


@pytest.mark.parametrize("between", ["t.graphml", "t.netjson"])
def test_a_topology_keeps_everything_and_the_radio_that_it_was_written_for(between: str, tmp_path: Path) -> None:
    write_topology(TOPOLOGY, FLEET, Radio(sigma2=0.9, unit=2000.0), tmp_path / "t.json")
    write_contents(read_contents(tmp_path / "t.json"), Order(tmp_path / between))
    write_contents(read_contents(tmp_path / between), Order(tmp_path / "back.json"))
    assert (tmp_path / "back.json").read_text() == (tmp_path / "t.json").read_text()
    # Another one can be asked for.
    write_contents(read_contents(tmp_path / "t.json"), Order(tmp_path / "other.json", radio=Radio()))
    _, topology = read_topology(tmp_path / "other.json")
    assert topology.on().radio == Radio()


def test_mobility_goes_to_ns2_and_says_the_same(files: dict[str, Path], tmp_path: Path) -> None:
    for name in ("bonnmotion packed", "way"):
        write_contents(read_contents(files[name]), Order(tmp_path / "m.tcl"))
        before, after = read_tracks(files[name]), read_tracks(tmp_path / "m.tcl")
        for time in (0.0, 3.3, 10.0):
            assert after.at(time).positions == pytest.approx(before.at(time).positions)


def test_the_step_says_how_many_moments_a_table_gets(files: dict[str, Path], tmp_path: Path) -> None:
    for step, count in ((1.0, 11), (5.0, 3), (0.5, 21)):
        write_contents(read_contents(files["way"], step=step), Order(tmp_path / "out.csv"))
        assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + 2 * count


def test_the_time_says_which_fleet_is_meant(files: dict[str, Path], tmp_path: Path) -> None:
    held = read_contents(files["way"])
    assert write_contents(held, Order(tmp_path / "f.csv", time=3.0)) == "fleet"
    assert read_fleet(tmp_path / "f.csv").positions.tolist() == [[30, 0], [0, 50]]
    write_contents(held, Order(tmp_path / "t.csv", time=3.0), "table")
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 3
    write_contents(read_contents(files["flight"]), Order(tmp_path / "e.eel", time=3.0))
    assert len((tmp_path / "e.eel").read_text().splitlines()) == 2 + 4  # two names, two events each


def test_by_default_the_fleet_is_the_first_of_two_nodes(files: dict[str, Path]) -> None:
    held = read_contents(files["flight"])
    assert held.fleet_at().ids == ("a", "b")
    assert [time for time, _ in held.moments()] == [2, 3, 4, 5, 6, 7, 8, 9, 10]


def failure(call: Any) -> str:
    with pytest.raises(FormatError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_cannot_be_had_is_said(files: dict[str, Path], tmp_path: Path) -> None:
    fleet, topology, tracks = (read_contents(files[name]) for name in ("fleet", "netjson", "way"))
    out = tmp_path / "out"
    unknown = "unknown format 'gpx'; known are"
    assert failure(lambda: read_contents(files["fleet"], "gpx")) == f"--from: {unknown} {names(READ)}"
    assert failure(lambda: write_contents(fleet, Order(out), "gpx")) == f"--to: {unknown} {names(WRITTEN)}"
    assert failure(lambda: write_contents(fleet, Order(out))).startswith(f"{out}: its name does not say which format")
    assert "its name does not say" in failure(lambda: write_contents(fleet, Order(tmp_path / "fleet.json.gz")))
    assert failure(lambda: write_contents(fleet, Order("-"))).startswith("standard output: its name does not say")
    assert failure(lambda: write_contents(fleet, Order(out), "netjson")) == (
        f"{files['fleet']}: holds no topology, which NetJSON needs: 'manetdiff generate' makes one"
    )
    assert "does not say how its nodes move" in failure(lambda: write_contents(topology, Order(out), "ns2"))
    for held in (fleet, topology):
        for to in ("fleet", "table", "emane-eel"):
            message = failure(lambda held=held, to=to: write_contents(held, Order(out, time=1.0), to))
            assert message == f"{held.name}: holds a fleet at one time only: --time goes with a mobility file"
    assert "ns-2 mobility is of all times" in failure(lambda: write_contents(tracks, Order(out, time=1.0), "ns2"))


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("netjson", "netjson", []),
        ("netjson", "kml", ["radio"]),
        ("netjson", "czml", ["headings", "sectors and rates", "radio"]),
        ("netjson", "emane-schedule", ["places", "headings", "where on earth", "links", "sectors and rates", "radio"]),
        ("netjson", "fleet", ["links", "parity", "sectors and rates", "radio"]),
        ("fleet on earth", "geojson", []),
        ("fleet", "fleet", []),
        ("bonnmotion", "ns2", []),
        ("bonnmotion 3D", "bonnmotion", []),
        ("bonnmotion 3D", "fleet", ["movement"]),
        ("table", "ns2", ["ids", "headings"]),
        ("adsb", "bonnmotion", ["ids", "headings", "where on earth"]),
        ("adsb", "emane-eel", []),
        ("flight", "ns2", ["ids", "headings", "where on earth", "who is there when"]),
        ("flight", "emane-eel", ["who is there when"]),
        ("climb", "ns2", ["climbs"]),
        ("climb", "table", []),
    ],
)
def test_what_this_file_says_and_the_target_cannot_hold_is_said(
    files: dict[str, Path], tmp_path: Path, source: str, target: str, missing: list[str]
) -> None:
    files["climb"] = tmp_path / "climb.movements"
    files["climb"].write_text("#3D\n0 0 0 100 10 50 0 900\n0 9 9 100 10 9 9 100\n")
    held, order = read_contents(files[source]), Order(tmp_path / "out")
    assert left_out(held, order, target_of(held, order, target)) == missing


def test_at_one_time_a_flight_has_no_movement_to_lose(files: dict[str, Path], tmp_path: Path) -> None:
    held, order = read_contents(files["flight"]), Order(tmp_path / "f.json", time=5.0)
    assert left_out(held, order, target_of(held, order)) == []


def test_times_and_steps_that_make_no_fleet_name_the_file(files: dict[str, Path], tmp_path: Path) -> None:
    held = read_contents(files["flight"])
    order = Order(tmp_path / "f.json", time=0.0)
    assert failure(lambda: write_contents(held, order)).startswith(f"{files['flight']}: at 0 s fewer than two nodes")
    bad_step = read_contents(files["way"], step=0.0)
    message = failure(lambda: write_contents(bad_step, Order(tmp_path / "t.csv")))
    assert message.startswith(f"{files['way']}: the step must be a positive number")


def test_what_begins_like_no_format_is_said_and_what_is_missing_where_it_nearly_does(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_text(TABLE.replace("time, id, x, y, yaw", '"time","id","x","y","yaw"'))
    assert len(read_tracks(path).ids) == 3
    path.write_text("a;b;c\n1;2;3\n")
    assert failure(lambda: read_tracks(path)) == (
        f"{path}: is no mobility file of a known kind: ns2, bonnmotion, adsb, table"
    )
    assert failure(lambda: read_contents(path)) == f"{path}: is no file of a known format: give --from {names(READ)}"
    assert "unknown kind of mobility file 'gpx'" in failure(lambda: read_tracks(path, "gpx"))
    path.write_text("lat,lon,heading\n48,2,0\n")
    assert "the column id is missing beside lat, lon, heading" in failure(lambda: read_contents(path))
    path.write_text("time,icao24\n")
    assert "the column latitude is missing" in failure(lambda: read_contents(path))


def test_a_fleet_may_hold_a_node_of_any_name(tmp_path: Path) -> None:
    write_fleet(Fleet([(0, 0), (1, 1)], [0, 0], ['"NetworkGraph"', "type"]), tmp_path / "fleet.json")
    assert read_contents(tmp_path / "fleet.json").topology is None
