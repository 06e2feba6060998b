"""The commands: exit codes, one-line errors, nothing written on failure, the same answer for the same moves."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from manetdiff.cli.output import Table, print_table
from manetdiff.formats import read_fleet, read_topology, write_fleet
from manetdiff.scenarios import draw
from support.command_help import Run, refused

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def fleet_file(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.json"
    write_fleet(draw("wedge", 10, np.random.default_rng(3)), path)
    return path


def test_solve_writes_prints_and_draws(run: Run, fleet_file: Path, tmp_path: Path) -> None:
    ran = run("solve", str(fleet_file), "--moves", "2000", "--out", "t.json", "--plot", "t.png")
    assert ran.code == 0
    assert ran.err == ""
    assert ["connected", "yes"] in [line.split() for line in ran.out.splitlines()]
    fleet, topology = read_topology(tmp_path / "t.json")
    assert fleet.ids == read_fleet(fleet_file).ids
    assert len(topology.links) >= 9
    assert (tmp_path / "t.png").read_bytes().startswith(PNG)


def test_json_is_json(run: Run, fleet_file: Path) -> None:
    ran = run("solve", str(fleet_file), "--method", "mst-greedy", "--json")
    document = json.loads(ran.out)
    assert document["nodes"] == 10
    assert document["metrics"]["connected"] == 1.0
    assert document["report"]["method"] == "mst-greedy"


def test_the_same_seed_gives_the_same_file_and_a_topology_is_a_fleet_file_too(run: Run, fleet_file: Path) -> None:
    options = ("--moves", "3000", "--seed", "5")
    assert run("solve", str(fleet_file), *options, "--out", "first.json").code == 0
    assert run("solve", "first.json", *options, "--out", "second.json").code == 0
    assert Path("first.json").read_bytes() == Path("second.json").read_bytes()


def test_standard_input_and_output(run: Run, fleet_file: Path) -> None:
    ran = run("solve", "-", "--method", "mst-greedy", "--out", "-", stdin=fleet_file.read_bytes())
    assert ran.code == 0
    assert json.loads(ran.out)["type"] == "NetworkGraph"
    assert "mst-greedy" in ran.err


def test_the_radio_file_counts(run: Run, fleet_file: Path) -> None:
    Path("radio.json").write_text('{"range": 0.01}')
    ran = run("solve", str(fleet_file), "--method", "greedy", "--radio", "radio.json")
    assert ran.code == 0
    assert ran.err.startswith("manetdiff: warning: the network is in 10 parts: ")
    assert "'1', '2', '3' and 6 more are out of range" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert ["connected", "no"] in [line.split() for line in ran.out.splitlines()]


BAD = {
    "no file": (["nowhere.json"], "nowhere.json: there is no such file"),
    "folder": (["."], ".: is a folder, not a file"),
    "bad field": (["bad.json"], "bad.json: node 'A7': field 'yaw' is missing"),
    "method": (["fleet.json", "--method", "magic"], "unknown method 'magic'"),
    "seed": (["fleet.json", "--seed", "-1"], "seed must be"),
    "moves": (["fleet.json", "--moves", "0"], "a move budget must be"),
    "time": (["fleet.json", "--budget", "nan"], "a time budget must be"),
    "two budgets": (["fleet.json", "--budget", "1", "--moves", "1"], "either a time in seconds or a number of moves"),
    "radio": (["fleet.json", "--radio", "bad.json"], "bad.json: radio: unknown parameter 'nodes'"),
    "out folder": (["fleet.json", "--out", "no/where.json"], "no/where.json: cannot be written"),
    "out name": (["fleet.json", "--out", "map.geojson"], "'manetdiff convert' makes .geojson of it"),
    "plot folder": (["fleet.json", "--plot", "no/where.png"], "no/where.png: cannot be written"),
    "plot name": (["fleet.json", "--plot", "picture.bmp"], "picture.bmp: a picture's name must end in"),
    "both to stdout": (["fleet.json", "--out", "-", "--plot", "-"], "not both"),
    "both from stdin": (["-", "--radio", "-"], "can be read once only"),
    "empty stdin": (["-"], "standard input: is empty"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_one_line_and_writes_nothing(run: Run, fleet_file: Path, tmp_path: Path, case: str) -> None:
    arguments, expected = BAD[case]
    bad = {"nodes": [{"id": "A1", "x": 0, "y": 0, "yaw": 0}, {"id": "A7", "x": 1, "y": 1}]}
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    outputs = [] if "--out" in arguments or "--plot" in arguments else ["--out", "out.json", "--plot", "out.png"]
    assert expected in refused(run("solve", *arguments, *outputs))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.json", "fleet.json"]


def test_too_large_a_fleet_is_refused(run: Run, tmp_path: Path) -> None:
    rows = [f"{i},{i},{i % 7},0" for i in range(2001)]
    (tmp_path / "many.csv").write_text("id,x,y,yaw\n" + "\n".join(rows))
    assert "many.csv: has 2001 nodes" in refused(run("solve", "many.csv"))


def test_demo(run: Run, tmp_path: Path) -> None:
    ran = run("demo", "--nodes", "8", "--out", "made/here")
    assert ran.code == 0
    folder = tmp_path / "made" / "here"
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert sorted(files) == ["fleet.json", "moved.json", "topology.json", "topology.png"]
    fleet, _ = read_topology(folder / "topology.json")
    moved, _ = read_topology(folder / "moved.json")
    assert np.array_equal(fleet.positions, read_fleet(folder / "fleet.json").positions)
    assert fleet.ids == moved.ids
    assert files["topology.png"].startswith(PNG)
    assert "old links kept" in ran.out
    assert run("demo", "--nodes", "8", "--out", "again").code == 0
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}


@pytest.mark.parametrize("arguments", [["--nodes", "1"], ["--nodes", "1025"], ["--out", "file"], ["--out", "file/x"]])
def test_a_demo_that_cannot_be_is_one_line(run: Run, tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "file").write_text("")
    refused(run("demo", *arguments))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("columns", [160, 100, 72])
def test_an_interval_is_in_one_piece_however_narrow_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True, raising=False)
    cells = ["10.95 [10.78, 11.12] (paper: 47.24)", "14.89 [14.67, 15.11] %", "92 [13, 249]"]
    print_table(
        Table("", ("method", "T, Mbit/s", "T / target", "ms"), [["omnidirectional (500 layouts)", *cells]]), screen
    )
    shown = screen.getvalue()
    assert all(len(re.sub(r"\x1b\[\d*m", "", line)) <= columns for line in shown.splitlines())
    for piece in ("[10.78, 11.12]", "(paper: 47.24)", "[14.67, 15.11] %", "[13, 249]"):
        assert piece in shown
    assert ("10.95 [10.78" in shown) == (columns == 160)


def test_help_shows_examples(run: Run) -> None:
    for command in ("solve", "demo"):
        ran = run(command, "--help")
        assert ran.code == 0
        assert f"manetdiff {command}" in ran.out
        assert "Examples:" in ran.out


def test_as_a_process_of_its_own(fleet_file: Path, tmp_path: Path) -> None:
    """Pipes and binary output for real, and no traceback where the reader leaves early or the input is junk."""
    command = [sys.executable, "-m", "manetdiff", "solve", "-", "--method", "greedy", "--plot", "-"]
    good = subprocess.run(command, input=fleet_file.read_bytes(), capture_output=True, cwd=tmp_path, check=False)
    assert good.returncode == 0
    assert good.stdout.startswith(PNG)
    junk = subprocess.run(command, input=bytes(range(256)), capture_output=True, cwd=tmp_path, check=False)
    assert junk.returncode == 2
    assert junk.stdout == b""
    assert junk.stderr.decode().strip() == "manetdiff: standard input: is not a text file (UTF-8)"
    early = f"{sys.executable} -m manetdiff solve fleet.json --method greedy --out - 2>err.txt | head -c 5"
    left = subprocess.run(early, shell=True, capture_output=True, cwd=tmp_path, check=False)
    assert len(left.stdout) == 5
    assert "Traceback" not in (tmp_path / "err.txt").read_text()
