"""T over time: what each method makes of a time budget, as a share of the benchmark's long-searched T."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet, benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways.runtime import generated
from manetdiff.measure.ways.solvers import solved
from manetdiff.runtime.presets import PRESETS

# Of each set, and for CP-SAT, which is slow: `bench` and the paper's tables measure the same ones.
LAYOUTS, CPSAT_LAYOUTS = 44, 11
# Milliseconds at 16 nodes; a network of twice the nodes gets four times as long.
BUDGETS_MS = (2, 5, 10, 20, 50, 100, 200)
CPSAT_BUDGETS_MS = (20, 50, 100, 200, 500, 1000)
CONSTRUCTIONS = ("greedy", "mst-greedy", "huang")
PRESET, RAW = "netdiff", "netdiff, raw"
RAW_STEPS = (3, 5, 10, 20, 50)


@dataclass(frozen=True)
class Point:
    """Mean time a layout and mean T as a share of the set's own, for one method and budget.

    - setting: the preset, or the steps of raw samples; empty for solvers.
    """

    method: str
    setting: str
    nodes: int
    budget_ms: float | None
    seconds: float
    ratio: float
    connected: float
    valid: float

    @classmethod
    def of(cls, method: str, setting: str, nodes: int, budget_ms: float | None, rows: Rows) -> Point:
        """The means of what was measured."""
        means = rows.means(("ratio", "connected", "valid"))
        return cls(method, setting, nodes, budget_ms, rows.mean("milliseconds") / 1e3, **means)


def time_points(store: RowStore, layouts: int = LAYOUTS, cpsat_layouts: int = CPSAT_LAYOUTS) -> list[Point]:
    """Points of all methods on the first layouts of both sets; of CP-SAT none for 0 layouts."""
    points = []
    for name in ("bench16", "bench32"):
        chosen = benchmark_set(name).first(layouts)
        points += [*_solver_points(store, chosen, cpsat_layouts), *_netdiff_points(store, chosen)]
    return points


def _solver_points(store: RowStore, layouts: LayoutSet, cpsat_layouts: int) -> list[Point]:
    scale = (layouts.nodes / 16) ** 2
    plan: list[tuple[str, float | None, LayoutSet]] = [(name, None, layouts) for name in CONSTRUCTIONS]
    plan += [(name, scale * ms, layouts) for name in ("annealing", "reference") for ms in BUDGETS_MS]
    if cpsat_layouts:
        plan += [("cpsat", scale * ms, layouts.first(cpsat_layouts)) for ms in CPSAT_BUDGETS_MS]
    points = []
    for method, budget_ms, some in plan:
        rows = solved(store, method, some, seconds=None if budget_ms is None else budget_ms / 1e3)
        points.append(Point.of(method, "", layouts.nodes, budget_ms, rows))
    return points


def _netdiff_points(store: RowStore, layouts: LayoutSet) -> list[Point]:
    """The presets, and raw samples of the default model."""
    presets = {name: generated(store, layouts, preset=name) for name in PRESETS}
    raw = {f"{steps}": generated(store, layouts, steps=steps, correct=False, polish=False) for steps in RAW_STEPS}
    return [
        Point.of(method, setting, layouts.nodes, None, rows)
        for method, made in ((PRESET, presets), (RAW, raw))
        for setting, rows in made.items()
    ]


@dataclass(frozen=True)
class Standing:
    """At one budget: the best preset that took no longer, and the best of all other methods at that budget."""

    nodes: int
    budget_ms: float
    preset: str
    ratio: float
    other: str
    other_ratio: float

    @property
    def lead(self) -> float:
        """By how much the preset is ahead; below 0 where it is behind."""
        return self.ratio - self.other_ratio


def standings(points: Sequence[Point]) -> list[Standing]:
    """How the presets stand at each budget from 5 ms (16 nodes) on; a preset without one that is fast enough: none."""
    rows = []
    for nodes in sorted({point.nodes for point in points}):
        here = [point for point in points if point.nodes == nodes]
        for budget in BUDGETS_MS[1:]:
            limit = budget * (nodes / 16) ** 2
            ours = [point for point in here if point.method == PRESET and 1e3 * point.seconds <= limit]
            others = [
                point
                for point in here
                if point.method not in (PRESET, RAW)
                and (1e3 * point.seconds <= limit if point.budget_ms is None else point.budget_ms <= limit)
            ]
            best = max(ours, key=lambda point: point.ratio, default=None)
            other = max(others, key=lambda point: point.ratio)
            rows.append(
                Standing(
                    nodes,
                    limit,
                    best.setting if best else "none",
                    best.ratio if best else 0.0,
                    other.method,
                    other.ratio,
                )
            )
    return rows


def seconds_to_reach(points: Sequence[Point], method: str, nodes: int, ratio: float) -> float | None:
    """Time at which a method first has that share of T, between its points by interpolation over log time."""
    line = sorted((p for p in points if p.method == method and p.nodes == nodes), key=lambda p: p.seconds)
    before: Point | None = None
    for point in line:
        if point.ratio >= ratio:
            if before is None:
                return point.seconds
            part = (ratio - before.ratio) / (point.ratio - before.ratio)
            return math.exp((1 - part) * math.log(before.seconds) + part * math.log(point.seconds))
        before = point
    return None
