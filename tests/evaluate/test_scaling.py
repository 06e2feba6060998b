from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from manetdiff.cli.app import app
from manetdiff.data.benchmark_radios import SPACING
from manetdiff.errors import SolverError
from manetdiff.evaluate import scaling
from manetdiff.evaluate.memory import array_bytes, most_memory
from manetdiff.evaluate.scaling import FLEETS, METHODS, POLISHED, SHARES, Scale, exponent, fleets, scales
from manetdiff.layout import Layout
from manetdiff.solvers.workbench import Workbench

SMALL = (6, 8, 12)


@pytest.fixture(scope="module", autouse=True)
def hasty() -> Iterator[None]:
    """Times need not be good ones here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "SECONDS", 1e-3)
        yield


@pytest.fixture(scope="module")
def rows(hasty: None) -> list[Scale]:
    return scales(SMALL[::-1], long_moves_a_node=200)


def test_every_size_has_all_figures(rows: list[Scale]) -> None:
    assert [row.nodes for row in rows] == list(SMALL)
    for row in rows:
        figures = dataclasses.asdict(row)
        positive = [value for name, value in figures.items() if isinstance(value, float) and name != "process_bytes"]
        assert len(positive) == 8
        assert all(0 < value < math.inf for value in positive)
        assert row.seconds_to.keys() == set(METHODS)
        for method in METHODS:
            times = [took for took in row.seconds_to[method] if took is not None]
            # A larger share takes no less time.
            assert times == sorted(times)


def test_more_moves_are_run_until_the_last_share_is_there(rows: list[Scale]) -> None:
    for row in rows:
        for method in METHODS:
            line = [point for point in row.points if point.method == method]
            wanted = [f"{moves} moves a node" for moves in ((0, 25, 50) if method == POLISHED else (25, 50))]
            assert [point.setting for point in line] == wanted[: len(line)]
            assert len(line) == len(wanted) or line[-1].ratio >= SHARES[-1]
            assert all(point.ratio < SHARES[-1] for point in line[:-1])
            assert all(0.5 < point.ratio < 1.02 for point in line)
            reached = row.seconds_to[method][-1] is not None
            assert reached == (line[-1].ratio >= SHARES[-1])


def test_exponents_are_those_of_a_known_law(rows: list[Scale]) -> None:
    cubic = [dataclasses.replace(row, tables=2e-6 * row.nodes**3) for row in rows]
    assert exponent(cubic, lambda row: row.tables) == pytest.approx(3)
    assert exponent(cubic, lambda row: row.tables, above=SMALL[0]) is None  # two sizes show no law
    assert exponent(cubic, lambda row: None if row.nodes == SMALL[0] else row.tables) is None


def test_fleets_of_all_sizes_have_the_same_families_and_the_spacing_asked_for() -> None:
    counts = [len(fleets(nodes)) for nodes in (16, 64, 256)]
    assert counts == sorted(counts, reverse=True)
    assert {count % len(FLEETS) for count in counts} == {0}
    for layout in fleets(128):
        distance = np.linalg.norm(layout.fleet.positions[:, None] - layout.fleet.positions, axis=2)
        np.fill_diagonal(distance, math.inf)
        assert np.median(distance.min(axis=1)) == pytest.approx(SPACING, rel=0.02)
        assert layout.connectable


class TestMemory:
    def test_of_arrays_counts_shared_ones_and_views_once(self) -> None:
        numbers = np.zeros((4, 5))
        assert array_bytes((numbers, numbers, numbers[1:], [numbers.T])) == numbers.nbytes
        assert array_bytes((numbers, numbers.copy())) == 2 * numbers.nbytes
        assert array_bytes("no array") == 0

    def test_of_a_layout_includes_its_tables_and_that_of_a_bench_the_layout(self) -> None:
        drawn = fleets(8)[0]
        layout = Layout(drawn.fleet, drawn.radio)
        before = array_bytes(layout)
        bench = Workbench(layout)
        assert array_bytes(layout) >= before + sum(array.nbytes for array in layout.tables)
        assert array_bytes(bench) >= array_bytes(layout) + sum(array.nbytes for array in bench.state)

    def test_of_the_process_is_known_where_the_system_tells(self) -> None:
        pytest.importorskip("resource")
        most = most_memory()
        assert most is not None
        assert 1e6 < most < 1e12


def test_the_command_prints_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manetdiff.cli.bench._stay_on_one_core", lambda: None)
    page = tmp_path / "scaling.md"
    asked = ["bench", "--scaling", "--nodes", "4,6,8", "--moves-a-node", "60", "--markdown", str(page)]
    result = CliRunner().invoke(app, [*asked, "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [row["nodes"] for row in document["scaling"]] == [4, 6, 8]
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Scaling\n")
    assert "the reference with\n  60 moves a node" in text
    lines = text.splitlines()
    for head in (
        "| nodes | fleets | reference, moves/s |",
        "| nodes | fleets | tables |",
        "| method | nodes | to 98 % |",
    ):
        assert sum(line.startswith(head) for line in lines) == 1
    assert sum(line.startswith("| exponent |") for line in lines) == 2


def test_its_options_go_with_it() -> None:
    result = CliRunner().invoke(app, ["bench", "--nodes", "16"], catch_exceptions=True)
    assert isinstance(result.exception, SolverError)
    assert "go with --scaling" in str(result.exception)
