"""The paper's tables made again: intervals, kept rows, what a row depends on, and the command."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from manetdiff.data import SolvedLayout
from manetdiff.errors import DisconnectedWarning
from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.reproduce import figures, measured, paper, partial, rows
from manetdiff.reproduce.catalogue import STUDIES
from manetdiff.reproduce.cells import MEASURES, Cell, Measure
from manetdiff.reproduce.raw_samples import cells, labels
from manetdiff.reproduce.resampling import RESAMPLES, bootstrap, interval, resampled_means
from manetdiff.reproduce.rows import Row, Rows, RowStore
from manetdiff.reproduce.study import FULL_LAYOUTS, QUICK_LAYOUTS, Grid, Setting, UnavailableError
from manetdiff.scenarios import FAMILIES
from manetdiff.solvers import solve
from manetdiff.topology import METRICS, Topology, metrics
from manetdiff.training.validation import make_trials, sample_topologies
from support.reproduce_help import (
    GRIDS,
    STEPS,
    Run,
    command_in,
    first_layouts,
    hurry,
    refuse,
    rows_of,
    throughput_grids,
)

SHARE = Measure("share", "share", percent=True)
OF_THEN = {"version": "0.1", "commit": "0490432", "machine": "another", "run": "full"}


@pytest.fixture(scope="module")
def few() -> list[SolvedLayout]:
    return first_layouts()


@pytest.fixture
def made() -> list[str]:
    """What the store of `setting` had to make, in order."""
    return []


@pytest.fixture
def setting(tmp_path: Path, made: list[str]) -> Setting:
    return Setting(True, RowStore(tmp_path / "rows", made.append))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    hurry(monkeypatch)
    return command_in(tmp_path, monkeypatch, capfd)


def _without_times(rows: Rows) -> list[Row]:
    return [{key: value for key, value in row.items() if key != "milliseconds"} for row in rows.rows]


def _expected(layouts: list[SolvedLayout], topologies: list[Topology], radio: Radio) -> list[Row]:
    return [
        {**metrics(topology, layout.fleet, radio), "target": layout.metrics["throughput"]}
        for layout, topology in zip(layouts, topologies, strict=True)
    ]


class TestBootstrap:
    def test_is_what_a_plain_loop_gives(self) -> None:
        values, over = [1.0, 4.0, 2.0, 8.0, 5.0], [2.0, 3.0, 3.0, 9.0, 4.0]
        picks = np.random.default_rng(0).integers(0, 5, (RESAMPLES, 5))
        for bottom in (None, over):
            shares = sorted(
                sum(values[k] for k in pick) / (len(pick) if bottom is None else sum(bottom[k] for k in pick))
                for pick in picks.tolist()
            )
            expected = [_between(shares, 0.025), _between(shares, 0.975)]
            mean, low, high = bootstrap(values, bottom)
            assert mean == pytest.approx(4.0 if bottom is None else 20 / 21)
            assert [low, high] == pytest.approx(expected)
            assert low < mean < high

    def test_comes_near_the_interval_of_a_normal_mean(self) -> None:
        values = np.random.default_rng(5).normal(3.0, 2.0, 400)
        mean, low, high = bootstrap(values.tolist())
        half = 1.96 * values.std() / math.sqrt(len(values))
        assert mean == pytest.approx(values.mean())
        assert mean - low == pytest.approx(half, rel=0.08)
        assert high - mean == pytest.approx(half, rel=0.08)

    def test_of_a_ratio_is_of_sums_and_paired(self) -> None:
        # The mean of the two ratios would be 2.
        assert bootstrap([1.0, 9.0], [1.0, 3.0])[0] == pytest.approx(2.5)
        # Twice as much on every layout is twice as much on any of them, however far apart these are.
        assert bootstrap([2.0, 20.0, 200.0], [1.0, 10.0, 100.0]) == pytest.approx((2.0, 2.0, 2.0))

    def test_is_the_same_each_time_whatever_was_drawn_before(self) -> None:
        values = np.random.default_rng(1).random(17).tolist()
        first = bootstrap(values)
        np.random.seed(3)  # noqa: NPY002 - what others do to the global generator must not matter
        assert bootstrap(values) == first

    def test_of_one_layout_or_of_equal_ones_has_no_width(self) -> None:
        assert bootstrap([0.7]) == pytest.approx((0.7, 0.7, 0.7))
        assert bootstrap([0.25] * 9) == (0.25, 0.25, 0.25)


class TestSeeds:
    """Rows of several training seeds: values by seed and layout."""

    VALUES = ((1.0, 4.0, 2.0, 8.0), (3.0, 3.0, 5.0, 7.0), (0.0, 6.0, 6.0, 9.0))

    @pytest.mark.parametrize("over", [None, (2.0, 3.0, 3.0, 9.0)])
    def test_are_drawn_again_as_layouts_are_as_a_plain_loop_does(self, over: tuple[float, ...] | None) -> None:
        seeds, layouts = len(self.VALUES), len(self.VALUES[0])
        generator = np.random.default_rng(0)
        picks = generator.integers(0, layouts, (RESAMPLES, layouts)).tolist()
        chosen = generator.integers(0, seeds, (seeds, RESAMPLES)).T.tolist()
        expected = []
        for pick, some in zip(picks, chosen, strict=True):
            mean = sum(self.VALUES[seed][k] for seed in some for k in pick) / (seeds * layouts)
            expected.append(mean if over is None else mean / (sum(over[k] for k in pick) / layouts))
        assert resampled_means(self.VALUES, over) == pytest.approx(np.array(expected))
        mean, low, high = bootstrap(self.VALUES, over)
        assert mean == pytest.approx(4.5 if over is None else 4.5 / 4.25)
        assert [low, high] == pytest.approx([_between(sorted(expected), share) for share in (0.025, 0.975)])

    def test_that_differ_make_the_interval_wider_than_layouts_alone(self) -> None:
        over_layouts = np.random.default_rng(3).normal(5.0, 1.0, 40)
        apart = np.stack([over_layouts + shift for shift in (-2.0, 0.0, 2.0)])
        assert apart.mean(0) == pytest.approx(over_layouts)
        mean, low, high = bootstrap(apart)
        alone, alone_low, alone_high = bootstrap(over_layouts)
        assert mean == pytest.approx(alone)
        assert high - low > 3 * (alone_high - alone_low)
        # One of 27 draws has the lowest seed three times: more than the tail of a fortieth.
        assert bootstrap([[0.1] * 5, [0.2] * 5, [0.3] * 5]) == pytest.approx((0.2, 0.1, 0.3))

    def test_that_are_all_alike_change_nothing(self) -> None:
        values = np.random.default_rng(4).random(12)
        assert bootstrap([values] * 3) == pytest.approx(bootstrap(values))

    def test_of_which_there_is_one_give_what_its_layouts_alone_give(self) -> None:
        values, over = np.random.default_rng(4).random((2, 12))
        assert bootstrap(values[np.newaxis]) == bootstrap(values)
        assert bootstrap(values[np.newaxis], over) == bootstrap(values, over)
        assert interval(resampled_means(values)) == bootstrap(values)[1:]


def _between(ascending: list[float], share: float) -> float:
    """The quantile, read on the line between its two neighbours."""
    place = share * (len(ascending) - 1)
    below = int(place)
    return ascending[below] + (place - below) * (ascending[below + 1] - ascending[below])


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Cell(Measure("links", "links"), 22.416), "22.42"),
        (Cell(Measure("links", "links", digits=0), 22.416), "22"),
        (Cell(Measure("links", "links"), 22.416, 21.0, 23.5), "22.42 [21.00, 23.50]"),
        (Cell(Measure("links", "links"), 22.416, 21.0, 23.5, 21.95), "22.42 [21.00, 23.50] (paper: 21.95)"),
        (Cell(SHARE, 0.98641), "98.64 %"),
        (Cell(SHARE, 0.98641, 0.97, 1.0), "98.64 [97.00, 100.00] %"),
        (Cell(SHARE, 0.98641, 0.97, 1.0, 0.9868), "98.64 [97.00, 100.00] % (paper: 98.68)"),
        # A figure of 0 is a figure, and so is an end of an interval.
        (Cell(SHARE, 0.0, 0.0, 0.0, 0.0), "0.00 [0.00, 0.00] % (paper: 0.00)"),
    ],
)
def test_a_cell_shows_ours_the_interval_and_the_papers_figure_in_one_unit(cell: Cell, text: str) -> None:
    assert cell.text == text


def test_every_metric_has_a_measure_under_its_own_name_and_shares_are_in_percent() -> None:
    assert set(METRICS) <= set(MEASURES)
    assert all(name == measure.metric for name, measure in MEASURES.items())
    assert len({measure.label for measure in MEASURES.values()}) == len(MEASURES)
    absolute = {"links", "mean_length", "link_throughput", "throughput", "milliseconds"}
    assert {name for name, measure in MEASURES.items() if not measure.percent} == absolute


class TestRows:
    def test_a_cell_is_the_metrics_mean_and_ratio_that_of_t_over_the_target(self) -> None:
        rows = Rows(
            [
                {"throughput": 60.0, "target": 80.0, "parity": 1.0},
                {"throughput": 90.0, "target": 100.0, "parity": 0.5},
            ]
        )
        parity, ratio = rows.cell("parity", 0.9864), rows.cell("ratio")
        assert (parity.measure, parity.mean, parity.paper) == (MEASURES["parity"], 0.75, 0.9864)
        assert (parity.low, parity.high) == (0.5, 1.0)
        assert (ratio.measure, ratio.paper) == (MEASURES["ratio"], None)
        # Not the mean of 60 / 80 and 90 / 100, which is 0.825.
        assert ratio.mean == pytest.approx(150 / 180)
        assert (ratio.low, ratio.high) == pytest.approx((0.75, 0.9))

    def test_cells_have_the_papers_figure_where_it_has_one(self) -> None:
        shown = cells(Rows([{"links": 20.0, "parity": 1.0}]), ("links", "parity"), {"links": 21.95, "valid": 1.0})
        assert [cell.paper for cell in shown] == [21.95, None]
        assert labels(("links", "parity")) == ["links", "parity"]
        assert [cell.mean for cell in shown] == [20.0, 1.0]

    def test_of_several_seeds_are_pooled_by_seed_and_layout(self) -> None:
        first = rows_of(throughput=[60.0, 90.0, 30.0], target=[80.0, 100.0, 60.0])
        second = rows_of(throughput=[40.0, 70.0, 50.0], target=[80.0, 100.0, 60.0])
        pooled = Rows.pooled([first, second])
        assert (pooled.seeds, pooled.layouts, len(pooled.rows)) == (2, 3, 6)
        assert pooled.values("throughput").tolist() == [[60.0, 90.0, 30.0], [40.0, 70.0, 50.0]]
        assert (first.seeds, first.layouts, first.values("target").shape) == (1, 3, (1, 3))
        assert Rows.pooled([first]) == first
        # All of what the seeds reach, over the target that they share.
        over = pooled.values("target")[0]
        assert pooled.cell("ratio").mean == pytest.approx(340 / 480)
        assert [pooled.cell("ratio").low, pooled.cell("ratio").high] == pytest.approx(
            bootstrap(pooled.values("throughput"), over)[1:]
        )
        assert pooled.cell("throughput").mean == pytest.approx(340 / 6)
        assert pooled.resampled("ratio") == pytest.approx(resampled_means(pooled.values("throughput"), over))

    @pytest.mark.parametrize("seeds", [1, 3])
    def test_on_the_same_layouts_are_resampled_on_the_same_layouts(self, seeds: int) -> None:
        layouts = np.array([1.0, 100.0, 3.0, 10_000.0, 7.0])
        one = rows_of(links=layouts.tolist())
        other = Rows.pooled([rows_of(links=(layouts + 0.5).tolist())] * seeds)
        assert one.resampled("links").std() > 100
        assert other.resampled("links") - one.resampled("links") == pytest.approx(np.full(RESAMPLES, 0.5))

    def test_resampled_have_the_interval_of_the_cell(self) -> None:
        rows = rows_of(throughput=[60.0, 90.0, 31.0], target=[80.0, 100.0, 60.0], parity=[1.0, 0.5, 0.7])
        for metric in ("ratio", "parity"):
            cell = rows.cell(metric)
            assert interval(rows.resampled(metric)) == (cell.low, cell.high)


class Maker:
    """Rows that say which time they were made; how often it was asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> list[Row]:
        self.times += 1
        return [{"links": float(self.times)}, {"links": 0.1 + 0.2}]


class TestRowStore:
    def test_makes_rows_once_and_then_reads_them(self, tmp_path: Path) -> None:
        make, told = Maker(), list[str]()
        first = RowStore(tmp_path / "a" / "b", told.append).rows({"model": "x", "set": "y", "steps": 3}, make)
        # Another process, as it were, and the same description in another order.
        again = RowStore(tmp_path / "a" / "b", told.append).rows({"steps": 3, "set": "y", "model": "x"}, make)
        assert make.times == 1
        # All digits survive: a page that is made again is the same page.
        assert first.rows == again.rows == [{"links": 1.0}, {"links": 0.30000000000000004}]
        assert told == ["x, y"]

    def test_makes_them_anew_under_any_other_description(self, tmp_path: Path) -> None:
        store, make = RowStore(tmp_path), Maker()
        descriptions: list[dict[str, Any]] = [
            {"model": "x", "sampling": {"steps": 3}},
            {"model": "x", "sampling": {"steps": 4}},
            {"model": "y", "sampling": {"steps": 3}},
            {"model": "x"},
            {"model": "x", "sampling": None},
        ]
        kept = [store.rows(what, make).rows[0]["links"] for what in descriptions]
        assert kept == [1.0, 2.0, 3.0, 4.0, 5.0]
        assert [store.rows(what, make).rows[0]["links"] for what in descriptions] == kept
        assert len(list(tmp_path.iterdir())) == len(descriptions)

    def test_keeps_records_with_words_as_they_are(self, tmp_path: Path) -> None:
        records = [
            {"method": "netdiff", "setting": "best", "nodes": 16, "budget_ms": None, "ratio": 0.1 + 0.2},
            {"method": "σ²", "setting": "", "nodes": 32, "budget_ms": 20.0, "ratio": 1.0},
        ]
        told = list[str]()
        store = RowStore(tmp_path, told.append)
        assert store.records({"way": "frontier", "set": "y", "cpsat": 4}, lambda: records) == records
        kept = store.records({"way": "frontier", "set": "y", "cpsat": 4}, refuse)
        assert kept == records
        assert [type(value) for value in kept[0].values()] == [str, str, int, type(None), float]
        assert told == ["frontier, y"]
        assert store.records({"way": "frontier", "set": "y", "cpsat": 0}, list) == []
        assert store.records({"way": "frontier", "set": "y", "cpsat": 0}, refuse) == []

    def test_holds_rows_as_plain_numbers(self, tmp_path: Path) -> None:
        store = RowStore(tmp_path)
        first = store.rows({"model": "x"}, lambda: [{"links": np.float64(0.5), "valid": True}])
        assert [[type(value) for value in row.values()] for row in first.rows] == [[float, float]]
        assert store.rows({"model": "x"}, refuse) == first == Rows([{"links": 0.5, "valid": 1.0}])

    def test_makes_them_anew_once_rows_hold_something_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store, make = RowStore(tmp_path), Maker()
        store.rows({"model": "x"}, make)
        monkeypatch.setattr("manetdiff.reproduce.rows.VERSION", 10**6)
        store.rows({"model": "x"}, make)
        assert make.times == 2

    def test_makes_anew_what_another_program_measured(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        store, make = RowStore(tmp_path), Maker()
        store.rows({"model": "x"}, make)
        monkeypatch.setattr(rows, "program_digest", lambda: "another")
        store.rows({"model": "x"}, make)
        assert make.times == 2

    def test_knows_another_program_by_what_measures_and_not_by_what_shows(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        measuring = (
            "reproduce/rows.py",
            "reproduce/claims.py",
            "radio/a.py",
            "weights/a.safetensors",
            "sets/a.parquet",
        )
        showing = ("cli/a.py", "reproduce/agreement/a.py", "reproduce/figures/a.py", "formats/a.py", "radio/notes.md")
        for name in (*measuring, *showing):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("as it was")
        monkeypatch.setattr(rows, "__file__", str(tmp_path / "reproduce" / "rows.py"))
        digest = rows.program_digest.__wrapped__
        seen = [digest()]
        for name in showing:
            (tmp_path / name).write_text("shown in another way")
            assert digest() == seen[0], name
        for name in measuring:
            (tmp_path / name).write_text("measured in another way")
            assert digest() not in seen, name
            seen.append(digest())
        (tmp_path / "radio" / "a.py").rename(tmp_path / "radio" / "b.py")
        assert digest() not in seen

    def test_without_a_folder_keeps_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        store, make = RowStore(None), Maker()
        assert [store.rows({"model": "x"}, make).rows[0]["links"] for _ in range(2)] == [1.0, 2.0]
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "spoil",
        [
            pytest.param(lambda whole: whole[: len(whole) // 2], id="torn"),
            pytest.param(lambda whole: b"", id="empty"),
            pytest.param(lambda whole: b"\xff\xfe\x00", id="no text"),
            pytest.param(lambda whole: b"[1, 2]", id="no object"),
            pytest.param(lambda whole: b"7", id="a number"),
            pytest.param(lambda whole: b'{"rows": [{"links": 9.0}]}', id="of unknown origin"),
            pytest.param(lambda whole: b'{"what": "else", "rows": [{"links": 9.0}]}', id="of something else"),
            pytest.param(lambda whole: whole.replace(b'"rows"', b'"lines"'), id="without rows"),
        ],
    )
    def test_makes_anew_what_is_torn_or_foreign(self, tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
        store, make = RowStore(tmp_path), Maker()
        store.rows({"model": "x"}, make)
        (file,) = tmp_path.iterdir()
        file.write_bytes(spoil(file.read_bytes()))
        assert store.rows({"model": "x"}, make).rows[0] == {"links": 2.0}
        # And then they are whole again.
        assert store.rows({"model": "x"}, make).rows[0] == {"links": 2.0}
        assert [path.name for path in tmp_path.iterdir()] == [file.name]

    def test_keeps_nothing_of_rows_that_were_stopped_while_made(self, tmp_path: Path) -> None:
        store, make = RowStore(tmp_path), Maker()

        def stopped() -> Iterator[Row]:
            yield {"links": 7.0}
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.rows({"model": "x"}, stopped)
        assert list(tmp_path.iterdir()) == []
        assert store.rows({"model": "x"}, make).rows[0] == {"links": 1.0}

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
    def test_killed_while_writing_leaves_whole_rows_only(self, tmp_path: Path) -> None:
        code = f"""
import os, signal
from pathlib import Path
from manetdiff.reproduce.rows import RowStore
store = RowStore(Path({str(tmp_path)!r}))
store.rows({{"model": "whole"}}, lambda: [{{"links": 5.0}}])
Path.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)  # all is written but not yet in its place
store.rows({{"model": "cut"}}, lambda: [{{"links": 6.0}}])
"""
        killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        (kept,) = tmp_path.glob("*.json")
        assert json.loads(kept.read_text())["rows"] == [{"links": 5.0}]
        store, make = RowStore(tmp_path), Maker()
        assert store.rows({"model": "whole"}, make).rows == [{"links": 5.0}]
        assert make.times == 0
        assert store.rows({"model": "cut"}, make).rows[0] == {"links": 1.0}


def test_figures_are_those_of_the_paper() -> None:
    """Copied by hand from its tables and its text."""
    netdiff, features = paper.PROPERTIES["NetDiff (ACAM)"], paper.PROPERTIES["DDPM-GT with features"]
    assert netdiff == {"links": 22.42, "mean_length": 0.94, "link_throughput": 3.52, "antenna_saturation": 0.121}
    assert features == {"links": 22.96, "mean_length": 0.99, "link_throughput": 3.35, "antenna_saturation": 0.136}
    assert paper.PROPERTIES["GraphVAE"]["links"] == 75.9
    assert paper.PROPERTIES["GT-VAE"]["antenna_saturation"] == 0.314
    assert paper.PROPERTIES["DDPM-GT"]["link_throughput"] == 3.18
    assert paper.PROPERTIES["NetDiff (CAM)"]["mean_length"] == 0.97
    assert paper.PROPERTIES["target"]["antenna_saturation"] == 0.097
    assert list(paper.THROUGHPUT[16].values()) == [47.24, 52.89, 63.46, 75.43, 78.92, 79.33]
    assert list(paper.THROUGHPUT[32].values()) == [71.63, 153.54, 204.78, 258.90, 322.40, 340.52]
    assert list(paper.THROUGHPUT[16]) == ["omni", "Huang", "MST+greedy", "DDPM-GT", "NetDiff", "target"]
    assert list(paper.THROUGHPUT[32]) == list(paper.THROUGHPUT[16])
    assert paper.CONSTRAINTS == {
        "DDPM-GT with features": {"connected": 0.985, "node_saturation": 0.1162, "parity": 0.9859},
        "NetDiff (CAM)": {"connected": 0.9868, "node_saturation": 0.0798, "parity": 0.9863},
        "NetDiff (ACAM)": {"connected": 0.9868, "node_saturation": 0.0705, "parity": 0.9864},
    }
    assert paper.LOSSES["cross-entropy alone"] == {"node_saturation": 0.159, "parity": 0.6223}
    # Its own model is the same one in both tables.
    assert paper.LOSSES["with the penalties"].items() <= paper.CONSTRAINTS["NetDiff (ACAM)"].items()
    assert paper.TOKENS_GAIN == 0.008
    mixed, target = paper.THIRTY_TWO["NetDiff (60/40 mix)"], paper.THIRTY_TWO["target"]
    assert [mixed[name] for name in ("connected", "node_saturation", "parity")] == [0.9878, 0.1408, 0.9718]
    assert [mixed[name] for name in ("links", "mean_length", "link_throughput")] == [54.64, 0.77, 5.9]
    assert mixed["antenna_saturation"] == 0.144
    assert list(target.values()) == [48.22, 0.7, 6.26, 0.0991]
    standard, minor = paper.PARTIAL["standard"], paper.PARTIAL["minor"]
    assert [standard["links"], standard["antenna_saturation"], standard["continuity"]] == [22.79, 0.132, 0.3322]
    assert [minor["links"], minor["antenna_saturation"], minor["continuity"]] == [22.4, 0.1279, 0.3874]
    assert [standard[name] for name in ("connected", "node_saturation", "parity")] == [0.9883, 0.079, 0.9853]
    assert [minor[name] for name in ("connected", "node_saturation", "parity")] == [0.9887, 0.0712, 0.9866]
    assert paper.CONTINUITY_GAIN == {"standard": 0.21, "minor": 0.41}
    assert (paper.FULL_PASS_MS, paper.CORRECTION_MS) == ({"CPU": 2000.0, "GPU": 450.0}, 100.0)
    assert partial.CASES == (("standard", 0.3, 15), ("minor", 0.1, 10))


@pytest.mark.parametrize(
    "printed", [paper.PROPERTIES, paper.CONSTRAINTS, paper.LOSSES, paper.THIRTY_TWO, paper.PARTIAL]
)
def test_figures_have_the_units_of_our_measures(printed: dict[str, paper.Figures]) -> None:
    for one in printed.values():
        assert all(0 < value < 1 for name, value in one.items() if MEASURES[name].percent)


class TestLayouts:
    def test_are_the_first_of_the_set_and_no_more_than_asked_for(self, setting: Setting) -> None:
        full = dataclasses.replace(setting, quick=False)
        assert [layout.index for layout in setting.layouts(16)] == list(range(QUICK_LAYOUTS[16]))
        assert {len(layout.fleet) for layout in setting.layouts(32)} == {32}
        assert len(full.layouts(16)) == FULL_LAYOUTS[16] > QUICK_LAYOUTS[16]
        assert [len(one.layouts(16, most=5)) for one in (setting, full)] == [5, 5]
        assert [len(one.layouts(16, most=220)) for one in (setting, full)] == [QUICK_LAYOUTS[16], 220]

    def test_of_a_quick_run_have_every_family(self, setting: Setting) -> None:
        assert {layout.family for layout in setting.layouts(16)} == set(FAMILIES)


class TestSampled:
    def test_rows_are_the_metrics_of_samples_on_those_layouts(
        self, setting: Setting, few: list[SolvedLayout], made: list[str]
    ) -> None:
        weights = measured.weights_of("acam-123")
        sampling = dataclasses.replace(weights.sampling, steps=STEPS)
        topologies = sample_topologies(weights.build(), make_trials(few, weights.radio), sampling, 0, "cpu")
        rows = measured.sampled(setting, "acam-123", few, steps=STEPS)
        assert _without_times(rows) == _expected(few, topologies, weights.radio)
        assert all(row["milliseconds"] > 0 for row in rows.rows)
        assert measured.sampled(setting, "acam-123", few, steps=STEPS).rows == rows.rows
        assert len(made) == 1
        assert made[0].startswith("acam-123, 3 layouts of 16 nodes")

    def test_corrected_rows_are_valid_and_kept_apart_from_raw_ones(
        self, setting: Setting, few: list[SolvedLayout], made: list[str]
    ) -> None:
        # The poorest network, so that the raw ones cannot be valid by luck.
        raw = measured.sampled(setting, "graph-vae-123", few)
        corrected = measured.sampled(setting, "graph-vae-123", few, corrected=True)
        assert [row["valid"] for row in raw.rows] == [0.0] * 3
        assert [row["valid"] for row in corrected.rows] == [1.0] * 3
        assert len(made) == 2

    def test_another_radio_is_another_row_and_is_what_the_network_reads_and_the_judge_applies(
        self, setting: Setting, few: list[SolvedLayout], made: list[str]
    ) -> None:
        loud = Radio(sigma2=0.9)
        weights = measured.weights_of("acam-123")
        sampling = dataclasses.replace(weights.sampling, steps=STEPS)
        own = measured.sampled(setting, "acam-123", few, steps=STEPS)
        rows = measured.sampled(setting, "acam-123", few, radio=loud, steps=STEPS)
        topologies = sample_topologies(weights.build(), make_trials(few, loud), sampling, 0, "cpu")
        assert _without_times(rows) == _expected(few, topologies, loud) != _without_times(own)
        assert len(made) == 2

    def test_another_weights_file_another_sampling_or_other_layouts_are_another_row(
        self, setting: Setting, few: list[SolvedLayout], made: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        weights = measured.weights_of("acam-123")
        measured.sampled(setting, "acam-123", few, steps=1)
        measured.sampled(setting, "acam-123", few, steps=2)
        measured.sampled(setting, "acam-123", few, steps=1, tag="moved")
        measured.sampled(setting, "acam-123", few[:2], steps=1)
        assert len(made) == 4
        # The same name for a network that was trained again.
        name, tensor = max(weights.tensors.items(), key=lambda item: item[1].numel())
        retrained = dataclasses.replace(weights, tensors={**weights.tensors, name: tensor * 1.001})
        monkeypatch.setattr(measured, "weights_of", lambda name: retrained)
        measured.sampled(setting, "acam-123", few, steps=1)
        assert len(made) == 5
        measured.sampled(setting, "acam-123", few, steps=1)
        assert len(made) == 5


class TestSolved:
    def test_rows_are_the_metrics_of_the_solver_with_a_seed_for_each_layout(
        self, setting: Setting, few: list[SolvedLayout]
    ) -> None:
        rows = measured.solved(setting, "annealing", few, moves=200)
        topologies = [solve(one.fleet, method="annealing", moves=200, seed=k) for k, one in enumerate(few)]
        assert _without_times(rows) == _expected(few, topologies, Radio())

    def test_the_omnidirectional_protocol_is_scored_by_its_own_physics(
        self, setting: Setting, few: list[SolvedLayout]
    ) -> None:
        rows = measured.solved(setting, "omni", few)
        topologies = [solve(one.fleet, method="omni") for one in few]
        assert _without_times(rows) == _expected(few, topologies, Radio().omnidirectional())
        assert 0 < rows.cell("ratio").mean < 0.8

    def test_every_part_of_the_question_makes_another_row(
        self, setting: Setting, few: list[SolvedLayout], made: list[str]
    ) -> None:
        asked: list[dict[str, Any]] = [
            {"moves": 200},
            {"moves": 201},
            {"seconds": 0.001},
            {"seconds": 0.002},
            {"moves": 200, "radio": Radio(theta_max=np.pi / 4)},
            {"moves": 200, "tag": "moved"},
        ]
        rows = [measured.solved(setting, "annealing", few[:1], **one) for one in asked]
        assert len(made) == len(asked)
        measured.solved(setting, "reference", few[:1], moves=200)
        assert len(made) == len(asked) + 1
        # Scored by the radio that it was solved for.
        wide = solve(few[0].fleet, asked[4]["radio"], "annealing", moves=200)
        assert _without_times(rows[4]) == _expected(few[:1], [wide], asked[4]["radio"])


class TestTimed:
    def test_each_layout_has_its_own_time_and_the_first_call_does_not_count(
        self, setting: Setting, few: list[SolvedLayout]
    ) -> None:
        called: list[int] = []

        def slowly(fleet: Fleet, index: int) -> Topology:
            # As compiled code does, the first call takes far longer than all others.
            time.sleep(0.001 if called else 0.4)
            time.sleep(0.06 if index == 2 else 0.0)
            called.append(index)
            assert fleet is few[index].fleet
            return few[index].topology

        rows = measured.timed(setting, {"way": "slowly"}, few, slowly)
        assert called == [0, 0, 1, 2]
        spent = [row["milliseconds"] for row in rows.rows]
        assert 1 <= spent[0] < 300
        assert 61 <= spent[2] < 400
        assert _without_times(rows) == _expected(few, [layout.topology for layout in few], Radio())

    def test_a_network_left_in_parts_is_scored_without_a_word(self, setting: Setting, few: list[SolvedLayout]) -> None:
        def in_parts(fleet: Fleet, index: int) -> Topology:
            warnings.warn("in parts", DisconnectedWarning, stacklevel=2)
            return Topology(np.empty((0, 2), dtype=np.int64), np.zeros(len(fleet), dtype=np.int64))

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rows = measured.timed(setting, {"way": "in parts"}, few, in_parts)
        assert rows.cell("connected").mean == 0.0

    def test_is_scored_by_the_radio_asked_for(self, setting: Setting, few: list[SolvedLayout]) -> None:
        wide = Radio(theta_max=np.pi / 4)
        rows = measured.timed(setting, {"way": "given"}, few, lambda fleet, index: few[index].topology, wide)
        assert _without_times(rows) == _expected(few, [layout.topology for layout in few], wide)


def test_targets_have_all_of_their_own_throughput(few: list[SolvedLayout]) -> None:
    rows = measured.targets(few)
    ratio = rows.cell("ratio")
    assert (ratio.mean, ratio.low, ratio.high) == (1.0, 1.0, 1.0)
    assert rows.cell("throughput").mean == pytest.approx(np.mean([one.metrics["throughput"] for one in few]))
    assert rows.cell("valid").mean == 1.0
    assert "milliseconds" not in rows.rows[0]


class TestCommand:
    def test_writes_pages_and_documents_and_reads_kept_rows_the_second_time(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ran = run("tokens", "losses", "--quick", "--out", "a/b")
        assert (ran.code, ran.err) == (0, "")
        out = tmp_path / "a" / "b"
        names = ["README.md", "losses.json", "losses.md", "tokens.json", "tokens.md"]
        assert sorted(path.name for path in out.iterdir() if path.is_file()) == names
        # Seven models, of which the network with 16 tokens is the one with the penalties and is sampled once; four
        # that were trained briefly; and the two losses sampled as in the paper.
        kept = sorted((out / ".rows").iterdir())
        assert len(kept) == 7 + 4 + 2
        losses = (out / "losses.md").read_text(encoding="utf-8")
        assert "(paper: 15.90)" in losses
        assert "(paper: 98.64)" in losses
        # What is printed is what the pages hold.
        tokens = json.loads((out / "tokens.json").read_text(encoding="utf-8"))["tables"][0]["rows"]
        assert [row[0] for row in tokens] == ["none", "1", "2", "4", "8", "16"]
        printed = [line.split("  ")[0] for line in ran.out.splitlines()]
        assert [row[0] for row in tokens] == printed[1:7]
        assert (out / "losses.md").read_text(encoding="utf-8").count("%") > ran.out.count("(paper:") == 4

        written = {path: path.read_bytes() for path in (*kept, *(out / name for name in names))}
        monkeypatch.setattr(measured, "sample_topologies", refuse)
        again = run("tokens", "losses", "--quick", "--out", "a/b")
        assert (again.code, again.out) == (0, ran.out)
        assert sorted((out / ".rows").iterdir()) == kept
        assert all(path.read_bytes() == content for path, content in written.items())

    def test_measures_again_where_asked_to(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        sampled: list[int] = []

        def count(generator: object, trials: list[object], *others: object) -> list[Topology]:
            sampled.append(len(trials))
            return [Topology([(0, 1)], np.arange(16) % 2)] * len(trials)

        monkeypatch.setattr(measured, "sample_topologies", count)
        for options in ([], ["--fresh"]):
            assert run("losses", "--quick", "--out", "o", *options).code == 0
        # Two losses as we sample, as the paper does, and trained briefly; all of them twice.
        assert sampled == [2] * 6 * 2
        assert run("losses", "--quick", "--out", "o").code == 0
        assert len(sampled) == 12
        rows = json.loads((tmp_path / "o" / "losses.json").read_text(encoding="utf-8"))["tables"][0]["rows"]
        assert rows[0][1]["mean"] == 0.0  # one link saturates nobody

    def test_prints_where_the_results_are_as_json(self, run: Run, tmp_path: Path) -> None:
        ran = run("losses", "--quick", "--json", "--out", "o")
        document = json.loads(ran.out)
        assert document["pages"] == {"losses": str(Path("o") / "losses.md")}
        assert (tmp_path / document["pages"]["losses"]).is_file()
        assert document["made"]["run"] == "quick"
        assert {"version", "commit", "machine"} < set(document["made"])

    def test_takes_all_tables_and_figures_unless_told_which(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def drawn(folder: Path, quick: bool, report: Callable[[str], None]) -> dict[str, Path]:
            assert quick
            return {"b.png": folder / "b.png", "a.png": folder / "a.png"}

        monkeypatch.setattr(figures, "draw_figures", drawn)
        for name, one in list(STUDIES.items()):
            monkeypatch.setitem(STUDIES, name, dataclasses.replace(one, run=lambda setting: GRIDS, draw=None))
        whole = dataclasses.replace(STUDIES["throughput"], run=lambda setting: throughput_grids())
        monkeypatch.setitem(STUDIES, "throughput", whole)
        told = json.loads(run("--quick", "--json").out)["pages"]
        assert list(told) == [*STUDIES, "figures"]
        assert told["figures"] == [str(Path("results") / name) for name in ("a.png", "b.png")]
        assert all((Path("results") / f"{name}.md").is_file() for name in STUDIES)
        for asked in (["figures"], ["losses"], ["noise", "figures", "losses"]):
            told = json.loads(run(*asked, "--quick", "--json").out)["pages"]
            assert sorted(told) == sorted(asked)

    def test_measures_in_full_unless_told_to_be_quick(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        quick: list[bool] = []

        def note(setting: Setting) -> list[Grid]:
            quick.append(setting.quick)
            return GRIDS

        monkeypatch.setitem(STUDIES, "losses", dataclasses.replace(STUDIES["losses"], run=note))
        told = [json.loads(run("losses", "--json", *options).out)["made"]["run"] for options in ([], ["--quick"])]
        assert quick == [False, True]
        assert told == ["full", "quick"]

    def testrefuses_an_unknown_table_in_one_line_that_names_the_known_ones(self, run: Run, tmp_path: Path) -> None:
        ran = run("tokens", "tokkens", "table7", "--quick", "--out", "o")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("\n") == 1
        assert ran.err.startswith("manetdiff: no table tokkens, table7;")
        assert all(name in ran.err for name in (*STUDIES, "figures"))
        assert list(tmp_path.iterdir()) == []

    def test_lists_the_tables_and_makes_none(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(measured, "sample_topologies", refuse)
        ran = run("--list")
        assert (ran.code, ran.err) == (0, "")
        shown = {line.split()[0]: line for line in ran.out.splitlines()}
        assert [name for name in shown if name != "name"] == [*STUDIES, "figures"]
        assert all(one.title in shown[name] for name, one in STUDIES.items())
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("out", ["taken", "taken/below", "taken/far/below"])
    def test_says_in_one_line_that_a_folder_cannot_be_made(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
    ) -> None:
        (tmp_path / "taken").write_text("a file")
        # Before anything is measured: it may take hours.
        monkeypatch.setattr(measured, "sample_topologies", refuse)
        ran = run("losses", "--quick", "--out", out)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("\n") == 1
        assert ran.err.startswith(f"manetdiff: {out}: the folder cannot be made: ")
        assert (tmp_path / "taken").read_text() == "a file"

    def test_shows_the_pictures_of_a_study_on_its_page_and_on_the_first_one(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def draw(setting: Setting, folder: Path) -> list[str]:
            assert setting.quick
            (folder / "frontier.png").write_bytes(b"a picture")
            return ["frontier.png"]

        one = dataclasses.replace(STUDIES["frontier"], run=lambda setting: GRIDS, draw=draw)
        monkeypatch.setitem(STUDIES, "frontier", one)
        assert run("frontier", "--quick", "--out", "o").code == 0
        for name in ("frontier.md", "README.md"):
            assert "](frontier.png)" in (tmp_path / "o" / name).read_text(encoding="utf-8")

    def test_leaves_what_needs_a_gpu_as_it_is_where_there_is_none(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        losses = dataclasses.replace(STUDIES["losses"], run=lambda setting: GRIDS)
        monkeypatch.setitem(STUDIES, "losses", losses)
        out = tmp_path / "o"
        out.mkdir()
        earlier = {"inference-gpu.md": "from a machine with one", "inference-gpu.json": json.dumps({"made": OF_THEN})}
        for name, text in earlier.items():
            (out / name).write_text(text)
        ran = run("inference-gpu", "losses", "--quick", "--json", "--out", "o")
        assert ran.code == 0
        assert ran.err == "inference-gpu is left as it is: there is no GPU here that PyTorch can use\n"
        assert list(json.loads(ran.out)["pages"]) == ["losses"]
        assert {name: (out / name).read_text() for name in earlier} == earlier
        first = (out / "README.md").read_text(encoding="utf-8")
        assert "(inference-gpu.md): full run, commit 0490432\n" in first
        assert "(losses.md): quick run" in first

    def test_writes_no_page_of_what_never_could_be_measured(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        ran = run("inference-gpu", "--quick", "--out", "o")
        assert (ran.code, ran.out, ran.err.count("\n")) == (0, "", 1)
        assert [path.name for path in (tmp_path / "o").iterdir()] == ["README.md"]
        assert "inference-gpu" not in (tmp_path / "o" / "README.md").read_text(encoding="utf-8")


def test_weights_that_come_with_the_sources_only_are_said_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("manetdiff.weights.finder.STUDIES", tmp_path)
    with pytest.raises(UnavailableError, match="acam-wide-123 come with the sources"):
        measured.weights_of.__wrapped__("acam-wide-123")
    shutil.copy(Path(__file__).parents[2] / "studies" / "acam-wide-123.safetensors", tmp_path)
    assert measured.weights_of.__wrapped__("acam-wide-123").tensors
