"""The frontier: what every method makes of a time budget, on one core."""

from __future__ import annotations

from pathlib import Path

from manetdiff.evaluate.over_time import Point, standings, time_points
from manetdiff.measure.measures import MEASURES
from manetdiff.pictures.over_time import draw_over_time
from manetdiff.reproduce.tables import Grid, Setting

QUICK_LAYOUTS = 1
PICTURE = "frontier.png"


def frontier_points(setting: Setting) -> list[Point]:
    """Time and T of all methods and budgets, at both sizes: what `bench` measures, too; on a machine that does nothing
    else."""
    store = setting.store.alone()
    return time_points(store, QUICK_LAYOUTS, 0) if setting.quick else time_points(store)


def frontier(setting: Setting) -> list[Grid]:
    """Who leads at each budget, and all points."""
    points = frontier_points(setting)
    stands = [
        (
            f"{one.nodes} nodes, {one.budget_ms:g} ms",
            [
                *((one.preset, MEASURES["ratio"].text(one.ratio)) if one.ratio else ("none is in time", "")),
                one.other,
                MEASURES["ratio"].text(one.other_ratio),
                f"{100 * one.lead:+.2f}" if one.ratio else "",
            ],
        )
        for one in standings(points)
    ]
    rows = [
        (
            ", ".join(filter(None, (point.method, point.setting, _budget(point), f"{point.nodes} nodes"))),
            [
                f"{1e3 * point.seconds:.3g}",
                MEASURES["ratio"].text(point.ratio),
                MEASURES["connected"].text(point.connected),
                MEASURES["valid"].text(point.valid),
            ],
        )
        for point in points
    ]
    columns = ["budget", "preset", "T / target", "best other", "T / target", "lead, points"]
    return [
        Grid("The best preset that keeps a budget, and the best of all other methods", columns, stands),
        Grid("All points", ["method", "ms a layout", "T / target", "connected", "valid"], rows),
    ]


def draw(setting: Setting, folder: Path) -> list[str]:
    """The same as curves."""
    draw_over_time(frontier_points(setting), folder / PICTURE)
    return [PICTURE]


def _budget(point: Point) -> str:
    return "" if point.budget_ms is None else f"{point.budget_ms:g} ms"
