"""Sweeps on Ray: the same bytes as by one process, also where a worker is killed. It takes a while to start."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed (extra 'cluster')")

from manetdiff.engine import opened_engine
from manetdiff.sweeps import Grid, sweep
from support.engine_tasks import KillsOne

pytestmark = pytest.mark.slow

GRID = Grid(
    families=("wedge", "escort"),
    nodes=(8, 16),
    presets=("instant",),
    methods=("reference", "mst-greedy"),
    layouts=24,
    moves_a_node=2_000,
)


@pytest.fixture(scope="module")
def by_one(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = tmp_path_factory.mktemp("one") / "table.parquet"
    assert not sweep(GRID, out).failures
    return out.read_bytes()


def test_the_table_has_the_same_bytes_as_by_one_process(by_one: bytes, tmp_path: Path) -> None:
    assert not sweep(GRID, tmp_path / "table.parquet", engine=opened_engine("ray", 2)).failures
    assert (tmp_path / "table.parquet").read_bytes() == by_one


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_worker_that_is_killed_costs_time_and_nothing_else(engine: str, by_one: bytes, tmp_path: Path) -> None:
    kills_one = KillsOne(engine)
    swept = sweep(GRID, tmp_path / "table.parquet", engine=opened_engine(engine, 2), report=kills_one)
    assert kills_one.killed
    assert not swept.failures
    assert (tmp_path / "table.parquet").read_bytes() == by_one
