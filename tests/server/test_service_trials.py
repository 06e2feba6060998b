"""What `scripts/try_service.py` tries, in small: load, kills, real senders, costs, and replicas."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.live_server import can_serve
from support.postgres import postgres

pytest.importorskip("psutil", reason="psutil is not installed (extra 'service-tests')")

from service_trials.costs import CostPlan, cost_trial
from service_trials.kills import kill_trial, sqlite
from service_trials.load import LoadPlan, load_trial, report_path
from service_trials.replicas import ReplicaPlan, replica_trial
from service_trials.section import Section
from service_trials.senders import sender_trial

pytestmark = [pytest.mark.service, pytest.mark.skipif(not can_serve(), reason="the extra 'serve' is not installed")]


def column(section: Section, name: str) -> list[str]:
    place = list(section.header).index(name)
    return [row[place] for row in section.rows]


def test_the_usual_load_is_taken_and_one_that_is_too_large_is_shed(tmp_path: Path) -> None:
    plan = LoadPlan(networks=5, seconds=5, viewers=10, times=(100,), overload=4, updates=200)
    load, memory = load_trial(plan, tmp_path)
    usual, larger, after = zip(column(load, "taken"), column(load, "shed (503)"), column(load, "other"), strict=True)
    assert usual == ("25", "0", "0")
    assert int(larger[0].replace(",", "")) > 0
    assert int(larger[1].replace(",", "")) > 0
    assert larger[2] == "0"
    assert after[2] == "0"
    assert len(memory.rows) == 10


@pytest.mark.parametrize("kind", ["SQLite", "PostgreSQL"])
def test_what_is_acknowledged_survives_kills(kind: str, tmp_path: Path) -> None:
    database = sqlite(tmp_path) if kind == "SQLite" else postgres()
    (killed,) = kill_trial(5, tmp_path, {kind: database})
    assert [column(killed, name) for name in ("lost", "changed", "settings lost")] == [["0"]] * 3
    assert int(column(killed, "acknowledged")[0].replace(",", "")) > 5


def test_real_senders_are_followed_to_the_end(tmp_path: Path) -> None:
    pytest.importorskip("pymavlink", reason="pymavlink is not installed (extra 'mavlink')")
    (senders,) = sender_trial(600.0, tmp_path)
    assert column(senders, "nodes") == ["8", "24", "12"]
    assert column(senders, "refused") == ["0", "0", "0"]
    assert column(senders, "lag at the end, s of flight") == ["0", "0", "0"]


def test_what_a_version_costs_is_reckoned_up(tmp_path: Path) -> None:
    costs, needed = cost_trial(CostPlan(networks=3, rounds=4), tmp_path, {"PostgreSQL": postgres()})
    (row,) = costs.rows
    core_ms, logged, report = (float(row[place].replace(",", "")) for place in (1, 3, 5))
    assert core_ms > 0 and logged > 0
    path = report_path(0, 5)
    assert abs(report - len(path[1])) < 300  # other fleets of as many nodes
    cores = float(next(value for name, value in needed.rows if name == "busy cores of services").replace(",", ""))
    assert abs(cores - 100 * core_ms) <= 6  # a tenth of a millisecond is rounded away


def test_what_replicas_acknowledge_survives_kills_and_stops(tmp_path: Path) -> None:
    plan = ReplicaPlan(networks=4, flown=2, kills=2, stopped=5.0)
    tried, taken = replica_trial(plan, tmp_path, postgres())
    for name in ("lost", "changed", "numbered twice", "missing numbers", "other"):
        assert column(tried, name) == ["0", "0"], name
    assert int(column(tried, "acknowledged")[0].replace(",", "")) > 50
    assert min(map(int, column(taken, "networks taken over"))) > 0
