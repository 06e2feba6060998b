"""`manetdiff score`: old links where the nodes are now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from manetdiff import Radio, metrics
from manetdiff.formats import read_fleet, read_topology
from support.command_help import Run, refused

FLEET = "id,x,y,yaw\na,0,0,0\nb,1000,100,0\nc,2000,900,0\nd,900,1100,0\n"
MOVED = "id,x,y,yaw\nd,900,1300,0\nx,1100,-800,0\na,100,0,0\nb,1000,200,0\n"


@pytest.fixture
def files(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "radio.json").write_text('{"unit": 1000, "range": 3}')
    (tmp_path / "fleet.csv").write_text(FLEET)
    (tmp_path / "moved.csv").write_text(MOVED)
    solved = run("solve", "fleet.csv", "--method", "mst-greedy", "--radio", "radio.json", "--out", "t.json")
    assert solved.code == 0
    return tmp_path


def test_old_links_are_scored_where_the_nodes_are_now_by_the_radio_of_the_topology(run: Run, files: Path) -> None:
    ran = run("score", "t.json", "moved.csv", "--json")
    told = json.loads(ran.out)
    assert ran.err == "manetdiff: warning: the network is in 2 parts: 'x' is in range but not joined\n"
    assert (told["nodes"], told["joined"], told["left"], told["parts"]["components"]) == (4, ["x"], ["c"], 2)
    _, topology = read_topology(files / "t.json")
    assert told["before"] == metrics(topology)
    moved = read_fleet(files / "moved.csv")
    places = {"a": 2, "b": 3, "d": 0}
    ids = topology.on().fleet.ids
    expected = [
        sorted((places[ids[i]], places[ids[j]])) for i, j in topology.links.tolist() if "c" not in (ids[i], ids[j])
    ]
    parity = [topology.parity[ids.index(name)] if name in ids else 0 for name in moved.ids]
    by_hand = type(topology)(expected, parity)
    assert told["metrics"] == metrics(by_hand, moved, Radio(unit=1000, range=3))


def test_for_people_before_stands_beside_now(run: Run, files: Path) -> None:
    ran = run("score", "t.json", "moved.csv")
    rows = {line[:18].strip(): line[18:].split() for line in ran.out.splitlines()}
    assert rows[""] == ["before", "now"]
    assert rows["nodes"] == ["4", "4"]
    assert rows["connected"] == ["yes", "no"]
    assert (rows["joined"], rows["left"]) == (["'x'"], ["'c'"])
    assert len(rows["T, Mbit/s"]) == 2


def test_without_a_fleet_it_is_scored_as_it_stands(run: Run, files: Path) -> None:
    ran = run("score", "-", "--json", stdin=(files / "t.json").read_bytes())
    _, topology = read_topology(files / "t.json")
    assert (ran.code, ran.err) == (0, "")
    told = json.loads(ran.out)
    assert told == {"nodes": 4, "metrics": metrics(topology), "links_out_of_range": 0, "parts": None}
    (files / "short.json").write_text('{"unit": 1000, "range": 0.1}')
    other = json.loads(run("score", "t.json", "--radio", "short.json", "--json").out)
    assert other["links_out_of_range"] == len(topology.links)
    assert run("score", "t.json").out.split()[:2] == ["nodes", "4"]


def test_what_makes_no_sense_is_refused_in_one_line(run: Run, files: Path) -> None:
    (files / "strangers.csv").write_text("id,x,y,yaw\np,0,0,0\nq,1,0,0\n")
    assert "share no node" in refused(run("score", "t.json", "strangers.csv"))
    assert "once only" in refused(run("score", "-", "-"))
    assert "fleet.csv: is no topology" in refused(run("score", "fleet.csv", "t.json"))
    rows = "".join(f"n{k},{k},{k % 7},0\n" for k in range(1024))
    (files / "many.csv").write_text("id,x,y,yaw\na,-1,0,0\n" + rows)
    assert "has 1025 nodes; rates can be computed for up to 1024" in refused(run("score", "t.json", "many.csv"))
