"""Radios on the command line: link budgets in files, the radio that a topology was written for, columns that miss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from manetdiff.formats import read_fleet, read_radio, read_topology, write_topology
from manetdiff.radio import Radio
from manetdiff.topology import Topology, metrics
from support.command_help import Run, refused

FLEET = "id,x,y,yaw\na,0,0,0\nb,900,100,0\nc,2000,900,0\nd,2500,-700,0\n"
BUDGET: dict[str, Any] = {"frequency": 5.8e9, "bandwidth": 10e6, "power": 0.5, "gain": 12, "noise_figure": 5}
BUDGET["min_snr"] = 10


@pytest.fixture(autouse=True)
def fleet_of_four(tmp_path: Path) -> None:
    """In the folder that commands run in."""
    (tmp_path / "f.csv").write_text(FLEET)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"link_budget": {**BUDGET, "watts": 3}}, "unknown field 'watts'"),
        ({"link_budget": {"frequency": 1e9, "power": 1}}, "field 'bandwidth' is missing"),
        ({"link_budget": 3}, "must be an object"),
        ({"link_budget": BUDGET, "unit": 3}, "stand alone"),
        ({"link_budget": {**BUDGET, "power": "much"}}, "link"),
        ({"link_budget": {**BUDGET, "cutoff": 1}}, "link budget: cutoff must be true or false, not 1"),
        ({"link_budget": {**BUDGET, "ceiling": -1}}, "radio: ceiling must be a number from"),
        ({"boresight": 45}, "radio: boresight must be a number from -7 to 7, not 45"),
    ],
)
def test_a_wrong_link_budget_is_one_line(run: Run, tmp_path: Path, document: object, words: str) -> None:
    (tmp_path / "r.json").write_text(json.dumps(document))
    said = refused(run("generate", "f.csv", "--radio", "r.json"))
    assert "r.json" in said
    assert words in said


@pytest.mark.parametrize(
    ("document", "radio"),
    [
        (
            {"range": 3, "boresight": 0.5, "min_snr": 2, "ceiling": 8},
            Radio(range=3, boresight=0.5, min_snr=2, ceiling=8),
        ),
        ({"min_snr": None, "ceiling": None}, Radio()),
        (
            {"link_budget": {**BUDGET, "cutoff": True, "ceiling": 8, "boresight": 0.5, "sectors": 6}},
            Radio.from_link_budget(**BUDGET, cutoff=True, ceiling=8, boresight=0.5, sectors=6),
        ),
    ],
)
def test_files_of_radios_take_what_real_radios_have_and_topologies_keep_it(
    tmp_path: Path, document: object, radio: Radio
) -> None:
    (tmp_path / "r.json").write_text(json.dumps(document))
    assert read_radio(tmp_path / "r.json") == radio
    fleet, chain = read_fleet(tmp_path / "f.csv"), Topology([(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1])
    write_topology(chain, fleet, radio, tmp_path / "t.json")
    assert radio_in(tmp_path / "t.json") == radio


@pytest.fixture
def topology_of_budget(run: Run, tmp_path: Path) -> Path:
    """A topology that was made for the link budget in a radio file."""
    (tmp_path / "r.json").write_text(json.dumps({"link_budget": BUDGET}))
    ran = run("generate", "f.csv", "--radio", "r.json", "--out", "t.json", "--json")
    fleet, topology = read_topology(tmp_path / "t.json")
    expected = metrics(topology, fleet, Radio.from_link_budget(**BUDGET))["throughput"]
    assert json.loads(ran.out)["metrics"]["throughput"] == pytest.approx(expected)
    return tmp_path / "t.json"


def radio_in(path: Path) -> Radio | None:
    _, topology = read_topology(path)
    return None if topology.layout is None else topology.layout.radio


def test_an_update_takes_the_radio_of_the_topology_by_path_or_piped(run: Run, topology_of_budget: Path) -> None:
    (topology_of_budget.parent / "default.json").write_text("{}")

    def updated(source: str, *radio: str) -> tuple[float, Radio | None]:
        piped = topology_of_budget.read_bytes() if source == "-" else b""
        ran = run("update", source, "f.csv", "--json", "--out", "new.json", *radio, stdin=piped)
        return json.loads(ran.out)["metrics"]["throughput"], radio_in(topology_of_budget.with_name("new.json"))

    by_path, piped, named = updated("t.json"), updated("-"), updated("t.json", "--radio", "r.json")
    assert by_path == piped == named
    assert by_path[1] == Radio.from_link_budget(**BUDGET)
    other, radio = updated("-", "--radio", "default.json")
    assert radio == Radio()
    assert other < by_path[0] / 10  # 1 MHz in place of 10


@pytest.mark.parametrize("kind", [(), ("--from", "netjson")])
def test_a_conversion_keeps_the_radio_of_the_topology_by_path_or_piped(
    run: Run, topology_of_budget: Path, kind: tuple[str, ...]
) -> None:
    content = topology_of_budget.read_bytes()
    assert run("convert", "-", "piped.netjson", *kind, stdin=content).code == 0
    assert run("convert", "t.json", "path.graphml", *kind).code == 0
    graph = topology_of_budget.with_name("path.graphml").read_bytes()
    assert run("convert", "-", "back.json", stdin=graph).code == 0
    for name in ("piped.netjson", "back.json"):
        written = topology_of_budget.with_name(name)
        assert radio_in(written) == Radio.from_link_budget(**BUDGET)
        assert written.read_bytes() == content  # and with it every rate


def test_the_one_column_that_is_missing_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("id,lat,lon\na,1,2\nb,2,3\n")
    assert "g.csv: the column heading is missing beside id, lat, lon" in refused(run("generate", "g.csv"))
