"""T over time as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from manetdiff.formats.files import PathLike

COLOURS = {
    "netdiff": "#D55E00",
    "netdiff, raw": "#000000",
    "reference": "#0072B2",
    "annealing": "#E69F00",
    "cpsat": "#009E73",
    "mst-greedy": "#CC79A7",
    "mst-greedy + search": "#882255",
    "nearest + search": "#117733",
    "greedy": "#999999",
    "huang": "#56B4E9",
}
BROAD, DOTTED = "netdiff", "netdiff, raw"
# Shares of T that are named, and the gap to the target below which nothing is told apart.
TICKS = (0.85, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 1.0)
SMALLEST_GAP = 0.0005
PANELS_ACROSS, LABELS_ACROSS = 4, 8


class TimePoint(Protocol):
    """Mean time a layout and mean T as a share of the target's, of a method on fleets of so many nodes."""

    @property
    def method(self) -> str: ...
    @property
    def nodes(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def ratio(self) -> float: ...


def draw_over_time(points: Sequence[TimePoint], path: PathLike) -> None:
    """A picture: one panel a fleet size, one line a method."""
    sizes = sorted({point.nodes for point in points})
    across = min(PANELS_ACROSS, len(sizes))
    down = -(-len(sizes) // across)
    figure = Figure(figsize=(5.2 * across, 4.2 * down), layout="constrained")
    FigureCanvasAgg(figure)
    handles: dict[str, Any] = {}
    for place, nodes in enumerate(sizes):
        axes = figure.add_subplot(down, across, place + 1)
        for method, colour in COLOURS.items():
            line = [point for point in points if point.nodes == nodes and point.method == method]
            if not line:
                continue
            axes.plot(
                [1e3 * point.seconds for point in line],
                # What has found more than the target stands at the upper edge.
                [min(point.ratio, 1.0) for point in line],
                clip_on=False,
                marker="o" if len(line) > 1 else "D",
                linestyle="" if len(line) == 1 else ":" if method == DOTTED else "-",
                linewidth=2.4 if method == BROAD else 1.4,
                color=colour,
                label=method,
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda ms, place: f"{ms:g}"))
        axes.set_yscale("function", functions=(_by_gap, _from_gap))
        axes.set_ylim(min(point.ratio for point in points if point.method != "cpsat") - 0.01, 1.0)
        axes.set_yticks(TICKS)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, place: f"{100 * share:g} %"))
        axes.set_xlabel("time a layout on one core, ms")
        axes.set_ylabel("T as a share of the long-searched T")
        axes.set_title(f"{nodes:,} nodes")
        axes.grid(alpha=0.3)
        handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=LABELS_ACROSS, fontsize=8, frameon=False
    )
    figure.savefig(path, dpi=130)


def _by_gap(share: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Every tenth of the gap to the target that is closed counts the same: half a point matters more near the top."""
    gap = np.maximum(1 + SMALLEST_GAP - np.asarray(share, dtype=np.float64), SMALLEST_GAP / 2)
    return np.asarray(-np.log10(gap))


def _from_gap(height: npt.ArrayLike) -> npt.NDArray[np.float64]:
    return np.asarray(1 + SMALLEST_GAP - 10 ** -np.asarray(height, dtype=np.float64))
