"""T over time: what each method makes of a time budget, as a share of the benchmark's long-searched T."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from manetdiff.data import SolvedLayout
from manetdiff.evaluate.scores import Solve, score
from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.runtime.effort import PRESETS
from manetdiff.runtime.model import Model, load
from manetdiff.runtime.options import Asked
from manetdiff.solvers import solve
from manetdiff.topology import Topology

# Milliseconds at 16 nodes; a network of twice the nodes gets four times as long.
BUDGETS_MS = (2, 5, 10, 20, 50, 100, 200)
CPSAT_BUDGETS_MS = (20, 50, 100, 200, 500, 1000)
CONSTRUCTIONS = ("greedy", "mst-greedy", "huang")
PRESET, RAW = "netdiff", "netdiff, raw"
RAW_STEPS = (3, 5, 10, 20, 50)


@dataclass(frozen=True)
class Point:
    """Mean time a layout and mean T as a share of the set's own, for one method and budget.

    setting: the preset, or the steps of raw samples; empty for solvers.
    """

    method: str
    setting: str
    nodes: int
    budget_ms: float | None
    seconds: float
    ratio: float
    connected: float
    valid: float


def over_time(
    layouts: Sequence[SolvedLayout],
    cpsat_layouts: int,
    report: Callable[[str], None] = lambda label: None,
) -> list[Point]:
    """Points of all methods; CP-SAT, which is slow, runs on the first few layouts only (none for 0)."""
    nodes = len(layouts[0].fleet)
    scale = (nodes / 16) ** 2
    plan: list[tuple[str, float | None, Sequence[SolvedLayout]]] = [(name, None, layouts) for name in CONSTRUCTIONS]
    plan += [(name, scale * ms, layouts) for name in ("annealing", "reference") for ms in BUDGETS_MS]
    if cpsat_layouts:
        plan += [("cpsat", scale * ms, layouts[:cpsat_layouts]) for ms in CPSAT_BUDGETS_MS]
    points = []
    for method, budget_ms, chosen in plan:
        report(f"{nodes} nodes: {method}" + ("" if budget_ms is None else f", {budget_ms:g} ms"))
        points.append(_point(method, budget_ms, chosen))
    return points + _netdiff_points(layouts, report)


def _netdiff_points(layouts: Sequence[SolvedLayout], report: Callable[[str], None]) -> list[Point]:
    """The presets, and raw samples of the default model."""
    model = load(threads=1)
    asked: list[tuple[str, str, Asked]] = [(PRESET, name, {"preset": name}) for name in PRESETS]
    asked += [(RAW, f"{steps}", {"steps": steps, "correct": False, "polish": False}) for steps in RAW_STEPS]
    points = []
    for method, setting, how in asked:
        report(f"{len(layouts[0].fleet)} nodes: {method}, {setting}")
        points.append(_scored(method, setting, None, layouts, partial(_generated, model, how)))
    return points


def _generated(model: Model, how: Asked, fleet: Fleet, index: int) -> Topology:
    given: Asked = {**how, "seed": index}
    return model.generate(fleet, **given)


def _point(method: str, budget_ms: float | None, layouts: Sequence[SolvedLayout]) -> Point:
    radio = Radio()

    def solve_one(fleet: Fleet, index: int) -> Topology:
        return solve(fleet, radio, method, None if budget_ms is None else budget_ms / 1e3, seed=index)

    return _scored(method, "", budget_ms, layouts, solve_one)


def _scored(
    method: str, setting: str, budget_ms: float | None, layouts: Sequence[SolvedLayout], solve_one: Solve
) -> Point:
    result = score(method, layouts, solve_one, Radio())
    assert result.seconds is not None
    nodes, means = len(layouts[0].fleet), result.metrics
    return Point(method, setting, nodes, budget_ms, result.seconds, result.ratio, means["connected"], means["valid"])


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
