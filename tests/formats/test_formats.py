"""Files: what is written is read back to the last bit, and whatever else stands in a file is one clear line."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology
from manetdiff.errors import FormatError
from manetdiff.formats import read_fleet, read_radio, read_topology, write_fleet, write_topology
from manetdiff.formats.netjson import network_graph
from support.strategies import assert_same, placed_fleets, topologies

SANE = st.floats(-1e6, 1e6, allow_nan=False)
NODES = [{"id": "A1", "x": 0.0, "y": 0.0, "yaw": 0.5}, {"id": "A7", "x": 100.0, "y": 50.0, "yaw": -1.0}]
PLACES = [{"id": "A1", "lat": 48.1, "lon": 11.5, "heading": 90}, {"id": "A7", "lat": 48.2, "lon": 11.6, "heading": 0}]


@given(placed_fleets(st.text(min_size=1)).flatmap(lambda fleet: st.tuples(st.just(fleet), topologies(len(fleet)))))
def test_topology_files_are_netjson(solved: tuple[Fleet, Topology]) -> None:
    fleet, topology = solved
    document = json.loads(json.dumps(network_graph(topology, fleet), allow_nan=False))
    assert document["type"] == "NetworkGraph"
    assert {"protocol", "version", "metric", "nodes", "links"} <= set(document)
    for node in document["nodes"]:
        assert isinstance(node["id"], str)
    for link in document["links"]:
        assert isinstance(link["cost"], float)
        assert 0 < link["cost"] <= 1e9
        rate = link["properties"]["rate_forward"] + link["properties"]["rate_backward"]
        if rate > 1e-6:
            assert math.isclose(link["cost"] * rate, 1.0)
    for thing in [document, *document["nodes"], *document["links"]]:
        assert all(isinstance(value, str | int | float) for value in thing["properties"].values())


def test_degrees_beside_metres_say_the_same(tmp_path: Path) -> None:
    fleet = Fleet.from_geodetic([48.1, 48.2, 48.0], [11.5, 11.6, 11.4], [90.0, 10.0, 350.0], ["a", "b", "c"])
    write_topology(Topology([(0, 1), (1, 2)], [0, 1, 0]), fleet, None, tmp_path / "t.json")
    properties = [node["properties"] for node in json.loads((tmp_path / "t.json").read_text())["nodes"]]
    assert np.allclose([node["lat"] for node in properties], [48.1, 48.2, 48.0])
    assert np.allclose([node["lon"] for node in properties], [11.5, 11.6, 11.4])
    assert np.allclose([node["heading"] for node in properties], [90.0, 10.0, 350.0])


def test_csv_and_json_agree(tmp_path: Path) -> None:
    for nodes in (NODES, PLACES, [{**node, "id": place} for place, node in enumerate(NODES)]):
        (tmp_path / "f.json").write_text(json.dumps({"nodes": nodes}))
        lines = [", ".join(nodes[0]), *(",".join(str(value) for value in node.values()) for node in nodes)]
        (tmp_path / "f.csv").write_text("\ufeff" + "\r\n".join(lines) + "\r\n\r\n", encoding="utf-8")
        assert_same(read_fleet(tmp_path / "f.csv"), read_fleet(tmp_path / "f.json"))
        assert read_fleet(tmp_path / "f.json").ids == tuple(str(node["id"]) for node in nodes)


def changed(field: str, value: object) -> str:
    return json.dumps({"nodes": [NODES[0], {**NODES[1], field: value}]})


def without(field: str) -> str:
    return json.dumps({"nodes": [NODES[0], {name: value for name, value in NODES[1].items() if name != field}]})


BAD_FLEETS = {
    "missing field": (without("yaw"), "node 'A7': field 'yaw' is missing"),
    "missing id": (without("id"), "node number 2: field 'id' is missing"),
    "text": (changed("yaw", "north"), "node 'A7': field 'yaw' is not a number (\"north\")"),
    "null": (changed("x", None), "node 'A7': field 'x' is not a number (null)"),
    "boolean": (changed("x", True), "node 'A7': field 'x' is not a number (true)"),
    "list": (changed("x", [1]), "node 'A7': field 'x' is not a number (a list)"),
    "NaN": (changed("yaw", math.nan), "node 'A7': field 'yaw' is not a finite number (NaN)"),
    "infinity": (changed("y", math.inf), "node 'A7': field 'y' is not a finite number (Infinity)"),
    "huge": (changed("y", 10**400), "node 'A7': field 'y' is not a finite number"),
    "too many digits": ('{"nodes": [' + "1" * 5000 + "]}", "digits"),
    "boolean id": (changed("id", True), "node number 2: field 'id' must be text, not true"),
    "empty id": (changed("id", ""), "node number 2: field 'id' is empty"),
    "same id": (changed("id", "A1"), "node 'A1': field 'id' stands twice"),
    "mixed": (json.dumps({"nodes": [NODES[0], PLACES[1]]}), "node 'A7': field 'lat' does not go with"),
    "both": (json.dumps({"nodes": [NODES[0], {**NODES[1], **PLACES[1]}]}), "field 'lat' stands next to 'x'"),
    "latitude": (json.dumps({"nodes": [{**PLACES[0], "lat": 91}]}), "node 'A1': field 'lat' is outside -90"),
    "same place": (json.dumps({"nodes": [NODES[0], {**NODES[0], "id": "B"}]}), "'A1' and 'B' are at the same"),
    "one node": (json.dumps({"nodes": NODES[:1]}), "at least two nodes"),
    "no nodes": ('{"nodes": []}', "holds no nodes"),
    "no node list": ("{}", "field 'nodes' is missing"),
    "nodes no list": ('{"nodes": {"id": 1}}', "field 'nodes' must be a list, not an object"),
    "node no object": ('{"nodes": [3]}', "node number 1: must be an object {…}, not 3"),
    "list on top": ("[1, 2]", "must hold a JSON object {…}, not a list"),
    "text on top": ('"fleet"', 'must hold a JSON object {…}, not "fleet"'),
    "not JSON": ('{"nodes": [', "is not JSON: Expecting value (line 1, column 12)"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "other type": ('{"type": "NetworkRoutes", "nodes": []}', "field 'type' must be \"NetworkGraph\""),
    "only commas": (",,,\n,,,\n", "the first line must name the columns"),
    "no header": ("A1,0,0,0\nA7,1,1,0\n", "the first line must name the columns id, x, y, yaw or id, lat, lon"),
    "header only": ("id,x,y,yaw\n", "holds no nodes"),
    "empty cell": ("id,x,y,yaw\nA1,0,0,0\nA7,1,1,\n", "node 'A7': field 'yaw' is missing"),
    "short row": ("id,x,y,yaw\nA1,0,0,0\nA7,1,1\n", "node 'A7': field 'yaw' is missing"),
    "long row": ("id,x,y,yaw\nA1,0,0,0\nA7,1,1,0,9\n", "node number 2: has 5 cells under 4 columns"),
    "bad cell": ("id,x,y,yaw\nA1,0,0,0\nA7,1,east,0\n", "node 'A7': field 'y' is not a number (\"east\")"),
    "underscore": ("id,x,y,yaw\nA1,0,0,0\nA7,1,1_0,0\n", "node 'A7': field 'y' is not a number (\"1_0\")"),
    "nan cell": ("id,x,y,yaw\nA1,0,0,0\nA7,1,1,nan\n", "node 'A7': field 'yaw' is not a finite number (NaN)"),
    "column twice": ("id,x,x,y,yaw\n", 'the column "x" stands twice'),
    "wide cell": ("id,x,y,yaw\nA1," + "0" * 200_000 + ",0,0\n", "is not CSV"),
}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write everything")
def test_permissions_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text("{}")
    path.chmod(0)
    with pytest.raises(FormatError, match="cannot be read"):
        read_fleet(path)
    tmp_path.chmod(0o500)
    with pytest.raises(FormatError, match="permission denied"):
        write_fleet(Fleet([(0, 0), (1, 1)], [0, 0]), tmp_path / "new.json")
    tmp_path.chmod(0o700)


def graph(**changes: object) -> str:
    return json.dumps({"type": "NetworkGraph", "nodes": nodes_of({"parity": 0}), "links": [], **changes})


def nodes_of(more: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": node["id"], "properties": {**node, **more}} for node in NODES]


BAD_TOPOLOGIES = {
    "no type": ("{}", "field 'type' is missing"),
    "no links": (graph(links=None), "field 'links' must be a list, not null"),
    "link no object": (graph(links=[1]), "link number 1: must be an object"),
    "no source": (graph(links=[{"target": "A7"}]), "link number 1: field 'source' is missing"),
    "unknown node": (graph(links=[{"source": "A1", "target": "B"}]), "field 'target' names a node that is not there"),
    "self link": (graph(links=[{"source": "A1", "target": "A1"}]), "field 'target' is the source itself"),
    "twice": (
        graph(links=[{"source": "A1", "target": "A7"}, {"source": "A7", "target": "A1"}]),
        "link number 2: field 'target' repeats a link",
    ),
    "no properties": (graph(nodes=[{"id": "A1"}]), "node 'A1': field 'properties' is missing"),
    "no parity": (graph(nodes=nodes_of({})), "node 'A1': field 'parity' is missing"),
    "parity 2": (graph(nodes=nodes_of({"parity": 2})), "node 'A1': field 'parity' must be 0 or 1, not 2"),
    "half a frame": (graph(properties={"frame_lat": 1}), "its properties: field 'frame_lon' is missing"),
}


BAD_RADIOS = {
    "unknown": ('{"rnage": 1}', "unknown parameter 'rnage'"),
    "negative": ('{"range": -1}', "range must be"),
    "huge number": ('{"range": 1' + "0" * 400 + "}", "must be a number"),
    "a list": ("[]", "must hold a JSON object"),
}
BAD = {
    **{case: (read_fleet, *told) for case, told in BAD_FLEETS.items()},
    **{case: (read_topology, *told) for case, told in BAD_TOPOLOGIES.items()},
    **{case: (read_radio, *told) for case, told in BAD_RADIOS.items()},
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_with_a_file_is_one_line_that_names_it(tmp_path: Path, case: str) -> None:
    read, content, expected = BAD[case]
    path = tmp_path / ("f.json" if content[0] in '{["' else "f.csv")
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert expected in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 200


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(["id", "x", "y", "yaw", "lat", "lon", "heading", "properties", "parity", "source", "target"])
NEAR_FLEETS = st.fixed_dictionaries(
    {"nodes": st.lists(st.dictionaries(FIELDS, SANE | JSON, max_size=8) | JSON, max_size=4) | JSON},
    optional={"type": st.just("NetworkGraph") | JSON, "links": JSON, "frame": JSON, "properties": JSON},
)
CONTENT = (
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | (JSON | NEAR_FLEETS).map(lambda value: json.dumps(value).encode())
    | st.text(max_size=80).map(lambda text: ("id,x,y,yaw\n" + text).encode("utf-8", "replace"))
)


@settings(max_examples=250)
@given(CONTENT, st.sampled_from(["f.json", "f.csv", "f"]))
def test_no_file_raises_anything_but_a_format_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(content)
    for read in (read_fleet, read_topology, read_radio):
        try:
            read(path)
        except FormatError as error:
            assert "\n" not in str(error)
            assert "\r" not in str(error)


def test_a_radio_file_holds_what_is_not_the_default(tmp_path: Path) -> None:
    (tmp_path / "radio.json").write_text('{"range": 3.5, "sectors": 6}')
    assert read_radio(tmp_path / "radio.json") == Radio(range=3.5, sectors=6)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.json"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(FormatError, match=r"f\.json: cannot be written: No space left"):
        write_fleet(Fleet([(0, 0), (1, 1)], [0, 0]), path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["f.json"]
    assert path.read_text() == "old"


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    fleet = Fleet([(0, 0), (1, 1)], [0, 0])
    (tmp_path / "file").write_text("")
    for path, expected in (
        (tmp_path, "it is a folder"),
        (tmp_path / "nowhere" / "f.json", "does not exist"),
        (tmp_path / "file" / "f.json", "does not exist"),
        (tmp_path / "a\0b", "null byte"),
    ):
        with pytest.raises(FormatError, match=expected):
            write_fleet(fleet, path)


def test_links_are_followed(tmp_path: Path) -> None:
    fleet = Fleet([(0, 0), (1, 1)], [0, 0])
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_fleet(fleet, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert_same(read_fleet(tmp_path / "real.json"), fleet)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_what_is_no_plain_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    # A pipe of our own, not /dev/null: code that fails here, run by root, would replace that for the whole machine.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_fleet(Fleet([(0, 0), (1, 1)], [0, 0]), pipe)
        assert pipe.is_fifo()
        assert len(json.loads(os.read(reader, 10_000))["nodes"]) == 2
    finally:
        os.close(reader)


def test_degrees_taken_for_radians_are_doubted(tmp_path: Path) -> None:
    path = tmp_path / "fleet.csv"
    path.write_text("id,x,y,yaw\nA,0,0,0\nB,1,1,90\n")
    with pytest.warns(UserWarning, match=r"fleet\.csv: node 'B': yaw 90 .* radians"):
        read_fleet(path)
