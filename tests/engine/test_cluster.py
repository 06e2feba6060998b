"""Ray: the same bytes as by local processes, also where workers are killed. It takes a while to start."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed (extra 'cluster')")

from manetdiff.data import Settings
from manetdiff.data.folder import generate
from manetdiff.engine import opened_engine
from manetdiff.errors import EngineError, FleetError
from support.engine_tasks import KillsOne, die_once, fail, own_number, threads

pytestmark = pytest.mark.slow

SETTINGS = Settings(nodes=(8,), count=24, seed=0, shard_size=8, search_moves=2000)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name.endswith((".parquet", ".json"))}


def test_data_has_the_same_bytes_as_by_one_process(tmp_path: Path) -> None:
    generate(SETTINGS, tmp_path / "here")
    generate(SETTINGS, tmp_path / "there", engine=opened_engine("ray", 2))
    assert content(tmp_path / "there") == content(tmp_path / "here")


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_data_has_the_same_bytes_where_a_worker_is_killed(engine: str, tmp_path: Path) -> None:
    settings = replace(SETTINGS, nodes=(16,), search_moves=40_000)
    generate(settings, tmp_path / "here")
    kills_one = KillsOne(engine)
    generate(settings, tmp_path / "there", engine=opened_engine(engine, 2), report=kills_one)
    assert kills_one.killed
    assert content(tmp_path / "there") == content(tmp_path / "here")


def test_workers_that_are_killed_cost_time_and_nothing_else(tmp_path: Path) -> None:
    tasks = [(str(tmp_path), number) for number in range(4)]
    assert list(opened_engine("ray", 2).in_order(die_once, tasks)) == list(range(4))
    assert len(list(tmp_path.iterdir())) == 4


def test_a_task_that_fails_ends_no_other() -> None:
    outcomes = list(opened_engine("ray", 2).outcomes(fail, ["fine", "bad", "fine"]))
    assert [outcome.result for outcome in outcomes] == ["fine", None, "fine"]
    assert isinstance(outcomes[1].error, FleetError)


def test_workers_stay_for_the_next_call_and_are_one_core_each() -> None:
    with opened_engine("ray", 1) as engine:
        assert set(engine.in_order(own_number, range(3))) == set(engine.in_order(own_number, range(3)))
        (found,) = engine.in_order(threads, [0])
    assert found.pop("added") == 0
    assert set(found.values()) == {1}


def test_machines_with_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manetdiff.engine.cluster.__version__", "0.0.1")
    with pytest.raises(EngineError, match=r"this machine 0\.0\.1"):
        list(opened_engine("ray", 1).outcomes(math.sqrt, [1.0]))


def test_what_a_task_raises_is_raised_here() -> None:
    with pytest.raises(FleetError, match="bad"):
        list(opened_engine("ray", 1).in_order(fail, ["bad"]))


def test_a_cluster_that_is_not_there_is_said() -> None:
    with pytest.raises(EngineError, match="cannot be joined"):
        list(opened_engine("ray", 1, "127.0.0.1:1").in_order(math.sqrt, [1.0]))
