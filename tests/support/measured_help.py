"""What the tests of measuring share: hand-made rows and layouts, and a stand-in for every way of making topologies."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from manetdiff.data import SolvedLayout
from manetdiff.evaluate import over_time
from manetdiff.evaluate.over_time import BUDGETS_MS, PRESET, RAW, Point
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.measure.flown import FlightSet
from manetdiff.measure.measures import MEASURES, Cell
from manetdiff.measure.moved import Moved
from manetdiff.measure.rows import Row, Rows
from manetdiff.measure.sets import LayoutSet
from manetdiff.reproduce import flights, generalisation, inference, networks, paper, partial, throughput
from manetdiff.reproduce.tables import Grid, PaperTable
from manetdiff.reproduce.throughput import LABELS
from manetdiff.topology import METRICS, Topology, metrics

PLACE = {"version": "9.9", "commit": "abc1234", "machine": "Abacus, 2 cores", "run": "quick"}
GRIDS = [
    Grid(
        "First table",
        ["model", "links", "valid", "note"],
        [
            ("ours", [Cell(MEASURES["links"], 22.5, 21.0, 24.0, 22.42), Cell(MEASURES["valid"], 0.75), "once"]),
            ("theirs", [Cell(MEASURES["links"], 30.0), Cell(MEASURES["valid"], 0.5, 0.4, 0.6, 0.9864), "twice"]),
        ],
        "Read it with care.",
    ),
    Grid("Second table", ["model", "T / target"], [("σ² = 0.9", [Cell(MEASURES["ratio"], 0.99)])]),
]
TABLE = PaperTable("example", "An example", "The paper: it says so.", lambda setting: GRIDS)


def refuse(*arguments: object, **others: object) -> Any:
    raise AssertionError("measured, although it should not have been")


def rows_of(**values: Sequence[float] | float) -> Rows:
    """Rows from the values of each metric, layout by layout; one number is that of every layout."""
    count = max((len(one) for one in values.values() if isinstance(one, Sequence)), default=1)
    columns = {name: np.broadcast_to(np.asarray(one), (count,)).tolist() for name, one in values.items()}
    return Rows([dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True)])


def hand_made(count: int, looked_at: list[int] | None = None, **key: Any) -> LayoutSet:
    """Layouts of four nodes in a row; looked_at: is told the index of each that is asked for."""

    def layout(index: int) -> SolvedLayout:
        if looked_at is not None:
            looked_at.append(index)
        fleet = Fleet([(0.0, 0.0), (1.0 + index / 10, 0.0), (2.5, 0.1), (4.0, 0.0)], np.zeros(4))
        topology = Topology([(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1], layout=Layout(fleet))
        family = ("row", "line")[index % 2]
        return SolvedLayout(index, 0, 0.0, None, family, fleet, topology, metrics(topology))

    return LayoutSet("rows of four", 4, tuple(range(count)), layout, {"hand-made": True, **key})


# Where each way is used.
ROOMS = {
    "sampled": (networks,),
    "corrected": (throughput,),
    "solved": (throughput, over_time),
    "generated": (throughput, generalisation, inference, over_time),
    "correction": (inference,),
}


class StandIn:
    """Rows that follow from what was asked for, instead of measured ones; asked: way, arguments, layouts, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str, dict[str, Any], LayoutSet]] = []
        # Rows to give instead, by way.
        self.instead: dict[str, Callable[..., Rows]] = {}
        for way, rooms in ROOMS.items():
            for room in rooms:
                monkeypatch.setattr(room, way, functools.partial(self._made, way))
        for room in (partial, inference):
            monkeypatch.setattr(room, "updated", self._updated)
        monkeypatch.setattr(flights, "followed", lambda store, label, what, some, way: self._flown(label, what, some))
        monkeypatch.setattr(flights, "hindsight", lambda store, some, setup: self._flown(f"{setup} s", {}, some))
        for room in (networks, throughput):
            monkeypatch.setattr(room, "weights_of", lambda name: name)

    def names(self) -> list[str]:
        """Of the weights that were sampled from."""
        return [how["name"] for way, how, _ in self.asked if way == "sampled"]

    def _made(self, way: str, store: object, *given: Any, **how: Any) -> Rows:
        *of, layouts = given
        if way == "solved":
            how = {"method": of[0], **how}
        assert way not in ("sampled", "corrected") or of == [how["name"]]
        return self._rows(way, how, layouts)

    def _updated(self, store: object, moved: Moved, mode: str, **how: Any) -> Rows:
        return self._rows("updated", {"mode": mode, "movement": moved.movement, **how}, moved.before)

    def _flown(self, label: str, what: Mapping[str, Any], some: FlightSet) -> Rows:
        names = (*flights.MEASURES, "drift")
        return Rows(
            [dict.fromkeys(names, _any_row(f"{label} {what} {some.key} {k}")["throughput"] / 80) for k in some.indices]
        )

    def _rows(self, way: str, how: dict[str, Any], layouts: LayoutSet) -> Rows:
        self.asked.append((way, how, layouts))
        if way in self.instead:
            return self.instead[way](layouts=layouts, **how)
        return Rows([_any_row(f"{way} {how} {layouts.key} {index}") for index in layouts.indices])


def _any_row(about: str) -> Row:
    rng = np.random.default_rng(zlib.crc32(about.encode()))
    shares = dict(zip((*METRICS, "continuity"), rng.uniform(0.5, 1.0, 10).tolist(), strict=True))
    return {**shares, "links": 25 * shares["links"], "throughput": 80 * shares["throughput"], "target": 80.0} | {
        "milliseconds": float(rng.uniform(15.0, 30.0))
    }


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
    """As the table of throughput has them: some methods have no time, and annealing's budget is in its name."""
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
        assert len({label for label, _ in grid.rows}) == len(grid.rows)
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
