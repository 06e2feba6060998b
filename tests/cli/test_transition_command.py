"""`manetdiff transition`: from one topology file to another, in rounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from manetdiff import transition
from manetdiff.formats import read_fleet, read_topology
from support.command_help import Run, refused

FLEET = "id,x,y,yaw\na,0,0,0\nb,1000,100,0\nc,2000,900,0\nd,900,1100,0\n"
MOVED = "id,x,y,yaw\nd,900,1300,0\nx,1100,-800,0\na,100,0,0\nb,1000,200,0\n"


@pytest.fixture
def files(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "radio.json").write_text('{"unit": 1000, "range": 3}')
    for name, content in (("fleet", FLEET), ("moved", MOVED)):
        (tmp_path / f"{name}.csv").write_text(content)
        solved = run("solve", f"{name}.csv", "--method", "exact", "--radio", "radio.json", "--out", f"{name}.json")
        assert solved.code == 0
    return tmp_path


def test_for_people_a_table_and_for_programs_the_rounds(run: Run, files: Path) -> None:
    (_, old), (_, new) = read_topology(files / "fleet.json"), read_topology(files / "moved.json")
    made = transition(old, new, setup=2)
    ran = run("transition", "fleet.json", "moved.json", "--setup", "2")
    assert (ran.code, ran.err) == (0, "")
    rows = {line[:24].strip(): line[24:].strip() for line in ran.out.splitlines()}
    assert rows == {
        "rounds": str(len(made.rounds)),
        "links of nodes that left": str(len(made.gone)),
        "links dropped": str(made.dropped),
        "links added": str(made.added),
        "nodes turned": str(made.turned),
        "connected throughout": "yes" if made.connected else "no, and no order is",
        "seconds": f"{made.seconds:g}",
    }
    shown = run("transition", "fleet.json", "moved.json", "moved.csv", "--setup", "2", "--json")
    assert json.loads(shown.out) == made.to_dict()
    given = run("transition", "fleet.json", "moved.json", "--no-align", "--json")
    assert json.loads(given.out) == transition(old, new, read_fleet(files / "moved.csv"), align=False).to_dict()


def test_the_rounds_go_into_a_file_or_to_standard_output(run: Run, files: Path) -> None:
    ran = run("transition", "fleet.json", "moved.json", "--out", "rounds.json")
    told = json.loads((files / "rounds.json").read_text())
    assert told["rounds"] and ran.out.startswith("rounds ")
    piped = run("transition", "-", "moved.json", "--out", "-", stdin=(files / "fleet.json").read_bytes())
    assert json.loads(piped.out) == told
    assert piped.err == ran.out
    assert run("transition", "fleet.json", "moved.json", "--out", "rounds.eel").code == 0
    assert (files / "rounds.eel").read_text().startswith('# nem:1 is "d"\n')
    same = run("transition", "fleet.json", "fleet.json", "--json")
    assert json.loads(same.out)["rounds"] == []


def test_what_makes_no_sense_is_refused_in_one_line(run: Run, files: Path) -> None:
    (files / "strangers.csv").write_text("id,x,y,yaw\np,0,0,0\nq,1,0,0\n")
    assert "only one of them has" in refused(run("transition", "fleet.json", "moved.json", "strangers.csv"))
    assert "once only" in refused(run("transition", "-", "-"))
    assert "fleet.csv: is no topology" in refused(run("transition", "fleet.csv", "moved.json"))
    assert "setup must be" in refused(run("transition", "fleet.json", "moved.json", "--setup", "-1"))
    assert "into .json, or for EMANE into .eel" in refused(run("transition", "a.json", "b.json", "--out", "rounds.xml"))
    assert "cannot be written" in refused(run("transition", "a.json", "b.json", "--out", "no/where.json"))
    # Where all nodes are in a row, what was on several antennas is on one.
    (files / "row.csv").write_text("id,x,y,yaw\nd,3000,10,0\nx,1000,0,0\na,0,0,0\nb,2000,10,0\n")
    told = refused(run("transition", "fleet.json", "moved.json", "row.csv"))
    assert "the new topology has" in told or "which is not possible" in told
