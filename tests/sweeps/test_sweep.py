"""Sweeps: the same table whoever makes it, stopped or not; rows that fail are told and tried again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS
from manetdiff.data.layouts import draw_layouts
from manetdiff.engine import Engine, LocalEngine, Outcome
from manetdiff.errors import DataError
from manetdiff.radio import Radio
from manetdiff.solvers import solve
from manetdiff.sweeps import Grid, Progress, SweptRadio, sweep
from manetdiff.sweeps.grid import Place, Way
from manetdiff.topology import METRICS, metrics
from support.command_help import Run, refused

GRID = Grid(
    families=("wedge", "streets"),
    nodes=(6, 9),
    presets=("instant",),
    methods=("mst-greedy", "reference"),
    radios={
        "default": SweptRadio(),
        "cone": SweptRadio(BENCHMARK_RADIOS["cone"].radio, BENCHMARK_RADIOS["cone"].spacing),
    },
    layouts=3,
    moves_a_node=20,
    reference=30,
)
FEW = Grid(families=("wedge",), nodes=(6,), methods=("mst-greedy", "greedy"), layouts=20)


class StoppedError(Exception):
    """What somebody does."""


class StoppingEngine(LocalEngine):
    """Stops after so many tasks."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def outcomes(self, function: Any, tasks: Any) -> Any:
        for count, outcome in enumerate(super().outcomes(function, tasks)):
            if count == self.after:
                raise StoppedError
            yield outcome


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "table.parquet"
    assert not sweep(GRID, out).failures
    return out


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_there_is_a_row_for_every_layout_radio_and_way_in_the_order_of_the_grid(whole: Path) -> None:
    table = pq.read_table(whole)
    assert len(table) == GRID.rows == 2 * 2 * 2 * 3 * 3
    rows = table.to_pylist()
    assert [(row["family"], row["nodes"], row["radio"], row["index"], row["kind"], row["way"]) for row in rows] == [
        (place.family, place.nodes, place.radio, place.index, way.kind, way.name)
        for place in GRID.places()
        for way in GRID.ways
    ]
    assert all(row["error"] is None and row["ratio"] == row["throughput"] / row["reference"] for row in rows)
    assert names(whole.parent) == ["table.parquet"]


def test_rows_are_what_solve_finds_on_the_layout_of_the_grid(whole: Path) -> None:
    table = pq.read_table(whole).to_pylist()
    place, way = Place("streets", 9, "cone", 1), Way("method", "reference")
    (row,) = [
        row
        for row in table
        if (row["family"], row["nodes"], row["radio"], row["index"], row["way"]) == ("streets", 9, "cone", 1, way.name)
    ]
    layout = draw_layouts(GRID.settings(place), 1)[0].layout
    assert layout.radio == BENCHMARK_RADIOS["cone"].radio
    scores = metrics(solve(layout, method="reference", moves=20 * 9, seed=1))
    assert {name: row[name] for name in METRICS} == {name: scores[name] for name in METRICS}


def test_the_default_radio_is_the_benchmark_sets_own_at_every_size() -> None:
    assert GRID.settings(Place("wedge", 9, "default", 0)).radio == Radio()
    assert replace(GRID, nodes=(64,)).settings(Place("wedge", 64, "default", 0)).radio == BENCHMARK_RADIOS["cone"].radio


def test_the_table_says_of_which_grid_and_version_it_is(whole: Path) -> None:
    said = json.loads(pq.read_schema(whole).metadata[b"manetdiff.sweep"])
    assert said["grid"] == json.loads(json.dumps(GRID.to_dict()))
    assert {"package", "code", "networks"} <= said.keys()


def test_bytes_do_not_depend_on_workers_nor_on_how_often_a_run_was_stopped(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.parquet"
    for after in (1, 5, 9):
        with pytest.raises(StoppedError):
            sweep(GRID, out, engine=StoppingEngine(after))
        assert not out.exists()
    seen: list[Progress] = []
    swept = sweep(GRID, out, engine=LocalEngine(2), report=seen.append)
    assert seen[0].done == 3 * (1 + 5 + 9)  # what was made before a stop is kept
    assert swept.made == GRID.rows - seen[0].done
    assert seen[-1] == Progress(GRID.rows, GRID.rows, 0)
    assert out.read_bytes() == whole.read_bytes()
    assert names(tmp_path) == ["table.parquet"]


def test_a_finished_sweep_is_left_as_it_is(whole: Path) -> None:
    before = whole.stat().st_mtime_ns
    assert sweep(GRID, whole).made == 0
    assert whole.stat().st_mtime_ns == before


def test_a_part_that_is_not_whole_is_made_again(tmp_path: Path) -> None:
    out = tmp_path / "table.parquet"
    sweep(FEW, tmp_path / "other.parquet")
    with pytest.raises(StoppedError):
        sweep(FEW, out, engine=StoppingEngine(17))
    part = tmp_path / "table.parquet.parts" / "part-00001.parquet"
    part.write_bytes(part.read_bytes()[:-7])
    assert sweep(FEW, out).made == (20 - 17 + 8) * 2
    assert out.read_bytes() == (tmp_path / "other.parquet").read_bytes()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nodes": (7,)}, "nodes = [6], not [7]"),
        ({"layouts": 21}, "layouts = 20, not 21"),
        ({"radios": {"own": SweptRadio(Radio(sigma2=1.0))}}, "radios.own"),
    ],
)
def test_another_grid_is_refused_on_the_same_parts_and_on_the_same_table(
    change: dict[str, object], words: str, tmp_path: Path
) -> None:
    out = tmp_path / "table.parquet"
    other = replace(FEW, **change)  # type: ignore[arg-type]
    with pytest.raises(StoppedError):
        sweep(FEW, out, engine=StoppingEngine(3))
    with pytest.raises(DataError) as raised:
        sweep(other, out)
    assert words in str(raised.value)
    sweep(FEW, out)
    with pytest.raises(DataError) as raised:
        sweep(other, out)
    assert words in str(raised.value)


def test_the_same_radios_in_another_order_are_another_grid(tmp_path: Path) -> None:
    radios = {"default": SweptRadio(), "own": SweptRadio(Radio(sigma2=1.0))}
    grid = replace(FEW, radios=radios, layouts=1)
    sweep(grid, tmp_path / "table.parquet")
    with pytest.raises(DataError, match="order of radios"):
        sweep(replace(grid, radios=dict(reversed(radios.items()))), tmp_path / "table.parquet")


def test_the_default_radio_takes_no_spacing() -> None:
    with pytest.raises(DataError, match="spacing"):
        SweptRadio(spacing=50.0)


def test_other_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "table.parquet"
    with pytest.raises(StoppedError):
        sweep(FEW, out, engine=StoppingEngine(3))
    monkeypatch.setattr("manetdiff.sweeps.run.program_digest", lambda modules: "another")
    with pytest.raises(DataError, match="other code"):
        sweep(FEW, out)


class TestFailures:
    GRID = replace(FEW, nodes=(6, 9), methods=("exact", "greedy"), layouts=2)

    def test_a_row_that_fails_ends_nothing_and_is_tried_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        out = tmp_path / "table.parquet"
        swept = sweep(self.GRID, out)
        assert [(one.place.nodes, one.place.index, one.way.name) for one in swept.failures] == [
            (9, 0, "exact"),
            (9, 1, "exact"),
        ]
        rows = pq.read_table(out).to_pylist()
        assert len(rows) == 8
        failed = [row for row in rows if row["error"] is not None]
        assert all("up to 8 nodes" in row["error"] and row["throughput"] is None for row in failed)
        assert len(failed) == 2
        before = out.read_bytes()
        assert sweep(self.GRID, out).made == 0
        assert out.read_bytes() == before
        # As if whatever was wrong had been put right.
        monkeypatch.setattr("manetdiff.sweeps.rows.solve", lambda layout, **_: solve(layout, method="greedy"))
        again = sweep(self.GRID, out)
        assert (again.made, again.failures) == (2, [])
        assert names(tmp_path) == ["table.parquet"]

    def test_a_layout_that_cannot_be_drawn_fails_in_all_its_ways(self, tmp_path: Path) -> None:
        lame = SweptRadio(Radio(unit=1.0, range=1.0), spacing=1_000.0)
        swept = sweep(replace(FEW, layouts=1, radios={"lame": lame, "default": SweptRadio()}), tmp_path / "t.parquet")
        assert [(one.place.radio, one.way.name) for one in swept.failures] == [
            ("lame", "mst-greedy"),
            ("lame", "greedy"),
        ]

    def test_a_task_that_is_lost_is_a_failure(self, tmp_path: Path) -> None:
        class Losing(LocalEngine):
            def outcomes(self, function: Any, tasks: Any) -> Any:
                yield from (Outcome(error=MemoryError("none left")) for _ in tasks)

        engine: Engine = Losing()
        swept = sweep(replace(FEW, layouts=1), tmp_path / "t.parquet", engine=engine)
        assert [one.message for one in swept.failures] == ["MemoryError: none left"] * 2


def test_times_are_in_columns_of_their_own_and_only_where_asked_for(tmp_path: Path) -> None:
    grid = replace(FEW, layouts=1, presets=("instant",), times=True)
    sweep(grid, tmp_path / "t.parquet")
    by_way = {row["way"]: row for row in pq.read_table(tmp_path / "t.parquet").to_pylist()}
    stages = [f"{stage}_milliseconds" for stage in ("layout", "sampling", "correction", "polish")]
    assert all(np.isfinite(by_way["instant"][name]) for name in ("milliseconds", "processor_milliseconds", *stages))
    assert by_way["greedy"]["milliseconds"] > 0
    assert by_way["greedy"]["sampling_milliseconds"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"families": ("flock",)}, "families: unknown 'flock'"),
        ({"families": ()}, "families: name at least one"),
        ({"methods": ()}, "name a preset or a method"),
        ({"methods": ("cpsat",)}, "by the clock"),
        ({"methods": ("greedy", "greedy")}, "named twice"),
        ({"presets": ("slow",)}, "presets: unknown 'slow'"),
        ({"nodes": (1,)}, "nodes"),
        ({"layouts": 0}, "layouts"),
        ({"radios": {}}, "radios: name at least one"),
    ],
)
def test_grids_that_make_no_sense_are_refused(change: dict[str, object], words: str) -> None:
    with pytest.raises(DataError) as raised:
        replace(FEW, **change)  # type: ignore[arg-type]
    assert words in str(raised.value)


class TestCommand:
    SMALL: Sequence[str] = (
        "--family",
        "wedge",
        "--nodes",
        "6",
        "--method",
        "greedy",
        "--layouts",
        "2",
        "--workers",
        "1",
    )

    def test_a_table_with_radios_by_name_and_from_files(self, run: Run) -> None:
        Path("own.json").write_text('{"sigma2": 0.9}')
        ran = run("sweep", "--out", "t.parquet", *self.SMALL, "--radio", "default,cone-wide,own.json", "--json")
        assert ran.code == 0, ran
        told = json.loads(ran.out)
        assert (told["rows"], told["made"], told["failures"]) == (6, 6, [])
        assert pq.read_table("t.parquet")["radio"].unique().to_pylist() == ["default", "cone-wide", "own"]

    def test_failures_are_told_by_what_was_wrong_and_by_the_exit_code(self, run: Run) -> None:
        ran = run("sweep", "--out", "t.parquet", *self.SMALL, "--method", "exact", "--nodes", "9")
        assert ran.code == 1
        assert "2 rows failed; the same command tries them again" in ran.err
        assert "index 0, method exact and 1 more: method 'exact'" in ran.err
        assert "t.parquet: 8 rows (6 made now)" in ran.out

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--radio", "absent.json"), "absent.json"),
            (("--radio", "cone,cone"), "two radios would be called 'cone'"),
            (("--spacing", "10"), "--spacing"),
            (("--engine", "slurm"), "must be one of local, ray"),
            (("--workers", "0"), "--workers"),
            (("--preset", "slow"), "slow"),
        ],
    )
    def test_mistakes_are_told_in_a_line(self, run: Run, arguments: Sequence[str], words: str) -> None:
        assert words in refused(run("sweep", "--out", "t.parquet", *self.SMALL, *arguments))

    def test_what_is_not_a_sweep_is_left_alone(self, run: Run) -> None:
        Path("t.parquet").write_text("mine")
        assert "not a table made by" in refused(run("sweep", "--out", "t.parquet", *self.SMALL))
        assert Path("t.parquet").read_text() == "mine"
        assert "a folder" in refused(run("sweep", "--out", ".", *self.SMALL))
