"""Blocked azimuths in files: both conventions, every format that keeps them, and what is wrong named."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, Topology
from manetdiff.errors import FormatError
from manetdiff.fleet.azimuths import width_of
from manetdiff.formats import read_fleet, read_topology, read_tracks, write_fleet, write_topology, write_track_table
from manetdiff.formats.blocked import arcs_in, degrees_text, radians_text
from manetdiff.formats.conversion import Order, left_out, read_contents, target_of
from manetdiff.formats.record import Record
from manetdiff.radio import Radio
from support.pairs import linkable
from support.strategies import assert_same, assert_same_on_earth

METRES = [{"id": "a", "x": 0, "y": 0, "yaw": 0}, {"id": "b", "x": 0, "y": 9, "yaw": 0}]
DEGREES = [{"id": "a", "lat": 48, "lon": 11, "heading": 0}, {"id": "b", "lat": 48, "lon": 11.1, "heading": 0}]
# To the right of a node that heads east is the south; there a mast is in the way. Behind it is another one.
MASTS = (((4.5, 5.0), (3.0, 3.3)), ())
NO_PAIRS = ["30", "30:", "30:60;", "a:b", "30:nan", "1:2:3", "30-60"]


def fleet_file(folder: Path, nodes: list[dict[str, Any]], blocked: object) -> Path:
    path = folder / "fleet.json"
    path.write_text(json.dumps({"nodes": [{**nodes[0], "blocked": blocked}, nodes[1]]}))
    return path


def table_file(folder: Path, nodes: list[dict[str, Any]], blocked: str) -> Path:
    path = folder / "fleet.csv"
    lines = [[*nodes[0], "blocked"], [*nodes[0].values(), blocked], [*nodes[1].values(), ""]]
    path.write_text("\n".join(",".join(str(cell) for cell in line) for line in lines))
    return path


def linked(fleet: Fleet) -> bool:
    return bool(linkable(fleet, Radio(range=3.0))[0, 1])


def test_beside_metres_they_are_radians_to_the_left(tmp_path: Path) -> None:
    # Node b stands north of a, which heads east: b is at π/2 to its left.
    fleet = read_fleet(fleet_file(tmp_path, METRES, [[1.5, 1.6], [3, 3.5]]))
    assert fleet.blocked == (((1.5, 1.6), (3.0, 3.5)), ())
    assert not linked(fleet)
    assert linked(read_fleet(fleet_file(tmp_path, METRES, [[-1.6, -1.5]])))
    assert_same(read_fleet(table_file(tmp_path, METRES, "1.5:1.6;3:3.5")), fleet)


def test_beside_degrees_they_are_degrees_to_the_right(tmp_path: Path) -> None:
    # Node b stands east of a, which heads north: b is at 90° to its right.
    fleet = read_fleet(fleet_file(tmp_path, DEGREES, [[80, 100]]))
    assert np.allclose(np.degrees((fleet.blocked or ())[0]), [[-100, -80]])
    assert not linked(fleet)
    assert linked(read_fleet(fleet_file(tmp_path, DEGREES, [[260, 280]])))
    assert not linked(read_fleet(fleet_file(tmp_path, DEGREES, [[350, 91]])))
    assert linked(read_fleet(fleet_file(tmp_path, DEGREES, [[91, 350]])))
    assert not linked(read_fleet(fleet_file(tmp_path, DEGREES, [[0, 360]])))
    assert_same(read_fleet(table_file(tmp_path, DEGREES, "80:100")), fleet)


def test_a_file_without_them_is_a_fleet_without_them(tmp_path: Path) -> None:
    assert read_fleet(fleet_file(tmp_path, METRES, [])).blocked is None
    assert read_fleet(table_file(tmp_path, METRES, "")).blocked is None
    write_fleet(read_fleet(fleet_file(tmp_path, METRES, [])), tmp_path / "none.json")
    write_fleet(read_fleet(fleet_file(tmp_path, METRES, [])), tmp_path / "none.csv")
    assert "blocked" not in (tmp_path / "none.json").read_text() + (tmp_path / "none.csv").read_text()


@pytest.mark.parametrize("nodes", [METRES, DEGREES], ids=["metres", "degrees"])
def test_files_keep_them(tmp_path: Path, nodes: list[dict[str, Any]]) -> None:
    fleet = read_fleet(fleet_file(tmp_path, nodes, [[0.5, 1.0], [6, 0.25]]))
    write_fleet(fleet, tmp_path / "back.json")
    assert_same(read_fleet(tmp_path / "back.json"), fleet)
    write_fleet(fleet, tmp_path / "back.csv")
    (assert_same if fleet.frame is None else assert_same_on_earth)(read_fleet(tmp_path / "back.csv"), fleet)
    write_topology(Topology([(0, 1)], [0, 1]), fleet, None, tmp_path / "topology.json")
    assert_same(read_topology(tmp_path / "topology.json")[0], fleet)
    properties = [node["properties"] for node in json.loads((tmp_path / "topology.json").read_text())["nodes"]]
    assert isinstance(properties[0]["blocked"], str) and "blocked" not in properties[1]


def test_degrees_are_written_as_they_were_read(tmp_path: Path) -> None:
    write_fleet(read_fleet(table_file(tmp_path, DEGREES, "30:60;350:10.5;0:360")), tmp_path / "back.csv")
    assert (tmp_path / "back.csv").read_text().splitlines()[1].endswith(",30:60;350:10.5;0:360")


def test_a_table_over_time_keeps_them_though_nodes_come_and_go(tmp_path: Path) -> None:
    first = Fleet([[0, 0], [0, 9], [9, 9]], [0, 0, 0], ["a", "b", "c"], blocked=[*MASTS, []])
    moved = first.replace(first.positions + 1.0)
    path = tmp_path / "table.csv"
    write_track_table([(0.0, first), (1.0, moved), (2.0, first.part([1, 2]))], path)
    tracks = read_tracks(path)
    assert_same(tracks.at(1.0), moved)
    assert tracks.at(2.0).blocked is None
    lines = path.read_text().splitlines()
    once = "\n".join([*lines[:2], *(line.rpartition(",")[0] for line in lines[2:])])
    path.write_text(once)
    assert_same(read_tracks(path).at(1.0), moved)
    path.write_text(once.replace(lines[4].rpartition(",")[0], f"{lines[4].rpartition(',')[0]},1:2"))
    with pytest.raises(FormatError, match=r"table.csv: row 4: field 'blocked' differs .* node 'a'"):
        read_tracks(path)


def test_formats_that_cannot_keep_them_say_so(tmp_path: Path) -> None:
    held = read_contents(fleet_file(tmp_path, DEGREES, [[30, 60]]))
    for name, lost in (("map.geojson", True), ("f.json", False), ("f.csv", False), ("e.eel", True)):
        order = Order(tmp_path / name)
        assert ("blocked azimuths" in left_out(held, order, target_of(held, order))) is lost


def test_reports_of_aircraft_do_not_use_them_and_say_so(tmp_path: Path) -> None:
    path = tmp_path / "adsb.csv"
    rows = [f"{t},{node},48.{node},11.{t},30:60" for t in range(3) for node in ("1", "2")]
    path.write_text("\n".join(["timestamp,icao24,latitude,longitude,blocked", *rows]))
    with pytest.warns(UserWarning, match='columns that are not used: "blocked"'):
        assert read_tracks(path).at(0.0).blocked is None


@pytest.mark.parametrize("value", [5, None, True, {}, [1, 2], [[1]], [[1, None]], [[1, "2"]], *NO_PAIRS])
def test_what_is_no_list_of_pairs_is_named(tmp_path: Path, value: object) -> None:
    path = fleet_file(tmp_path, METRES, value)
    with pytest.raises(FormatError) as caught:
        read_fleet(path)
    assert str(caught.value).startswith(f"{path}: node 'a': field 'blocked' must be pairs of finite numbers, ")


@pytest.mark.parametrize(
    ("nodes", "cell", "problem"),
    [
        (METRES, "30:60", "is beyond two full turns (30:60): it is in radians beside x, y, yaw"),
        (DEGREES, "0:721", "is beyond two full turns (0:721): it is in degrees beside lat, lon, heading"),
        (METRES, "1:1", "ends where it begins (1:1): a whole turn is 0:6.2832"),
        (DEGREES, "90:90", "ends where it begins (90:90): a whole turn is 0:360"),
        (DEGREES, "30-60", 'must be pairs of finite numbers, [[30, 60], …] or 30:60;…, not "30-60"'),
    ],
)
def test_azimuths_that_make_no_sense_are_named(
    tmp_path: Path, nodes: list[dict[str, Any]], cell: str, problem: str
) -> None:
    path = table_file(tmp_path, nodes, cell)
    with pytest.raises(FormatError) as caught:
        read_fleet(path)
    assert str(caught.value) == f"{path}: node 'a': field 'blocked' {problem}"


@given(st.tuples(st.floats(-12.5, 12.5), st.floats(-12.5, 12.5)).filter(lambda arc: arc[0] != arc[1]))
def test_any_arc_is_written_and_read_in_both_conventions(arc: tuple[float, float]) -> None:
    assert arcs_in(Record("f", "node", {"blocked": radians_text([arc])}), local=True) == (arc,)
    (back,) = arcs_in(Record("f", "node", {"blocked": degrees_text([arc])}), local=False)
    assert np.isclose(width_of(back), width_of(arc), atol=1e-10)
    if width_of(arc) < 2 * math.pi:  # a whole turn may begin anywhere
        assert math.cos(back[0] - arc[0]) > 1 - 1e-12
