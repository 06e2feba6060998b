"""The frontier: what every method makes of a time budget, on one core."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from manetdiff.evaluate.over_time import Point, over_time, standings
from manetdiff.pictures.over_time import draw_over_time
from manetdiff.reproduce.study import Grid, Setting, Study

LAYOUTS, CPSAT_LAYOUTS = 33, 4
QUICK_LAYOUTS = 1
PICTURE = "frontier.png"


def frontier_points(setting: Setting) -> list[Point]:
    """Time and T of all methods and budgets, at both sizes."""
    points = []
    for nodes in (16, 32):
        layouts = setting.layouts(nodes, most=QUICK_LAYOUTS if setting.quick else LAYOUTS)
        cpsat = 0 if setting.quick else CPSAT_LAYOUTS
        what = {"way": "frontier", "set": f"{len(layouts)} layouts of {nodes} nodes", "cpsat": cpsat}
        kept = setting.store.records(
            what,
            lambda layouts=layouts, cpsat=cpsat: [asdict(point) for point in over_time(layouts, cpsat)],  # type: ignore[misc]
        )
        points += [Point(**record) for record in kept]
    return points


def _frontier(setting: Setting) -> list[Grid]:
    points = frontier_points(setting)
    stands = [
        (
            f"{one.nodes} nodes, {one.budget_ms:g} ms",
            [
                *((one.preset, _percent(one.ratio)) if one.ratio else ("none is in time", "")),
                one.other,
                _percent(one.other_ratio),
                f"{100 * one.lead:+.2f}" if one.ratio else "",
            ],
        )
        for one in standings(points)
    ]
    rows = [
        (
            ", ".join(filter(None, (point.method, point.setting, _budget(point), f"{point.nodes} nodes"))),
            [f"{1e3 * point.seconds:.3g}", _percent(point.ratio), _percent(point.connected), _percent(point.valid)],
        )
        for point in points
    ]
    columns = ["budget", "preset", "T / target", "best other", "T / target", "lead, points"]
    return [
        Grid("The best preset that keeps a budget, and the best of all other methods", columns, stands),
        Grid("All points", ["method", "ms a layout", "T / target", "connected", "valid"], rows),
    ]


def _draw(setting: Setting, folder: Path) -> list[str]:
    draw_over_time(frontier_points(setting), folder / PICTURE)
    return [PICTURE]


def _budget(point: Point) -> str:
    return "" if point.budget_ms is None else f"{point.budget_ms:g} ms"


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


FRONTIER_STUDIES = (
    Study(
        "frontier",
        "Quality over time, on one core",
        "Not in the paper, which compares with heuristics that have no budget.",
        _frontier,
        _draw,
    ),
)
