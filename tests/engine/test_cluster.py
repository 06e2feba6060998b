"""Ray: the same bytes as by local processes, also where workers are killed. It takes a while to start."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed (extra 'cluster')")

from manetdiff.data import Settings
from manetdiff.data.folder import generate
from manetdiff.engine import opened_engine
from manetdiff.errors import EngineError, FleetError
from support.engine_tasks import die_once, fail

pytestmark = pytest.mark.slow

SETTINGS = Settings(nodes=(8,), count=24, seed=0, shard_size=8, search_moves=2000)


@pytest.fixture(autouse=True)
def found_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They import tasks from here."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name.endswith((".parquet", ".json"))}


def test_data_has_the_same_bytes_as_by_one_process(tmp_path: Path) -> None:
    generate(SETTINGS, tmp_path / "here")
    generate(SETTINGS, tmp_path / "there", engine=opened_engine("ray", 2))
    assert content(tmp_path / "there") == content(tmp_path / "here")


def test_workers_that_are_killed_cost_time_and_nothing_else(tmp_path: Path) -> None:
    tasks = [(str(tmp_path), number) for number in range(4)]
    assert list(opened_engine("ray", 2).in_order(die_once, tasks)) == list(range(4))
    assert len(list(tmp_path.iterdir())) == 4


def test_what_a_task_raises_is_raised_here() -> None:
    with pytest.raises(FleetError, match="bad"):
        list(opened_engine("ray", 1).in_order(fail, ["bad"]))


def test_a_cluster_that_is_not_there_is_said() -> None:
    with pytest.raises(EngineError, match="cannot be joined"):
        list(opened_engine("ray", 1, "127.0.0.1:1").in_order(math.sqrt, [1.0]))
