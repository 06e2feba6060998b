"""`manetdiff convert`: it says what the target cannot hold, and nothing where it holds all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from manetdiff import Fleet, Topology
from manetdiff.formats import write_topology
from support.command_help import Run

FLEET = Fleet.from_geodetic([48.0, 48.01, 48.02], [11.0, 11.01, 11.0], [90, 10, 200], "abc", [50, 900, 9000])


@pytest.fixture(autouse=True)
def a_topology(tmp_path: Path) -> None:
    """In the folder that commands run in."""
    write_topology(Topology([(0, 1), (1, 2)], [0, 1, 0]), FLEET, None, tmp_path / "t.json")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("t.graphml", ""),
        ("t.czml", "manetdiff: CZML cannot hold all of it; left out: headings, sectors and rates, radio\n"),
        ("f.csv", "manetdiff: Fleet, CSV cannot hold all of it; left out: links, parity, sectors and rates, radio\n"),
        ("t.kml", "manetdiff: KML cannot hold all of it; left out: radio\n"),
    ],
)
def test_what_is_left_out_is_one_line(run: Run, tmp_path: Path, target: str, said: str) -> None:
    if target.endswith("graphml"):
        pytest.importorskip("networkx")
    ran = run("convert", "t.json", target)
    assert (ran.code, ran.out, ran.err) == (0, "", said)
    assert (tmp_path / target).stat().st_size > 0


def test_as_json_it_is_a_list_and_a_file_on_standard_output_stays_a_file(run: Run) -> None:
    ran = run("convert", "t.json", "t.geojson", "--json")
    assert json.loads(ran.out) == {"in": "t.json", "out": "t.geojson", "format": "geojson", "left_out": ["radio"]}
    assert ran.err == ""
    piped = run("convert", "t.json", "-", "--to", "geojson")
    assert json.loads(piped.out)["type"] == "FeatureCollection"
    assert piped.err.count("\n") == 1
