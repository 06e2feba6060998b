"""Many flights: each as if it were flown alone, whoever does it, and a table of all."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from manetdiff.cli import simulate_many
from manetdiff.cli.simulate_many import names_of
from manetdiff.simulation.many import FlightPlan, FlownFlight, fly
from support.command_help import Run, refused

SHORT = ("--nodes", "5", "--duration", "2", "--step", "2", "--animation", "none")
UNTIMED = ("topologies.jsonl", "tracks.csv")


def contents(folder: Path) -> dict[str, bytes]:
    return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in folder.rglob("*") if path.name in UNTIMED}


def test_drawn_flights_are_those_of_their_seeds(run: Run, tmp_path: Path) -> None:
    ran = run("simulate", *SHORT, "--flights", "2", "--seed", "5", "--out", "one", "--json")
    assert ran.code == 0, ran
    told = json.loads(ran.out)
    assert [one["flight"] for one in told["flights"]] == ["flight-5", "flight-6"]
    assert told["failures"] == {}
    with (tmp_path / "one" / "flights.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert [float(row["throughput"]) for row in rows] == [one["throughput"] for one in told["flights"]]
    assert run("simulate", *SHORT, "--seed", "6", "--out", "alone").code == 0
    for name in UNTIMED:
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "one" / "flight-6" / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_flights_are_the_same_on_any_number_of_workers_and_on_either_engine(
    run: Run, tmp_path: Path, engine: str
) -> None:
    if engine == "ray":
        pytest.importorskip("ray", reason="Ray is not installed (extra 'cluster')")
    assert run("simulate", *SHORT, "--flights", "3", "--out", "one").code == 0
    assert run("simulate", *SHORT, "--flights", "3", "--out", "two", "--workers", "2", "--engine", engine).code == 0
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
    assert len(contents(tmp_path / "one")) == 6


def test_a_flight_that_fails_is_told_and_ends_no_other(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fly_but_one(plan: FlightPlan) -> FlownFlight:
        if plan.name == "turn":
            raise MemoryError
        return fly(plan)

    monkeypatch.setattr(simulate_many, "fly", fly_but_one)
    (tmp_path / "turn.movements").write_text("0 0 0 10 10 0\n0 10 9 10 0 9\n")
    (tmp_path / "pass.movements").write_text("0 0 0 10 10 0\n0 10 8 10 0 8\n")
    ran = run("simulate", "turn.movements", "pass.movements", "--step", "5", "--animation", "none", "--out", "o")
    assert ran.code == 1
    assert "turn failed: MemoryError" in ran.err
    assert sorted(path.name for path in (tmp_path / "o").iterdir()) == ["flights.csv", "pass"]
    assert "pass" in ran.out


def test_a_file_that_cannot_be_flown_is_refused_by_its_name_before_anything_is_flown(run: Run, tmp_path: Path) -> None:
    (tmp_path / "meet.movements").write_text("0 0 0 10 10 0\n0 10 0 10 0 0\n")
    (tmp_path / "pass.movements").write_text("0 0 0 10 10 0\n0 10 8 10 0 8\n")
    told = refused(run("simulate", "pass.movements", "meet.movements", "--step", "5", "--out", "o"))
    assert "meet.movements: at 5 s" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.csv", "--flights", "2"), "--flights"),
        (("-", "-"), "standard input"),
        (("--workers", "2"), "many flights"),
        (("absent.csv", "none.csv"), "absent.csv"),
        (("--flights", "2", "--engine", "slurm"), "local, ray"),
    ],
)
def test_mistakes_are_told_in_a_line(run: Run, arguments: Sequence[str], words: str) -> None:
    assert words in refused(run("simulate", *arguments, *SHORT, "--out", "o"))


def test_what_is_wrong_with_every_flight_is_a_mistake(run: Run) -> None:
    ran = run("simulate", *SHORT, "--flights", "2", "--preset", "magic", "--out", "o")
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("manetdiff: unknown preset 'magic'")


def test_folders_are_named_after_files_and_numbered_where_they_must_be() -> None:
    assert names_of(["a/x.csv", "y.tcl", "b/x.csv", "x-2.csv", "-"]) == ["x", "y", "x-2", "x-2-2", "input"]
    assert names_of(["A.csv", "a.csv", "flights.csv.csv"]) == ["A", "a-2", "flights.csv-2"]
