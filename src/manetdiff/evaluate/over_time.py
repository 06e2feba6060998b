"""T over time: what each method makes of a time budget, as a share of the benchmark's long-searched T."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from manetdiff.data import SolvedLayout
from manetdiff.evaluate.scores import score
from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.solvers import solve
from manetdiff.topology import Topology

# Milliseconds at 16 nodes; a network of twice the nodes gets four times as long.
BUDGETS_MS = (2, 5, 10, 20, 50, 100, 200)
CPSAT_BUDGETS_MS = (20, 50, 100, 200, 500, 1000)
CONSTRUCTIONS = ("greedy", "mst-greedy", "huang")


@dataclass(frozen=True)
class Point:
    """Mean time a layout and mean T as a share of the set's own, for one method and budget."""

    method: str
    nodes: int
    budget_ms: float | None
    seconds: float
    ratio: float
    connected: float


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
    return points


def _point(method: str, budget_ms: float | None, layouts: Sequence[SolvedLayout]) -> Point:
    radio = Radio()

    def solve_one(fleet: Fleet, index: int) -> Topology:
        return solve(fleet, radio, method, None if budget_ms is None else budget_ms / 1e3, seed=index)

    result = score(method, layouts, solve_one, radio)
    assert result.seconds is not None
    nodes = len(layouts[0].fleet)
    return Point(method, nodes, budget_ms, result.seconds, result.ratio, result.metrics["connected"])


def draw_over_time(points: Sequence[Point], path: Path) -> None:
    """A picture: one panel a fleet size, one line a method."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    colours = {
        "reference": "#0072B2",
        "annealing": "#E69F00",
        "cpsat": "#009E73",
        "mst-greedy": "#CC79A7",
        "greedy": "#999999",
        "huang": "#56B4E9",
    }
    sizes = sorted({point.nodes for point in points})
    figure = Figure(figsize=(5.2 * len(sizes), 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    for place, nodes in enumerate(sizes):
        axes = figure.add_subplot(1, len(sizes), place + 1)
        for method, colour in colours.items():
            line = [point for point in points if point.nodes == nodes and point.method == method]
            axes.plot(
                [1e3 * point.seconds for point in line],
                [point.ratio for point in line],
                marker="o" if len(line) > 1 else "D",
                linestyle="-" if len(line) > 1 else "",
                color=colour,
                label=method,
            )
        axes.set_xscale("log")
        axes.set_ylim(min(point.ratio for point in points if point.method != "cpsat") - 0.01, 1.005)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("time a layout on one core, ms")
        axes.set_ylabel("T as a share of the long-searched T")
        axes.set_title(f"{nodes} nodes")
        axes.grid(alpha=0.3)
        handles = axes.get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=len(colours), fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)
