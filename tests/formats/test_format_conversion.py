"""Conversion: what goes to what, how formats are told apart, and what is said where one cannot be had."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import FormatError
from manetdiff.formats import read_fleet, read_topology, read_tracks, write_fleet, write_topology
from manetdiff.formats.conversion import Order, read_contents, write_contents
from manetdiff.formats.graphml import write_graphml
from manetdiff.formats.registry import FORMATS, READ, WRITTEN, markdown_table, names

FLEET = Fleet.from_geodetic([48.0, 48.01, 48.02], [11.0, 11.01, 11.0], [90.0, 10.0, 200.0], ["a", "b", "c"])
TOPOLOGY = Topology([(0, 1), (1, 2)], [0, 1, 0])
NS2 = (
    "# made by hand, for tests\n$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$node_(1) set X_ 0\n$node_(1) set Y_ 50\n"
    '$ns_ at 0 "$node_(0) setdest 100 0 10"\n'
)
BONN = "0 0 0 10 100 0\n0 0 50 10 0 50\n"
TABLE = "time, id, x, y\n0,a,0,0\n10,a,100,0\n0,b,0,50\n10,b,0,50\n"
ADSB = (
    "timestamp, icao24, latitude, longitude, altitude, groundspeed, track\n"
    "0,a,48.0,11.0,0,0,90\n10,a,48.0,11.001,0,0,90\n2,b,48.1,11.0,0,0,90\n10,b,48.1,11.001,0,0,90\n"
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A file of each format under its usual name."""
    made = {
        "fleet": tmp_path / "fleet.json",
        "fleet csv": tmp_path / "fleet.csv",
        "netjson": tmp_path / "topology.json",
        "graphml": tmp_path / "topology.graphml",
        "ns2": tmp_path / "m.tcl",
        "bonnmotion": tmp_path / "m.movements.gz",
        "adsb": tmp_path / "flights.csv",
        "parquet": tmp_path / "flights.parquet",
        "table": tmp_path / "table.csv",
    }
    write_fleet(FLEET, made["fleet"])
    write_fleet(FLEET, made["fleet csv"])
    write_topology(TOPOLOGY, made["netjson"], FLEET)
    write_graphml(TOPOLOGY, made["graphml"], FLEET)
    made["ns2"].write_text(NS2)
    made["bonnmotion"].write_bytes(gzip.compress(BONN.encode()))
    made["adsb"].write_text(ADSB)
    made["table"].write_text(TABLE)
    names, *rows = (line.split(",") for line in ADSB.splitlines())
    cells = zip(*rows, strict=True)
    table = {name.strip(): list(column) for name, column in zip(names, cells, strict=True)}
    pq.write_table(pa.table(table), made["parquet"])
    return made


HOLDS = {
    "fleet": "fleet",
    "fleet csv": "fleet",
    "netjson": "topology",
    "graphml": "topology",
    "ns2": "tracks",
    "bonnmotion": "tracks",
    "adsb": "tracks on earth",
    "parquet": "tracks on earth",
    "table": "tracks",
}
# What each can be written as; a CSV fleet does not say where on earth it is.
AS = {
    "fleet": {"fleet", "emane-eel", "table"},
    "fleet csv": {"fleet", "table"},
    "topology": {"fleet", "netjson", "graphml", "emane-schedule", "emane-eel", "czml", "table"},
    "tracks": {"fleet", "ns2", "table"},
    "tracks on earth": {"fleet", "emane-eel", "ns2", "table"},
}


@pytest.mark.parametrize("source", HOLDS)
def test_a_file_is_known_by_its_name_and_beginning(files: dict[str, Path], source: str) -> None:
    held = read_contents(files[source])
    kind = HOLDS[source].split()[0]
    assert (held.tracks is not None) == (kind == "tracks")
    assert (held.fleet is not None) == (kind != "tracks")
    assert (held.topology is not None) == (kind == "topology")
    if held.topology is not None:
        assert held.topology == TOPOLOGY


@pytest.mark.parametrize("source", [name for name in HOLDS if name not in ("bonnmotion", "parquet")])
def test_a_file_of_any_name_is_known_by_its_beginning(files: dict[str, Path], tmp_path: Path, source: str) -> None:
    nameless = tmp_path / "nameless"
    nameless.write_bytes(files[source].read_bytes())
    named, held = read_contents(files[source]), read_contents(nameless)
    assert held.topology == named.topology
    assert np.array_equal(held.fleet_at().positions, named.fleet_at().positions)


@pytest.mark.parametrize("source", [name for name in HOLDS if name != "parquet"])
@pytest.mark.parametrize("told", [True, False])
def test_standard_input_is_known_by_its_beginning(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, source: str, told: bool
) -> None:
    data = files[source].read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    held = read_contents("-", source.split()[0] if told else None)
    assert held.name == "standard input"
    assert held.fleet_at().ids == read_contents(files[source]).fleet_at().ids


@pytest.mark.parametrize("target", dict.fromkeys(one.name for one in WRITTEN))
@pytest.mark.parametrize("source", HOLDS)
def test_everything_goes_to_whatever_can_hold_it(
    files: dict[str, Path], tmp_path: Path, source: str, target: str
) -> None:
    held = read_contents(files[source])
    out = tmp_path / "out"
    if target in AS.get(source, AS.get(HOLDS[source], set())):
        assert write_contents(held, Order(out), target) == target
        assert out.stat().st_size > 0
        return
    with pytest.raises(FormatError) as caught:
        write_contents(held, Order(out), target)
    assert "\n" not in str(caught.value)
    assert not out.exists()


@pytest.mark.parametrize(
    ("source", "suffix", "expected"),
    [
        ("fleet", ".json", "fleet"),
        ("fleet", ".csv", "fleet"),
        ("fleet", ".eel", "emane-eel"),
        ("netjson", ".json", "netjson"),
        ("netjson", ".netjson", "netjson"),
        ("netjson", ".GRAPHML", "graphml"),
        ("netjson", ".xml", "emane-schedule"),
        ("netjson", ".czml", "czml"),
        ("netjson", ".csv", "fleet"),
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
    again = {"emane-eel", "emane-schedule", "czml"}
    if expected not in again:
        assert len(read_contents(out).fleet_at()) == len(read_contents(files[source]).fleet_at())


def test_topologies_survive_the_way_through_graphml_and_back(files: dict[str, Path], tmp_path: Path) -> None:
    write_contents(read_contents(files["netjson"]), Order(tmp_path / "t.graphml", Radio(range=5.0)))
    write_contents(read_contents(tmp_path / "t.graphml"), Order(tmp_path / "again.json", Radio(range=5.0)))
    fleet, topology = read_topology(tmp_path / "again.json")
    assert topology == TOPOLOGY
    assert np.array_equal(fleet.positions, FLEET.positions)
    assert fleet.frame == FLEET.frame


def test_bonnmotion_goes_to_ns2_and_says_the_same(files: dict[str, Path], tmp_path: Path) -> None:
    write_contents(read_contents(files["bonnmotion"]), Order(tmp_path / "m.tcl"))
    for time in (0.0, 3.3, 10.0):
        there = read_tracks(tmp_path / "m.tcl").at(time).positions
        assert there == pytest.approx(np.array([[10 * time, 0], [0, 50]]))


def test_the_step_says_how_many_moments_a_table_gets(files: dict[str, Path], tmp_path: Path) -> None:
    for step, count in ((1.0, 11), (5.0, 3), (0.5, 21)):
        write_contents(read_contents(files["table"], step=step), Order(tmp_path / "out.csv"))
        assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + 2 * count


def test_the_time_says_which_fleet_is_meant(files: dict[str, Path], tmp_path: Path) -> None:
    held = read_contents(files["ns2"])
    assert write_contents(held, Order(tmp_path / "f.csv", time=3.0)) == "fleet"
    assert read_fleet(tmp_path / "f.csv").positions.tolist() == [[30, 0], [0, 50]]
    write_contents(held, Order(tmp_path / "t.csv", time=3.0), "table")
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 3
    write_contents(read_contents(files["adsb"]), Order(tmp_path / "e.eel", time=3.0))
    assert len((tmp_path / "e.eel").read_text().splitlines()) == 4


def test_by_default_the_fleet_is_the_first_of_two_nodes(files: dict[str, Path]) -> None:
    held = read_contents(files["adsb"])
    assert held.fleet_at().ids == ("a", "b")
    assert [time for time, _ in held.moments()] == [2, 3, 4, 5, 6, 7, 8, 9, 10]


def failure(call: Any) -> str:
    with pytest.raises(FormatError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_cannot_be_had_is_said(files: dict[str, Path], tmp_path: Path) -> None:
    fleet, topology, tracks = (read_contents(files[name]) for name in ("fleet", "netjson", "ns2"))
    out = tmp_path / "out"
    assert failure(lambda: read_contents(files["fleet"], "gpx")) == (
        f"--from: unknown format 'gpx'; known are {names(READ)}"
    )
    assert failure(lambda: write_contents(fleet, Order(out), "gpx")) == (
        f"--to: unknown format 'gpx'; known are {names(WRITTEN)}"
    )
    assert failure(lambda: write_contents(fleet, Order(out))).startswith(f"{out}: its name does not say which format")
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


def test_times_and_steps_that_make_no_fleet_name_the_file(files: dict[str, Path], tmp_path: Path) -> None:
    held = read_contents(files["adsb"])
    order = Order(tmp_path / "f.json", time=0.0)
    assert failure(lambda: write_contents(held, order)).startswith(f"{files['adsb']}: at 0 s fewer than two nodes")
    bad_step = read_contents(files["ns2"], step=0.0)
    message = failure(lambda: write_contents(bad_step, Order(tmp_path / "t.csv")))
    assert message.startswith(f"{files['ns2']}: the step must be a positive number")


def test_mobility_kinds_are_told_apart_by_their_beginning(tmp_path: Path) -> None:
    quoted = TABLE.replace("time, id, x, y", '"time","id","x","y"')
    for content, kind in ((NS2, "ns2"), (BONN, "bonnmotion"), (TABLE, "table"), (quoted, "table"), (ADSB, "adsb")):
        (tmp_path / "m").write_text(content)
        assert len(read_tracks(tmp_path / "m").ids) == 2
        assert len(read_tracks(tmp_path / "m", kind).ids) == 2
    (tmp_path / "m").write_text("a;b;c\n1;2;3\n")
    assert "is no mobility file of a known kind" in failure(lambda: read_tracks(tmp_path / "m"))
    assert "unknown kind of mobility file 'gpx'" in failure(lambda: read_tracks(tmp_path / "m", "gpx"))


def test_a_fleet_may_hold_a_node_of_any_name(tmp_path: Path) -> None:
    write_fleet(Fleet([(0, 0), (1, 1)], [0, 0], ['"NetworkGraph"', "type"]), tmp_path / "fleet.json")
    assert read_contents(tmp_path / "fleet.json").topology is None


@pytest.mark.parametrize("between", ["t.graphml", "t.netjson"])
def test_a_topology_keeps_the_radio_that_it_was_written_for(between: str, tmp_path: Path) -> None:
    write_topology(TOPOLOGY, tmp_path / "t.json", FLEET, Radio(sigma2=0.9, unit=2000.0))
    write_contents(read_contents(tmp_path / "t.json"), Order(tmp_path / between))
    write_contents(read_contents(tmp_path / between), Order(tmp_path / "back.json"))
    assert (tmp_path / "back.json").read_text() == (tmp_path / "t.json").read_text()
    # Another one can be asked for.
    write_contents(read_contents(tmp_path / "t.json"), Order(tmp_path / "other.json", radio=Radio()))
    assert '"radio_sigma2": 0.45' in (tmp_path / "other.json").read_text()


def test_the_documentation_has_the_table_of_formats() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    assert f"\n\n{markdown_table()}\n" in page
    for one in FORMATS:
        assert f"\n## {one.title.split(',')[0]}\n" in page
