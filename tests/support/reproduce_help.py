"""What the tests of the reproduced tables share: few layouts, few steps, hand-made rows and tables, and the command."""

from __future__ import annotations

import dataclasses
import io
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from manetdiff.cli import app
from manetdiff.data import SolvedLayout, load_benchmark
from manetdiff.diffusion.weights import Weights
from manetdiff.evaluate.over_time import BUDGETS_MS, PRESET, RAW, Point
from manetdiff.reproduce import frontier, generalisation, measured, paper, partial, study, throughput
from manetdiff.reproduce.cells import MEASURES, Cell
from manetdiff.reproduce.rows import Rows
from manetdiff.reproduce.study import QUICK_LAYOUTS, Grid, Study
from manetdiff.reproduce.throughput import LABELS
from manetdiff.scenarios import FAMILIES

# Denoising steps: what is tested here does not depend on how good the samples are.
STEPS = 3
PLACE = {"version": "9.9", "commit": "abc1234", "machine": "Abacus, 2 cores", "run": "quick"}
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
STUDY = Study("example", "An example", "The paper: it says so.", lambda setting: GRIDS)

cached_benchmark = lru_cache(load_benchmark)


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


whole_weights = measured.weights_of


def _in_few_steps(name: str) -> Weights:
    weights = whole_weights(name)
    return dataclasses.replace(weights, sampling=dataclasses.replace(weights.sampling, steps=STEPS))


in_few_steps = lru_cache(_in_few_steps)


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two layouts of each size, few steps, and the sets read once."""
    for nodes in QUICK_LAYOUTS:
        monkeypatch.setitem(QUICK_LAYOUTS, nodes, 2)
    monkeypatch.setattr(study, "load_benchmark", cached_benchmark)
    monkeypatch.setattr(measured, "weights_of", in_few_steps)


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """As little as every study can be run with: the loops over sizes, radios and movements are cut short as well."""
    hurry(monkeypatch)
    some = {layout.family for layout in cached_benchmark("bench16")[:2]}
    monkeypatch.setattr(generalisation, "FAMILIES", [family for family in FAMILIES if family in some])
    monkeypatch.setattr(generalisation, "SIZES", (8, 20))
    monkeypatch.setattr(generalisation, "RADIOS", dict(list(generalisation.RADIOS.items())[1:3]))
    monkeypatch.setattr(generalisation, "POSITION_NOISE", (0.0, 0.3))
    monkeypatch.setattr(partial, "STEPS", (3, 10))
    monkeypatch.setattr(partial, "MOVEMENTS", (0.1, 0.3))
    # Building its models takes seconds; the run of everything, which is slow, has it. So have the budgets of all
    # methods, which are tested with the benchmark itself.
    monkeypatch.setattr(throughput, "find_spec", lambda name: None)
    monkeypatch.setattr(frontier, "over_time", lambda layouts, cpsat: points_of(len(layouts[0].fleet)))
    monkeypatch.setitem(QUICK_LAYOUTS, 32, 1)


def command_in(folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """`manetdiff reproduce` in this process and in a folder."""
    monkeypatch.chdir(folder)

    def call(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["manetdiff", "reproduce", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        with pytest.raises(SystemExit) as caught:
            app.main()
        code = caught.value.code
        return Ran(0 if code is None else int(code), *capfd.readouterr())

    return call


def refuse(*arguments: object, **others: object) -> Any:
    raise AssertionError("measured, although it should not have been")


def rows_of(**metrics: Sequence[float] | float) -> Rows:
    """Rows from the values of each metric, layout by layout; one number is that of every layout."""
    count = max((len(values) for values in metrics.values() if isinstance(values, Sequence)), default=1)
    columns = {name: np.broadcast_to(np.asarray(values), (count,)).tolist() for name, values in metrics.items()}
    return Rows([dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)])


def points_of(nodes: int) -> list[Point]:
    """A few points of every kind, as a real run has them: with a budget, a preset, or steps."""
    scale = (nodes / 16) ** 2
    return [
        Point("greedy", "", nodes, None, 1e-4, 0.9, 1.0, 1.0),
        *(
            Point("reference", "", nodes, scale * ms, 1e-3 * scale * ms, 0.95 + 0.0002 * ms, 1.0, 1.0)
            for ms in BUDGETS_MS
        ),
        Point(PRESET, "instant", nodes, None, 4e-3 * scale, 0.96, 1.0, 1.0),
        Point(PRESET, "best", nodes, None, 0.09 * scale, 0.98, 1.0, 1.0),
        Point(RAW, "3", nodes, None, 2e-3 * scale, 0.93, 0.5, 0.25),
        Point(RAW, "50", nodes, None, 2e-2 * scale, 0.94, 0.75, 0.5),
    ]


def throughput_grids() -> list[Grid]:
    """As the study of throughput makes them: some methods have no time, and annealing's budget is in its name."""
    grids = []
    for nodes, budget in ((16, 20), (32, 80)):
        shares = zip(paper.THROUGHPUT[nodes], (0.5, 0.6, 0.8, 0.95, 0.97, 1.0), strict=True)
        rows: list[tuple[str, list[Cell | str]]] = [
            (
                f"{LABELS.get(name, name)} ({nodes} layouts)",
                [
                    Cell(MEASURES["throughput"], 80 * share, paper=paper.THROUGHPUT[nodes][name]),
                    Cell(MEASURES["ratio"], share - nodes / 1e4, share - 0.1, share + 0.1),
                    "" if name == "target" else Cell(MEASURES["milliseconds"], nodes * 1.23456),
                ],
            )
            for name, share in shares
        ]
        peer: list[Cell | str] = [Cell(MEASURES["throughput"], 79.0), Cell(MEASURES["ratio"], 0.985), ""]
        rows.append((f"annealing, {budget} ms (4 layouts)", peer))
        if nodes == 16:
            rows.append(("CP-SAT, 2 s (1 layouts)", peer))
        grids.append(Grid(f"Throughput, {nodes} nodes", ["method", "T, Mbit/s", "T / target", "ms a layout"], rows))
    return grids


def check_grids(grids: Sequence[Grid]) -> None:
    """What holds for every table, whatever was measured."""
    assert grids
    for grid in grids:
        assert grid.rows
        found = [label for label, _ in grid.rows]
        assert len(set(found)) == len(found)
        for label, row in grid.rows:
            assert label
            assert len(row) == len(grid.columns) - 1, (grid.title, label)
            for cell, column in zip(row, grid.columns[1:], strict=True):
                if not isinstance(cell, str):
                    _check_cell(cell, label, column)


def _check_cell(cell: Cell, label: str, column: str) -> None:
    assert cell.low is not None
    assert cell.high is not None
    # Rounding alone may part them where all layouts agree.
    assert cell.low - 1e-9 <= cell.mean <= cell.high + 1e-9
    assert not cell.measure.percent or cell.measure.metric in ("ratio", "continuity") or 0 <= cell.mean <= 1
    known = [one.label for one in MEASURES.values() if column == one.label]
    assert known in ([], [cell.measure.label]), (label, column)
    if label.split(" (")[0] == "target" and cell.measure.metric == "ratio":
        assert cell.mean == 1.0


def first_layouts(count: int = 3) -> list[SolvedLayout]:
    return cached_benchmark("bench16")[:count]
