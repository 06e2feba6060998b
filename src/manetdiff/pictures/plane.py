"""T against continuity as a picture: what a way of updating keeps of the links, and at what price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from manetdiff.formats.files import PathLike

# By the order in which ways are told; the first one stands out.
COLOURS = ("#D55E00", "#E69F00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#882255", "#117733", "#999999", "#000000")


def draw_planes(panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], path: PathLike) -> None:
    """One panel by each name: of each way, its points (continuity, T as a share of that of topologies made anew), those
    of several joined by a line."""
    figure = Figure(figsize=(5.2 * len(panels), 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    handles = {}
    for place, (name, ways) in enumerate(panels.items()):
        axes = figure.add_subplot(1, len(panels), place + 1)
        for colour, (way, points) in zip(COLOURS, ways.items(), strict=False):
            kept, carried = zip(*sorted(points), strict=True)
            first = colour == COLOURS[0]
            (line,) = axes.plot(
                kept,
                carried,
                marker="o" if len(points) > 1 else "D",
                linestyle="-" if len(points) > 1 else "",
                linewidth=2.4 if first else 1.4,
                color=colour,
                label=way,
                zorder=3 if first else 2,
            )
            handles[way] = line
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda share, place: f"{100 * share:g} %"))
        axes.set_ylim(bottom=0.8)
        axes.set_xlabel("continuity from update to update")
        axes.set_ylabel("T as a share of a search at each moment")
        axes.set_title(name)
        axes.grid(alpha=0.3)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)
