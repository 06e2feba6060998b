from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from manetdiff.cli.app import app
from manetdiff.data import load_benchmark
from manetdiff.errors import SolverError
from manetdiff.evaluate.baselines import baselines
from manetdiff.evaluate.markdown import markdown_table
from manetdiff.evaluate.move_rates import move_rates
from manetdiff.evaluate.over_time import BUDGETS_MS, PRESET, RAW, Point, over_time, seconds_to_reach, standings
from manetdiff.evaluate.presets import preset_scores
from manetdiff.radio import Radio
from manetdiff.runtime.effort import PRESETS
from manetdiff.runtime.model import load
from manetdiff.topology import metrics


@pytest.mark.parametrize(("name", "nodes", "count"), [("bench16", 16, 1000), ("bench32", 32, 500)])
def test_benchmark_targets_are_what_the_documentation_says(name: str, nodes: int, count: int) -> None:
    layouts = load_benchmark(name)
    assert len(layouts) == count
    scores = [metrics(layout.topology, layout.fleet, Radio()) for layout in layouts]
    mean = {key: np.mean([one[key] for one in scores]) for key in scores[0]}
    assert all(len(layout.fleet) == nodes for layout in layouts)
    assert mean["connected"] == 1.0
    assert mean["parity"] == 1.0
    if name == "bench16":
        assert 20 <= mean["links"] <= 23
        assert 0.78 <= mean["mean_length"] <= 0.92
        assert 3.4 <= mean["link_throughput"] <= 3.9


def test_baselines_are_scored_against_the_target() -> None:
    target, greedy, omni = baselines("bench16", ["greedy", "omni"], layouts=11)
    assert target.ratio == 1.0
    assert 0.5 < greedy.ratio < 1.0
    assert greedy.metrics["antenna_saturation"] == 0.0
    assert omni.ratio < greedy.ratio
    assert greedy.layouts == 11
    _, short, plain = baselines("bench16", layouts=2, moves=300)
    assert (short.method, plain.method) == ("reference, 300 moves", "annealing, 300 moves")
    with pytest.raises(SolverError, match="'magic'"):
        baselines("bench16", ["magic"], layouts=1)


def test_incremental_scores_are_faster_and_the_same() -> None:
    rates = move_rates(load_benchmark("bench32")[:3], seconds=0.6)
    assert rates.difference < 1e-9
    # Far below what is measured on a quiet machine, so that a busy one does not fail it.
    assert rates.ratio > 3


@pytest.mark.slow
def test_incremental_scoring_is_ten_times_faster_at_32_nodes() -> None:
    assert move_rates(load_benchmark("bench32")[:22], seconds=6.0).ratio >= 10


def test_over_time_covers_every_method_and_budget() -> None:
    points = over_time(load_benchmark("bench16")[:1], cpsat_layouts=1)
    solvers = {"greedy", "mst-greedy", "huang", "annealing", "reference", "cpsat"}
    assert {point.method for point in points} == {*solvers, PRESET, RAW}
    assert [point.setting for point in points if point.method == PRESET] == list(PRESETS)
    budgets = [point.budget_ms for point in points if point.method == "reference"]
    assert budgets == list(BUDGETS_MS)
    assert all(0.5 < point.ratio < 1.01 for point in points)


def _point(method: str, seconds: float, ratio: float, budget_ms: float | None = None) -> Point:
    return Point(method, "fast" if method == PRESET else "", 16, budget_ms, seconds, ratio, 1.0, 1.0)


def test_at_each_budget_the_best_preset_that_keeps_it_stands_against_the_best_of_the_others() -> None:
    points = [
        _point(PRESET, 0.004, 0.97),
        _point(PRESET, 0.060, 0.99),
        _point("reference", 0.0052, 0.96, 5),
        _point("reference", 0.0498, 0.98, 50),
        _point("greedy", 0.001, 0.90),
    ]
    found = {one.budget_ms: (one.ratio, one.other, one.other_ratio) for one in standings(points)}
    assert found[5] == (0.97, "reference", 0.96)
    assert found[50] == (0.97, "reference", 0.98)  # the better preset is too slow by 10 ms
    assert found[100] == (0.99, "reference", 0.98)


def test_the_time_to_a_share_of_t_is_read_between_points() -> None:
    points = [_point("annealing", 0.01, 0.96), _point("annealing", 0.04, 0.98)]
    assert seconds_to_reach(points, "annealing", 16, 0.97) == pytest.approx(0.02)
    assert seconds_to_reach(points, "annealing", 16, 0.95) == pytest.approx(0.01)
    assert seconds_to_reach(points, "annealing", 16, 0.99) is None


def test_markdown_tables() -> None:
    assert markdown_table(("a", "b"), [("x", "1")]) == "| a | b |\n| --- | ---: |\n| x | 1 |\n"


def test_the_commands_print_and_write(tmp_path: Path) -> None:
    page = tmp_path / "baselines.md"
    result = CliRunner().invoke(
        app, ["evaluate", "bench32", "--method", "greedy", "--layouts", "2", "--markdown", str(page)]
    )
    assert result.exit_code == 0, result.output
    assert "greedy (Algorithm 1)" in result.output
    assert page.read_text().startswith("## bench32\n\n| method | layouts |")


class TestPresets:
    def test_are_scored_beside_the_target_with_their_time(self) -> None:
        rows = preset_scores("bench16", ["instant", "fast"], layouts=3, seed=4)
        assert [row.method for row in rows] == ["target", "instant", "fast"]
        assert rows[0].seconds is None
        model = load(threads=1)
        solved = load_benchmark("bench16")[:3]
        for row in rows[1:]:
            made = [model.generate(one.fleet, preset=row.method, seed=4 + k) for k, one in enumerate(solved)]
            expected = np.mean([topology.report.throughput for topology in made])
            assert row.metrics["throughput"] == pytest.approx(expected)
            assert row.seconds is not None
            assert 0 < row.seconds < 5

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            (["--preset", "quick"], "unknown preset 'quick'"),
            (["--preset", "fast", "--weights", "netdiff"], "without --weights"),
            (["--preset", "fast", "--steps", "3"], "go with --weights"),
            (["--seed", "3"], "--seed goes with"),
        ],
    )
    def test_of_no_sense_are_refused_in_one_line(self, asked: list[str], said: str) -> None:
        result = CliRunner().invoke(app, ["evaluate", "bench16", "--layouts", "1", *asked], catch_exceptions=True)
        assert said in str(result.exception)
