"""Heights in files: read where a file has them, written where a format can hold them, and never half known."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manetdiff import Fleet, Layout, Radio, Topology, displacement
from manetdiff.errors import FormatError
from manetdiff.fleet import Track, Tracks
from manetdiff.formats import read_fleet, read_topology, read_tracks, write_fleet, write_topology
from manetdiff.formats.bonnmotion import tracks_in as bonnmotion_in
from manetdiff.formats.conversion import Order, read_contents, write_contents
from manetdiff.formats.files import Source
from manetdiff.formats.graph_libraries import from_networkx, to_networkx
from manetdiff.formats.ns2 import ns2_text
from manetdiff.formats.ns2 import tracks_in as ns2_in
from support.strategies import assert_same, assert_same_on_earth

HIGH = Fleet([(0, 0, 100), (3000, 0, 4100), (0, 2000, 50.5)], [0.5, -1.0, 3.0], ["a", "b", "c"])
ON_EARTH = Fleet.from_geodetic(
    [48.0, 48.01, 48.02], [11.0, 11.01, 11.0], [90, 10, 200], ["a", "b", "c"], [50, 900, 9e3]
)
TOPOLOGY = Topology([(0, 1), (1, 2)], [0, 1, 0])

METRES = [{"id": "a", "x": 0, "y": 0, "yaw": 0}, {"id": "b", "x": 3000, "y": 0, "yaw": 0}]
DEGREES = [{"id": "a", "lat": 48.0, "lon": 11.0, "heading": 0}, {"id": "b", "lat": 48.1, "lon": 11.0, "heading": 0}]


def fleet_file(folder: Path, nodes: list[dict[str, Any]], heights: list[dict[str, Any]]) -> Path:
    path = folder / "fleet.json"
    path.write_text(json.dumps({"nodes": [{**node, **more} for node, more in zip(nodes, heights, strict=True)]}))
    return path


@pytest.mark.parametrize("nodes", [METRES, DEGREES], ids=["metres", "degrees"])
@pytest.mark.parametrize("field", ["z", "alt"])
def test_a_height_is_read_beside_metres_and_degrees(tmp_path: Path, nodes: list[dict[str, Any]], field: str) -> None:
    path = fleet_file(tmp_path, nodes, [{field: 12}, {field: -4.5}])
    assert read_fleet(path).heights.tolist() == [12, -4.5]
    table = tmp_path / "fleet.csv"
    lines = [[*nodes[0], field], *([*node.values(), height] for node, height in zip(nodes, (12, -4.5), strict=True))]
    table.write_text("\n".join(",".join(str(cell) for cell in line) for line in lines))
    assert_same(read_fleet(table), read_fleet(path))


def test_without_a_height_a_fleet_is_flat(tmp_path: Path) -> None:
    assert not read_fleet(fleet_file(tmp_path, METRES, [{}, {}])).has_heights


@pytest.mark.parametrize(
    ("heights", "problem"),
    [
        (
            [{"alt": 1}, {}],
            "node 'b': field 'alt' is missing, which other nodes have: give all nodes a height, or none",
        ),
        ([{}, {"z": 1}], "node 'a': field 'z' is missing, which other nodes have"),
        ([{"z": 1}, {"z": "high"}], "node 'b': field 'z' is not a number"),
        ([{"alt": None}, {"alt": 1}], "node 'a': field 'alt' is not a number (null)"),
    ],
)
def test_a_height_that_is_not_there_is_named(tmp_path: Path, heights: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_fleet(fleet_file(tmp_path, METRES, heights))
    assert problem in str(caught.value)


@pytest.mark.parametrize("fleet", [HIGH, ON_EARTH], ids=["metres", "on earth"])
def test_files_of_fleets_and_topologies_keep_heights(tmp_path: Path, fleet: Fleet) -> None:
    write_fleet(fleet, tmp_path / "f.json")
    assert_same(read_fleet(tmp_path / "f.json"), fleet)
    write_fleet(fleet, tmp_path / "f.csv")
    (assert_same if fleet.frame is None else assert_same_on_earth)(read_fleet(tmp_path / "f.csv"), fleet)
    write_topology(TOPOLOGY, fleet, None, tmp_path / "t.json")
    assert_same(read_topology(tmp_path / "t.json")[0], fleet)
    properties = [node["properties"] for node in json.loads((tmp_path / "t.json").read_text())["nodes"]]
    assert [one["z"] for one in properties] == fleet.heights.tolist()
    if fleet.frame is not None:
        assert [one["alt"] for one in properties] == fleet.heights.tolist()


def test_the_distance_in_a_topology_file_is_that_in_space(tmp_path: Path) -> None:
    write_topology(TOPOLOGY, HIGH, Radio(unit=1000.0, range=20.0), tmp_path / "t.json")
    first, _ = json.loads((tmp_path / "t.json").read_text())["links"]
    assert first["properties"]["distance"] == pytest.approx(5000)


def test_graphs_of_networkx_keep_heights() -> None:
    pytest.importorskip("networkx")
    graph = to_networkx(TOPOLOGY, HIGH)
    assert [graph.nodes[name]["z"] for name in HIGH.ids] == [100, 4100, 50.5]
    assert_same(from_networkx(graph)[0], HIGH)


def bonnmotion(content: str) -> Tracks:
    return bonnmotion_in(Source("m.movements", content.encode()))


def ns2(content: str) -> Tracks:
    return ns2_in(Source("m.tcl", content.encode()))


@pytest.mark.parametrize("mark", ["#3D", "# 3D", "#3d", "# made by BonnMotion\n#3D", "#3D\n# of four numbers"])
def test_bonnmotion_climbs_between_waypoints(mark: str) -> None:
    tracks = bonnmotion(f"{mark}\n0 10 20 300 5 20 20 310\n1 -3.5 4.25 200 11 6.5 4.25 200\n")
    assert tracks.tracks[0].times.tolist() == [0, 5]
    assert tracks.at(2.5).positions.tolist() == [[15, 20, 305], [-2, 4.25, 200]]


FIRST = "$node_(0) set X_ 0\n$node_(0) set Y_ 0\n$node_(1) set X_ 900\n$node_(1) set Y_ 900\n"


def test_a_node_of_ns2_flies_level_at_its_height_until_it_jumps() -> None:
    moves = '$ns_ at 0 "$node_(0) setdest 100 0 10"\n$ns_ at 4 "$node_(0) set Z_ 70"\n'
    tracks = ns2(FIRST + "$node_(0) set Z_ 50\n" + moves)
    assert tracks.tracks[0].place_at(2).tolist() == [20, 0, 50]
    assert tracks.tracks[0].place_at(9).tolist() == [40, 0, 70]
    assert tracks.tracks[1].place_at(9).tolist() == [900, 900, 0]  # as ns-2 has it where a file does not say
    assert ns2(FIRST + moves).tracks[0].place_at(9).tolist() == [40, 0, 70]


def test_a_file_of_ns2_in_which_no_node_has_a_height_is_flat() -> None:
    assert not ns2(FIRST + "$node_(0) set Z_ 0.0\n$node_(1) set Z_ 0\n").at(0).has_heights


def test_what_is_written_for_ns2_begins_at_its_height_and_never_climbs() -> None:
    climbing = Track("0", np.array([0.0, 10]), np.array([[0, 0, 100], [30, 40, 600.0]]))
    level = Track("1", np.array([0.0]), np.array([[9, 9, 250.0]]))
    text = ns2_text(Tracks((climbing, level)))
    assert "$node_(0) set Z_ 100.0" in text and "$node_(1) set Z_ 250.0" in text
    assert '"$node_(0) setdest 30.0 40.0 5.0"' in text  # at its speed over ground, in eight words
    assert {len(line.split()) for line in text.splitlines()} == {4, 8}
    assert ns2(text).tracks[0].place_at(5).tolist() == [15, 20, 100]


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_heights_go_through_conversion_at_a_time(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "m.movements").write_text("#3D\n0 10 20 300 5 20 20 310\n0 -3.5 4.25 200 10 6.5 4.25 200\n")
    out = tmp_path / f"out{suffix}"
    write_contents(read_contents(tmp_path / "m.movements"), Order(out, time=2.5))
    assert read_fleet(out).heights.tolist() == [305, 200]


def test_a_table_over_time_keeps_heights(tmp_path: Path) -> None:
    (tmp_path / "m.movements").write_text("#3D\n0 10 20 300 5 20 20 310\n0 -3.5 4.25 200 5 6.5 4.25 200\n")
    write_contents(read_contents(tmp_path / "m.movements"), Order(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").read_text().startswith("time,id,x,y,z,yaw\n")
    assert read_tracks(tmp_path / "out.csv").at(2.5).heights.tolist() == [305, 200]


def test_fleets_of_which_one_knows_no_heights_are_compared_over_ground() -> None:
    flat = Fleet(HIGH.horizontal, HIGH.yaw, HIGH.ids)
    moved = HIGH.replace(HIGH.positions + np.array([(10, 0, 0), (0, 0, 0), (0, 0, 0)]))
    flat_moved = Fleet(moved.horizontal, moved.yaw, moved.ids)
    assert displacement(flat, moved) == displacement(HIGH, flat_moved) == displacement(flat, flat_moved) > 0


def test_a_pair_at_different_heights_has_the_rate_of_its_slant_distance(tmp_path: Path) -> None:
    """Friis in closed form: 2.2 km apart on the ground, 3 km apart in height."""
    radio = Radio.from_link_budget(frequency=5e9, bandwidth=20e6, power=2.0, gain=18.0, noise_figure=5.0)
    path = fleet_file(tmp_path, METRES, [{"alt": 1000}, {"alt": 4000, "x": 2200}])
    topology = Topology([(0, 1)], [0, 1], layout=Layout(read_fleet(path), radio))
    write_topology(topology, None, None, tmp_path / "t.json")
    (link,) = json.loads((tmp_path / "t.json").read_text())["links"]
    slant = math.hypot(2200, 3000)
    wavelength = 299_792_458 / 5e9
    received = 2.0 * 10 ** (2 * 18.0 / 10) * (wavelength / (4 * math.pi * slant)) ** 2
    noise = 1.380649e-23 * 290 * 20e6 * 10**0.5
    assert link["properties"]["distance"] == pytest.approx(slant)
    assert link["properties"]["rate_forward"] == pytest.approx(20 * math.log2(1 + received / noise), rel=1e-3)
