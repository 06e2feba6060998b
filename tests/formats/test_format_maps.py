"""GeoJSON and KML: nodes and links where they are, at their heights, across the antimeridian and a pole, over time."""

from __future__ import annotations

import json
import math
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import FormatError
from manetdiff.fleet import LocalFrame
from manetdiff.formats.conversion import Order, read_contents, write_contents
from manetdiff.formats.geojson import geojson, write_geojson
from manetdiff.formats.kml import kml_text, write_kml
from manetdiff.formats.map_lines import map_line
from manetdiff.formats.netjson import network_graph
from support.strategies import topologies

etree: Any = pytest.importorskip("lxml.etree")

FLEET = Fleet.from_geodetic([48.0, 48.01, 48.02], [11.0, 11.01, 11.0], [90, 10, 200], "abc", [50, 900, 9000.5])
FLAT = Fleet(FLEET.horizontal, FLEET.yaw, FLEET.ids, FLEET.frame)
TOPOLOGY = Topology([(0, 1), (1, 2)], [0, 1, 0])
SPACES = {"kml": "http://www.opengis.net/kml/2.2", "gx": "http://www.google.com/kml/ext/2.2"}


def features(document: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    assert document["type"] == "FeatureCollection"
    return [one for one in document["features"] if one["geometry"]["type"].endswith(kind)]


def parsed(text: str) -> Any:
    return etree.fromstring(text.encode())


def found(root: Any, path: str) -> list[Any]:
    result: list[Any] = root.xpath(path, namespaces=SPACES)
    return result


# GeoJSON.


def test_nodes_are_points_and_links_are_lines_that_end_at_them() -> None:
    document = json.loads(json.dumps(geojson(TOPOLOGY, FLEET)))
    points, lines = features(document, "Point"), features(document, "LineString")
    assert [one["properties"]["id"] for one in points] == [one["id"] for one in points] == ["a", "b", "c"]
    assert [one["properties"]["parity"] for one in points] == [0, 1, 0]
    assert [one["properties"]["heading"] for one in points] == pytest.approx([90, 10, 200])
    places = {one["id"]: one["geometry"]["coordinates"] for one in points}
    assert places["b"] == pytest.approx([11.01, 48.01, 900])
    assert [one["geometry"]["coordinates"] for one in lines] == [
        [places["a"], places["b"]],
        [places["b"], places["c"]],
    ]
    graph = network_graph(TOPOLOGY, FLEET)
    for line, link in zip(lines, graph["links"], strict=True):
        ends = {"source": link["source"], "target": link["target"]}
        assert line["properties"] == {**ends, **link["properties"]}


def test_a_flat_fleet_has_two_coordinates_and_a_fleet_alone_has_points_only() -> None:
    document = geojson(None, FLAT)
    assert len(document["features"]) == 3
    assert all(len(one["geometry"]["coordinates"]) == 2 for one in document["features"])
    assert "parity" not in document["features"][0]["properties"]


def test_rates_are_those_of_the_radio_that_is_asked_for(tmp_path: Path) -> None:
    radio = Radio(unit=500.0)
    write_geojson(TOPOLOGY, FLEET, radio, tmp_path / "t.geojson")
    document = json.loads((tmp_path / "t.geojson").read_text())
    expected = [link["properties"]["rate_forward"] for link in network_graph(TOPOLOGY, FLEET, radio)["links"]]
    assert [one["properties"]["rate_forward"] for one in features(document, "LineString")] == expected


def line_between(
    one: tuple[float, float], other: tuple[float, float], heights: tuple[float, float] | None = None
) -> list[list[list[float]]]:
    """The parts of a link between two places (latitude, longitude)."""
    latitude, longitude = zip(one, other, strict=True)
    return map_line(Fleet.from_geodetic(latitude, longitude, [0, 0], altitude=heights), 0, 1)


def test_a_link_across_the_antimeridian_is_cut_there() -> None:
    west, east = line_between((10, 179.9), (10, -179.7), (100, 500))
    assert west[0] == pytest.approx([179.9, 10, 100], abs=1e-6)
    assert west[-1] == pytest.approx([180, 10, 200], abs=1e-4)
    assert east[0] == pytest.approx([-180, 10, 200], abs=1e-4)
    assert east[-1] == pytest.approx([-179.7, 10, 500], abs=1e-6)
    east, west = line_between((10, -179.9), (10.5, 179.9))
    assert (east[-1][0], west[0][0]) == (-180, 180)
    assert east[-1][1] == west[0][1] == pytest.approx(10.25, abs=1e-3)


@pytest.mark.parametrize(
    ("one", "other"), [((0, 180), (0, -179.9)), ((0, 180), (0, 179.9)), ((0, 180), (1, 180)), ((0, 11), (1, 12))]
)
def test_a_link_that_only_touches_it_is_in_one_part(one: tuple[float, float], other: tuple[float, float]) -> None:
    (part,) = line_between(one, other)
    assert abs(part[0][0] - part[-1][0]) <= 1.0
    assert all(-180 <= place[0] <= 180 for place in part)


def test_a_link_past_a_pole_bends_on_the_map_and_not_on_earth() -> None:
    ends = ((89.5, 10.0), (89.5, 130.0))
    (part,) = line_between(*ends)
    longitude, latitude = np.array(part).T
    assert np.abs(np.diff(longitude)).max() < 15
    frame = LocalFrame.around(np.array([89.5, 89.5]), np.array([10.0, 130.0]))
    x, y = (frame.to_xy(latitude, longitude) - frame.to_xy(latitude[:1], longitude[:1])).T
    aside = (x[-1] * y - y[-1] * x) / math.hypot(x[-1], y[-1])  # metres from the straight line between the ends
    assert aside == pytest.approx(0, abs=0.05)
    assert latitude.max() == pytest.approx(90 - 0.5 * math.cos(math.radians(60)), abs=1e-3)


@given(st.data(), st.floats(-89.9, 89.9), st.floats(-180, 180), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_lines_stay_on_the_map_and_end_where_their_nodes_are(
    data: st.DataObject, lat: float, lon: float, n: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    fleet = Fleet(rng.normal(size=(n, 2)) * 50_000, np.zeros(n), frame=LocalFrame(lat, lon))
    topology = data.draw(topologies(n))
    document = geojson(topology, fleet)
    points = [one["geometry"]["coordinates"] for one in features(document, "Point")]
    for (one, other), line in zip(topology.links.tolist(), features(document, "LineString"), strict=True):
        parts = line["geometry"]["coordinates"]
        parts = parts if line["geometry"]["type"] == "MultiLineString" else [parts]
        for end, node in ((parts[0][0], one), (parts[-1][-1], other)):
            assert end[1] == points[node][1]
            assert math.remainder(end[0] - points[node][0], 360) == pytest.approx(0, abs=1e-6)
        for part in parts:
            longitude, latitude = np.array(part).T
            assert np.abs(longitude).max() <= 180 and np.abs(latitude).max() <= 90
        for before, after in pairwise(parts):
            assert abs(before[-1][0]) == abs(after[0][0]) == 180
            assert before[-1][0] == -after[0][0]


# KML.


def test_one_moment_is_points_and_lines_at_their_heights() -> None:
    root = parsed(kml_text([(0.0, FLEET, TOPOLOGY)]))
    points = found(root, "//kml:Placemark[kml:Point]")
    assert [found(one, "kml:name")[0].text for one in points] == ["a", "b", "c"]
    assert [found(one, "kml:styleUrl")[0].text for one in points] == ["#parity-0", "#parity-1", "#parity-0"]
    place = found(points[2], "kml:Point/kml:coordinates")[0].text
    assert [float(value) for value in place.split(",")] == pytest.approx([11.0, 48.02, 9000.5])
    lines = found(root, "//kml:Placemark[kml:LineString]")
    assert [found(one, "kml:name")[0].text for one in lines] == ["a - b", "b - c"]
    assert len(found(lines[0], "kml:LineString/kml:coordinates")[0].text.split()) == 2
    assert {one.text for one in found(root, "//kml:altitudeMode")} == {"absolute"}
    rates = found(lines[0], ".//kml:Data[@name='rate_forward']/kml:value")
    assert float(rates[0].text) == network_graph(TOPOLOGY, FLEET)["links"][0]["properties"]["rate_forward"]
    assert not found(root, "//kml:TimeSpan")
    # Every style that is used is there.
    styles = {f"#{one}" for one in found(root, "//kml:Style/@id")}
    assert {one.text for one in found(root, "//kml:styleUrl")} <= styles


def test_what_has_no_height_lies_on_the_ground() -> None:
    assert {one.text for one in found(parsed(kml_text([(0.0, FLAT, TOPOLOGY)])), "//kml:altitudeMode")} == {
        "clampToGround"
    }


def test_names_are_escaped_and_those_that_xml_cannot_hold_are_refused(tmp_path: Path) -> None:
    odd = ["<a href='x'>&amp;", "]]> \U0001f6e9"]
    fleet = Fleet([(0, 0), (1000, 0)], [0, 0], odd, LocalFrame(48, 11))
    write_kml([(0.0, fleet, Topology([(0, 1)], [0, 1]))], tmp_path / "t.kml")
    root = parsed((tmp_path / "t.kml").read_text(encoding="utf-8"))
    assert [one.text for one in found(root, "//kml:Placemark/kml:name")] == [*odd, " - ".join(odd)]
    with pytest.raises(FormatError, match=r"node 'a\\x01': KML cannot keep the control characters"):
        kml_text([(0.0, Fleet([(0, 0), (1, 1)], [0, 0], ["a\x01", "b"], LocalFrame(48, 11)), None)])


def test_a_line_across_the_antimeridian_is_in_two_parts() -> None:
    fleet = Fleet.from_geodetic([0, 0], [179.9, -179.9], [0, 0])
    (both,) = found(parsed(kml_text([(0.0, fleet, Topology([(0, 1)], [0, 1]))])), "//kml:MultiGeometry")
    assert len(found(both, "kml:LineString")) == 2


def moment(time: float, ids: str, links: list[str], parity: str) -> tuple[float, Fleet, Topology]:
    places = [(100.0 * ord(name), 10 * time, 1000 + time) for name in ids]
    fleet = Fleet(places, [0.0] * len(ids), list(ids), LocalFrame(48, 11))
    pairs = [(ids.index(link[0]), ids.index(link[1])) for link in links]
    return time, fleet, Topology(pairs, [int(bit) for bit in parity])


FLIGHT = [
    moment(0, "abc", ["ab"], "010"),
    moment(10, "abc", ["ab", "bc"], "010"),
    moment(20, "ab", ["ab"], "10"),
    moment(30, "cab", ["ca"], "010"),
]


def seconds(text: str) -> float:
    return (datetime.fromisoformat(text) - datetime.fromisoformat("2026-01-01T00:00:00Z")).total_seconds()


def test_a_flight_is_tracks_that_end_where_a_node_leaves_and_change_colour_with_its_parity() -> None:
    root = parsed(kml_text(FLIGHT))
    runs = []
    for mark in found(root, "//kml:Placemark[gx:Track]"):
        times = [seconds(one.text) for one in found(mark, "gx:Track/kml:when")]
        coordinates = [one.text.split() for one in found(mark, "gx:Track/gx:coord")]
        assert len(times) == len(coordinates) == len(found(mark, "gx:Track/gx:angles"))
        assert [float(one[2]) for one in coordinates] == pytest.approx([1000 + time for time in times])
        runs.append((found(mark, "kml:name")[0].text, found(mark, "kml:styleUrl")[0].text, times))
    assert sorted(runs) == [
        ("a", "#parity-0", [0, 10, 20]),
        ("a", "#parity-1", [20, 30]),
        ("b", "#parity-0", [20, 30]),
        ("b", "#parity-1", [0, 10, 20]),
        ("c", "#parity-0", [0, 10]),
        ("c", "#parity-0", [30]),
    ]


def test_a_link_of_a_flight_is_there_from_its_moment_to_the_next() -> None:
    root = parsed(kml_text(FLIGHT))
    lines = [
        (found(one, "kml:name")[0].text, *(seconds(end.text) for end in found(one, "kml:TimeSpan/*")))
        for one in found(root, "//kml:Placemark[kml:LineString]")
    ]
    assert lines == [("a - b", 0, 10), ("a - b", 10, 20), ("b - c", 10, 20), ("a - b", 20, 30), ("c - a", 30, 30)]


ORDER = ["name", "TimeSpan", "styleUrl", "ExtendedData", "Point", "LineString", "MultiGeometry", "Track"]


@pytest.mark.parametrize("moments", [[(0.0, FLEET, TOPOLOGY)], [(0.0, FLAT, None)], FLIGHT])
def test_parts_of_a_placemark_stand_in_the_order_that_kml_wants(moments: Any) -> None:
    for mark in found(parsed(kml_text(moments)), "//kml:Placemark"):
        places = [ORDER.index(etree.QName(child).localname) for child in mark]
        assert places == sorted(set(places))


def test_what_does_not_know_where_on_earth_it_is_is_refused() -> None:
    nowhere = Fleet([(0, 0), (1, 1)], [0, 0])
    with pytest.raises(FormatError, match="GeoJSON needs latitude and longitude: read the fleet from degrees"):
        geojson(None, nowhere)
    with pytest.raises(FormatError, match="KML needs latitude and longitude: read the fleet from degrees"):
        kml_text([(0.0, nowhere, None)])


@pytest.mark.parametrize("who", ["id", "icao24"])
@pytest.mark.parametrize(
    ("times", "first"),
    [
        (("2024-05-06T10:00:00Z", "2024-05-06T10:00:10Z"), "2024-05-06T10:00:00Z"),
        (("1714989600", "1714989610"), "2024-05-06T10:00:00Z"),
        (("0", "10"), "2026-01-01T00:00:00Z"),
    ],
)
def test_a_flight_keeps_its_dates(tmp_path: Path, who: str, times: tuple[str, str], first: str) -> None:
    rows = [f"{time},{name},{48 + k},11" for time in times for k, name in enumerate("ab")]
    (tmp_path / "flight.csv").write_text("\n".join([f"time,{who},lat,lon", *rows]))
    write_contents(read_contents(tmp_path / "flight.csv"), Order(tmp_path / "flight.kml"))
    root = parsed((tmp_path / "flight.kml").read_text(encoding="utf-8"))
    assert found(root, "//kml:when")[0].text == first
