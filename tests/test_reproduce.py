"""The paper's tables made again: intervals, kept rows, what a row depends on, pages, and the command."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from manetdiff import __version__
from manetdiff.cli import app
from manetdiff.data import SolvedLayout, load_benchmark
from manetdiff.diffusion.weights import Weights, packaged_weights
from manetdiff.errors import DisconnectedWarning
from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.reproduce import figures, generalisation, measured, pages, paper, partial, study, throughput
from manetdiff.reproduce.catalogue import STUDIES
from manetdiff.reproduce.cells import MEASURES, Cell, Measure
from manetdiff.reproduce.drawn import DrawnLayouts
from manetdiff.reproduce.raw_samples import cells, labels
from manetdiff.reproduce.resampling import RESAMPLES, bootstrap
from manetdiff.reproduce.rows import Row, Rows, RowStore
from manetdiff.reproduce.study import FULL_LAYOUTS, QUICK_LAYOUTS, Grid, Setting, Study
from manetdiff.scenarios import FAMILIES, move_by
from manetdiff.solvers import solve
from manetdiff.topology import METRICS, Topology, continuity, metrics
from manetdiff.training.validation import make_trials, sample_topologies

SHARE = Measure("share", "share", percent=True)
# Denoising steps: what is tested here does not depend on how good the samples are.
STEPS = 3


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]
cached_benchmark = lru_cache(load_benchmark)


def _in_few_steps(name: str) -> Weights:
    weights = packaged_weights(name)
    return dataclasses.replace(weights, sampling=dataclasses.replace(weights.sampling, steps=STEPS))


in_few_steps = lru_cache(_in_few_steps)


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two layouts of each size, few steps, and the sets read once."""
    for nodes in QUICK_LAYOUTS:
        monkeypatch.setitem(QUICK_LAYOUTS, nodes, 2)
    monkeypatch.setattr(study, "load_benchmark", cached_benchmark)
    monkeypatch.setattr(measured, "weights_of", in_few_steps)


@pytest.fixture(scope="module")
def few() -> list[SolvedLayout]:
    return cached_benchmark("bench16")[:3]


@pytest.fixture
def made() -> list[str]:
    """What the store of `setting` had to make, in order."""
    return []


@pytest.fixture
def setting(tmp_path: Path, made: list[str]) -> Setting:
    return Setting(True, RowStore(tmp_path / "rows", made.append))


@pytest.fixture
def run(hurried: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """The command line in this process and in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["manetdiff", "reproduce", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        with pytest.raises(SystemExit) as caught:
            app.main()
        code = caught.value.code
        return Ran(0 if code is None else int(code), *capfd.readouterr())

    return call


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

    def test_makes_them_anew_once_rows_hold_something_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store, make = RowStore(tmp_path), Maker()
        store.rows({"model": "x"}, make)
        monkeypatch.setattr("manetdiff.reproduce.rows.VERSION", 10**6)
        store.rows({"model": "x"}, make)
        assert make.times == 2

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


class TestGeneralisation:
    def test_no_noise_is_the_same_fleet(self, few: list[SolvedLayout]) -> None:
        fleet = few[0].fleet
        same = generalisation._blurred(fleet, 0.0, 4)
        assert np.array_equal(same.positions, fleet.positions)
        assert np.array_equal(same.yaw, fleet.yaw)
        assert same.ids == fleet.ids

    def test_noise_is_in_units_of_the_fleets_spread(self) -> None:
        fleet = Fleet(np.random.default_rng(2).normal(scale=(300.0, 20.0), size=(400, 2)), np.linspace(0.0, 3.0, 400))
        moved = generalisation._blurred(fleet, 0.1, 3).positions - fleet.positions
        assert float(np.sqrt(np.mean(moved**2))) == pytest.approx(0.1 * fleet.spread, rel=0.1)
        # In all directions, and the same fleet in kilometres is moved by as much.
        assert np.abs(moved.mean(0)).max() < 0.02 * fleet.spread
        larger = fleet.replace(positions=1000 * fleet.positions)
        assert generalisation._blurred(larger, 0.1, 3).positions - larger.positions == pytest.approx(1000 * moved)
        assert np.array_equal(generalisation._blurred(fleet, 0.1, 3).yaw, fleet.yaw)

    def test_noise_is_the_same_each_time_and_another_for_each_layout(self, few: list[SolvedLayout]) -> None:
        first, again, other = (generalisation._blurred(few[0].fleet, 0.3, seed).positions for seed in (1, 1, 2))
        assert np.array_equal(first, again)
        assert not np.allclose(first, other)

    def test_drawn_layouts_are_the_same_each_time_with_the_families_in_turn(self) -> None:
        first, again = DrawnLayouts(8, 3, Radio()), DrawnLayouts(8, 2, Radio())
        assert [(one.index, one.family, len(one.fleet)) for one in first] == [(k, FAMILIES[k], 8) for k in range(3)]
        for one, other in zip(first, again, strict=False):
            assert np.array_equal(one.fleet.positions, other.fleet.positions)
            assert one.topology == other.topology
            assert one.metrics == other.metrics
        # The second time that a family's turn comes, it is another layout of it.
        turns = DrawnLayouts(4, len(FAMILIES) + 1, Radio())
        assert turns[0].family == turns[-1].family
        assert not np.allclose(turns[0].fleet.positions, turns[-1].fleet.positions)
        nine = DrawnLayouts(9, 1, Radio())
        assert not np.allclose(nine[0].fleet.positions[:8], first[0].fleet.positions)

    def test_drawn_layouts_are_solved_and_scored_for_the_radio(self) -> None:
        wide = Radio(theta_max=np.pi / 4)
        (layout,) = DrawnLayouts(10, 1, wide)
        assert layout.metrics == metrics(layout.topology, layout.fleet, wide)
        assert layout.metrics["valid"] == 1.0
        best_for_others = solve(layout.fleet, Radio(), moves=15_000)
        assert layout.metrics["throughput"] > metrics(best_for_others, layout.fleet, wide)["throughput"]

    def test_each_family_and_radio_is_asked_for_by_its_own_layouts(
        self, tiny: Setting, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[tuple[str, set[str], dict[str, Any]]] = []

        def note(setting: Setting, name: str, layouts: list[SolvedLayout], **others: Any) -> Rows:
            asked.append((name, {layout.family for layout in layouts}, others))
            radio = others.get("radio", Radio())
            # The target is the radio's own.
            assert all(one.metrics == pytest.approx(metrics(one.topology, one.fleet, radio)) for one in layouts)
            return measured.targets(layouts)

        monkeypatch.setattr(generalisation, "sampled", note)
        STUDIES["families"].run(tiny)
        # Without the tag, one family's rows would be taken for another's: as many layouts of as many nodes.
        assert asked == [
            (name, {family}, {"tag": family})
            for family in sorted({one.family for one in cached_benchmark("bench16")[:2]}, key=FAMILIES.index)
            for name in ("acam-123", "left-out-123")
        ]
        asked.clear()
        STUDIES["radios"].run(tiny)
        assert [others["radio"] for _, _, others in asked] == list(generalisation.RADIOS.values())

    def test_blurred_positions_cost_throughput(self, tiny: Setting) -> None:
        (grid,) = STUDIES["noise"].run(tiny)
        (_, (exact, *_)), (_, (blurred, *_)) = grid.rows
        assert isinstance(exact, Cell)
        assert isinstance(blurred, Cell)
        assert 0.9 < exact.mean < 1.05
        assert blurred.mean < exact.mean - 0.05

    def test_families_left_out_are_those_the_second_model_did_not_see(self) -> None:
        assert set(generalisation.LEFT_OUT) < set(FAMILIES)
        card = json.dumps(measured.weights_of("left-out-123").card)
        assert all(family in card for family in generalisation.LEFT_OUT)


class TestPartial:
    def test_moved_rows_are_scored_where_the_fleet_is_now(
        self, setting: Setting, few: list[SolvedLayout], made: list[str]
    ) -> None:
        before: list[Fleet] = []

        def nothing_changed(old: Topology, previous: Fleet, fleet: Fleet) -> Topology:
            before.append(previous)
            return old

        rows = partial._moved(setting, "none", 0.3, few, nothing_changed)
        assert before == [few[0].fleet, *(layout.fleet for layout in few)]
        for index, (row, layout) in enumerate(zip(rows.rows, few, strict=True)):
            fleet = move_by(layout.fleet, 0.3, np.random.default_rng(index))
            expected = metrics(layout.topology, fleet)
            assert {name: row[name] for name in METRICS} == expected
            assert row["continuity"] == 1.0
            assert row["target"] == metrics(solve(fleet, method="reference", moves=20_000), fleet)["throughput"]
        for way, movement in (("none", 0.3), ("none", 0.1), ("other", 0.3)):
            partial._moved(setting, way, movement, few, nothing_changed)
        assert len(made) == 3

    def test_continuity_is_with_the_topology_before(self, setting: Setting, few: list[SolvedLayout]) -> None:
        fewer = [Topology(layout.topology.links[:5], layout.topology.parity) for layout in few]
        answers = iter([fewer[0], *fewer])
        rows = partial._moved(setting, "fewer", 0.1, few, lambda old, previous, fleet: next(answers))
        expected = [continuity(layout.topology, one) for layout, one in zip(few, fewer, strict=True)]
        assert [row["continuity"] for row in rows.rows] == expected
        assert max(expected) < 0.5

    def test_a_gain_is_what_is_more_than_the_others(self) -> None:
        one, other = (Rows([{"continuity": share * k} for k in (1.0, 2.0, 5.0)]) for share in (0.12, 0.1))
        assert partial._gain(one, other) == pytest.approx((0.2, 0.2, 0.2))

    def test_ways_are_compared_with_generating_anew(self, tiny: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
        def rows(setting: Setting, way: str, *others: object) -> Rows:
            share, spent = (0.2, 100.0) if "anew" in way else (0.3, 25.0) if "raw" in way else (0.4, 10.0)
            known = dict.fromkeys((*METRICS, "target"), 1.0)
            return Rows([{**known, "continuity": share, "milliseconds": spent}])

        monkeypatch.setattr(partial, "_moved", rows)
        ways, gains = STUDIES["partial"].run(tiny)
        for (mode, (gain, faster, by_default)), told in zip(gains.rows, (0.21, 0.41), strict=True):
            assert isinstance(gain, Cell)
            assert gain.mean == pytest.approx(0.5), mode
            assert gain.paper == told
            assert (faster, by_default) == ("4.0 times", "10.0 times")
        labels_of = [label for label, _ in ways.rows]
        assert labels_of[::3] == ["standard, 0.3, 15 steps", "minor, 0.1, 10 steps"]
        # The paper's figures stand beside its own number of steps alone.
        found = [[cell.paper for cell in row if isinstance(cell, Cell) and cell.paper] for _, row in ways.rows]
        assert [len(beside) for beside in found] == [8, 0, 0, 8, 0, 0]
        assert (found[0][0], found[3][0]) == (22.79, 22.4)


GRIDS = [
    Grid(
        "First table",
        ["model", "links", "parity", "note"],
        [
            ("ours", [Cell(MEASURES["links"], 22.5, 21.0, 24.0, 22.42), Cell(MEASURES["parity"], 0.75), "once"]),
            ("theirs", [Cell(MEASURES["links"], 30.0), Cell(MEASURES["parity"], 0.5, 0.4, 0.6, 0.9864), "twice"]),
        ],
        "Read it with care.",
    ),
    Grid("Second table", ["model", "T / target"], [("σ² = 0.9", [Cell(MEASURES["ratio"], 0.99)])]),
]
STUDY = Study("example", "An example", "The paper says so.", lambda setting: GRIDS)
PLACE = {"version": "9.9", "commit": "abc1234", "machine": "Abacus, 2 cores", "run": "quick"}


class TestPages:
    def test_a_page_has_every_cell_in_its_place_and_where_it_was_made(self, tmp_path: Path) -> None:
        page = pages.write_study(STUDY, GRIDS, tmp_path, PLACE)
        assert page == tmp_path / "example.md"
        lines = page.read_text(encoding="utf-8").splitlines()
        assert lines[0] == "# An example"
        assert "The paper: The paper says so." in lines
        first = lines.index("## First table")
        assert lines[first + 2 : first + 8] == [
            "| model | links | parity | note |",
            "| --- | ---: | ---: | ---: |",
            "| ours | 22.50 [21.00, 24.00] (paper: 22.42) | 75.00 % | once |",
            "| theirs | 30.00 | 50.00 [40.00, 60.00] % (paper: 98.64) | twice |",
            "",
            "Read it with care.",
        ]
        second = lines.index("## Second table")
        assert second > first
        assert lines[second + 4] == "| σ² = 0.9 | 99.00 % |"
        assert "commit abc1234" in lines[-1]
        assert "Abacus, 2 cores" in lines[-1]
        assert "manetdiff reproduce example" in lines[-1]
        assert "--quick" in lines[-1]
        assert "--quick" not in pages._page(STUDY, GRIDS, {**PLACE, "run": "full"})

    def test_the_document_has_them_as_numbers(self, tmp_path: Path) -> None:
        pages.write_study(STUDY, GRIDS, tmp_path, PLACE)
        document = json.loads((tmp_path / "example.json").read_text(encoding="utf-8"))
        assert (document["study"], document["claim"], document["made"]) == ("example", "The paper says so.", PLACE)
        first, second = document["tables"]
        assert (first["title"], first["note"]) == ("First table", "Read it with care.")
        assert first["columns"] == ["model", "links", "parity", "note"]
        label, links, parity, note = first["rows"][0]
        assert (label, note) == ("ours", "once")
        assert links == {"metric": "links", "mean": 22.5, "low": 21.0, "high": 24.0, "paper": 22.42}
        assert parity == {"metric": "parity", "mean": 0.75, "low": None, "high": None, "paper": None}
        assert [row[0] for row in first["rows"]] == ["ours", "theirs"]
        assert second["rows"][0][1]["mean"] == 0.99
        assert sorted(path.name for path in tmp_path.iterdir()) == ["example.json", "example.md"]

    def test_say_which_commit_and_machine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[list[str], Path]] = []

        def git(command: list[str], cwd: Path, **others: Any) -> subprocess.CompletedProcess[str]:
            asked.append((command, cwd))
            return subprocess.CompletedProcess(command, 0, "0490432\n", "")

        monkeypatch.setattr(subprocess, "run", git)
        place = pages.where_it_ran(True)
        assert place["commit"] == "0490432"
        # Of the sources, not of whatever folder the command is run in.
        assert asked[0][1] == Path(pages.__file__).parent
        assert place["version"] == __version__
        assert f"{os.cpu_count()} cores" in place["machine"]
        assert platform.python_version() in place["machine"]
        assert not place["machine"].startswith(",")
        assert (place["run"], pages.where_it_ran(False)["run"]) == ("quick", "full")

    @pytest.mark.parametrize(
        "error",
        [FileNotFoundError("git"), subprocess.CalledProcessError(128, "git"), subprocess.TimeoutExpired("git", 1)],
    )
    def test_say_so_where_there_is_no_commit(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        def git(*arguments: Any, **others: Any) -> None:
            raise error

        monkeypatch.setattr(subprocess, "run", git)
        assert pages.where_it_ran(False)["commit"] == "unknown"


class TestCommand:
    def test_writes_pages_and_documents_and_reads_kept_rows_the_second_time(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ran = run("tokens", "losses", "--quick", "--out", "a/b")
        assert (ran.code, ran.err) == (0, "")
        out = tmp_path / "a" / "b"
        names = ["losses.json", "losses.md", "tokens.json", "tokens.md"]
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
        monkeypatch.setattr(measured, "sample_topologies", _refuse)
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
        assert sampled == [2] * 4
        assert run("losses", "--quick", "--out", "o").code == 0
        assert sampled == [2] * 4
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
            monkeypatch.setitem(STUDIES, name, dataclasses.replace(one, run=lambda setting: GRIDS))
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

    def test_refuses_an_unknown_table_in_one_line_that_names_the_known_ones(self, run: Run, tmp_path: Path) -> None:
        ran = run("tokens", "tokkens", "table7", "--quick", "--out", "o")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("\n") == 1
        assert ran.err.startswith("manetdiff: no table tokkens, table7;")
        assert all(name in ran.err for name in (*STUDIES, "figures"))
        assert list(tmp_path.iterdir()) == []

    def test_lists_the_tables_and_makes_none(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(measured, "sample_topologies", _refuse)
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
        monkeypatch.setattr(measured, "sample_topologies", _refuse)
        ran = run("losses", "--quick", "--out", out)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("\n") == 1
        assert ran.err.startswith(f"manetdiff: {out}: the folder cannot be made: ")
        assert (tmp_path / "taken").read_text() == "a file"


def _refuse(*arguments: object, **others: object) -> None:
    raise AssertionError("measured, although it should not have been")


def _check(name: str, grids: list[Grid]) -> None:
    """What holds for every table, whatever was measured."""
    assert grids
    for grid in grids:
        assert grid.rows
        found = [label for label, _ in grid.rows]
        assert name == "inference" or len(set(found)) == len(found)
        for label, row in grid.rows:
            assert label
            assert len(row) == len(grid.columns) - 1, (grid.title, label)
            for cell, column in zip(row, grid.columns[1:], strict=True):
                if isinstance(cell, str):
                    continue
                assert cell.low is not None
                assert cell.high is not None
                # Rounding alone may part them where all layouts agree.
                assert cell.low - 1e-9 <= cell.mean <= cell.high + 1e-9
                shares = ("ratio", "continuity")
                assert not cell.measure.percent or cell.measure.metric in shares or 0 <= cell.mean <= 1
                known = [one.label for one in MEASURES.values() if column == one.label]
                assert known in ([], [cell.measure.label]), (grid.title, column)
                if label.split(" (")[0] == "target" and cell.measure.metric == "ratio":
                    assert cell.mean == 1.0


def test_the_catalogue_has_every_study_once_in_the_order_of_the_paper() -> None:
    assert list(STUDIES) == [
        "properties",
        "throughput",
        "constraints",
        "losses",
        "tokens",
        "thirty-two",
        "partial",
        "steps",
        "inference",
        "families",
        "sizes",
        "radios",
        "noise",
    ]
    assert all(name == one.name and one.title and one.claim for name, one in STUDIES.items())


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows that the studies below share, as those of one run of the command do."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def tiny(hurried: None, monkeypatch: pytest.MonkeyPatch, kept: Path) -> Setting:
    """As little as every study can be run with; the loops over sizes, radios and movements are cut short as well."""
    some = {layout.family for layout in cached_benchmark("bench16")[:2]}
    monkeypatch.setattr(generalisation, "FAMILIES", [family for family in FAMILIES if family in some])
    monkeypatch.setattr(generalisation, "SIZES", (8, 20))
    monkeypatch.setattr(generalisation, "RADIOS", dict(list(generalisation.RADIOS.items())[1:3]))
    monkeypatch.setattr(generalisation, "POSITION_NOISE", (0.0, 0.3))
    monkeypatch.setattr(partial, "STEPS", (1, 5))
    monkeypatch.setattr(partial, "MOVEMENTS", (0.1, 0.3))
    # Building its models takes seconds; the run of everything, which is slow, has it.
    monkeypatch.setattr(throughput, "find_spec", lambda name: None)
    monkeypatch.setitem(QUICK_LAYOUTS, 32, 1)
    return Setting(True, RowStore(kept))


@pytest.mark.parametrize("name", [name for name in STUDIES if name != "inference"])
def test_every_study_runs(name: str, tiny: Setting, tmp_path: Path) -> None:
    grids = STUDIES[name].run(tiny)
    _check(name, grids)
    page = pages.write_study(STUDIES[name], grids, tmp_path, PLACE).read_text(encoding="utf-8")
    assert "nan" not in page
    document = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert [len(table["rows"]) for table in document["tables"]] == [len(grid.rows) for grid in grids]


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("properties", paper.PROPERTIES),
        ("constraints", paper.CONSTRAINTS),
        ("losses", paper.LOSSES),
        ("thirty-two", paper.THIRTY_TWO),
    ],
)
def test_the_papers_figures_stand_beside_what_they_are_of(
    name: str, printed: dict[str, paper.Figures], tiny: Setting
) -> None:
    table = dict(STUDIES[name].run(tiny)[0].rows)
    assert set(printed) <= set(table)
    for label, row in table.items():
        shown = {cell.measure.metric: cell.paper for cell in row if isinstance(cell, Cell) and cell.paper is not None}
        assert shown == printed.get(label, {}), label


def test_the_papers_throughput_stands_beside_each_method(tiny: Setting) -> None:
    for grid, nodes in zip(STUDIES["throughput"].run(tiny), (16, 32), strict=True):
        firsts = [row[0] for _, row in grid.rows]
        shown = [cell.paper for cell in firsts if isinstance(cell, Cell)]
        assert shown == [*paper.THROUGHPUT[nodes].values(), None, None]
        means = [cell.mean for cell in firsts if isinstance(cell, Cell)]
        # Annealing has as long as NetDiff takes, in hundredths of a second.
        own = grid.rows[4][1][-1]
        assert isinstance(own, Cell)
        assert grid.rows[6][0].startswith(f"annealing, {1e3 * round(own.mean / 1e3, 2):.0f} ms (")
        # Omnidirectional, Huang-style, MST+greedy, …, the target: the order that the paper reports.
        assert means[0] < means[1] < means[2] < means[5]


@pytest.mark.slow
def test_a_quick_run_of_everything_is_whole_and_the_second_one_keeps_every_row(tmp_path: Path) -> None:
    told: list[str] = []
    setting = Setting(True, RowStore(tmp_path, told.append))
    first = {name: one.run(setting) for name, one in STUDIES.items()}
    for name, grids in first.items():
        _check(name, grids)
    assert [label for label, _ in first["sizes"][0].rows] == [f"{nodes}" for nodes in generalisation.SIZES]
    assert len(first["families"][0].rows) == len(FAMILIES)
    assert "CP-SAT, 2 s (2 layouts)" in [label for label, _ in first["throughput"][0].rows]
    told.clear()
    for name, one in STUDIES.items():
        if name != "inference":  # times only, which are taken anew
            assert one.run(setting) == first[name]
    assert told == []


def test_times_of_inference_are_of_a_whole_pass(tiny: Setting) -> None:
    (grid,) = STUDIES["inference"].run(tiny)
    _check("inference", [grid])
    spent = {(label, row[0]): row[1] for label, row in grid.rows}
    assert len(spent) == 8
    full, part = spent["full, 50 steps", "16"], spent["partial, 15 steps", "16"]
    correction = spent["correction", "16"]
    assert isinstance(full, Cell)
    assert isinstance(part, Cell)
    assert isinstance(correction, Cell)
    assert (full.paper, correction.paper) == (2000.0, 100.0)
    # 15 steps of 50, and no step at all; far from what is measured, so that a busy machine does not fail it.
    assert correction.mean < part.mean < full.mean / 1.5
    # In milliseconds: no machine takes 50 steps in three of them, nor a minute for them.
    assert 3 < full.mean < 60_000


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_commit_is_that_of_the_sources() -> None:
    folder = Path(pages.__file__).parent
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    commit = pages.where_it_ran(True)["commit"]
    assert asked.stdout.startswith(commit) if asked.returncode == 0 else commit == "unknown"
