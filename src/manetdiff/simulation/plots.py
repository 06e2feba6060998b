"""What happened over time, as plots whose colours are the page's and whose legends are text beside them."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from manetdiff.pictures.marks import LIGHT
from manetdiff.simulation.run import Moment
from manetdiff.wording import number_text

# Inches: small, so that letters can be read where the page is narrow.
SIZE = (4.6, 2.5)
# The page's own names for the colours that a plot is drawn in.
PAGE_COLOURS = {
    LIGHT.ink: "ink",
    LIGHT.faint: "faint",
    LIGHT.parity[0]: "parity-0",
    LIGHT.kept: "kept",
    LIGHT.new: "new",
    LIGHT.dropped: "dropped",
    LIGHT.wrong: "wrong",
}


@dataclass(frozen=True)
class Plot:
    """title: what is shown, and its unit. legend: a page's colour, the kind of mark and the words for each."""

    title: str
    legend: Sequence[tuple[str, str, str]]
    figure: Figure


def plots(moments: Sequence[Moment]) -> list[Plot]:
    """T, continuity, links changed and the time of updates; all but the first need an update."""
    return [_throughput(moments), *([_continuity(moments), _changes(moments), _spent(moments)] if moments[1:] else [])]


def svg_text(figure: Figure, label: str, salt: str) -> str:
    """The figure as an element of a page, the same text every time. salt: another for each figure of a page."""
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None}, transparent=True)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # the same in every figure, and nobody refers to them
    for colour, name in PAGE_COLOURS.items():
        text = text.replace(colour, f"var(--{name})")
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def _throughput(moments: Sequence[Moment]) -> Plot:
    figure, axes = _empty()
    times = [one.time for one in moments]
    mark = "" if moments[1:] else "o"  # a line needs two moments
    legend = [("parity-0", "line", "updated")]
    axes.plot(times, [one.metrics["throughput"] for one in moments], color=LIGHT.parity[0], marker=mark)
    if moments[1:]:
        axes.plot(times, [one.held for one in moments], color=LIGHT.dropped, linestyle=":")
        legend.append(("dropped", "dotted", "the first topology, never updated"))
    if any(one.anew is not None for one in moments):
        anew = [np.nan if one.anew is None else one.anew for one in moments]
        axes.plot(times, anew, color=LIGHT.kept, linestyle="--")
        legend.append(("kept", "dashed", "made anew"))
    broken = [one for one in moments if one.metrics["valid"] < 1.0]
    if broken:
        at = [one.time for one in broken], [one.metrics["throughput"] for one in broken]
        axes.plot(*at, "x", color=LIGHT.wrong)
        legend.append(("wrong", "cross", "not valid"))
    axes.set_ylim(bottom=0.0)
    return Plot("Throughput T, Mbit/s", legend, figure)


def _continuity(moments: Sequence[Moment]) -> Plot:
    figure, axes = _empty()
    known = [(one.time, 100 * one.continuity) for one in moments if one.continuity is not None]
    axes.plot([time for time, _ in known], [share for _, share in known], color=LIGHT.new)
    axes.set_ylim(0.0, 104.0)
    return Plot("Continuity from moment to moment, %", [], figure)


def _changes(moments: Sequence[Moment]) -> Plot:
    figure, axes = _empty()
    times = [one.time for one in moments]
    width = 0.8 * float(np.min(np.diff(times)))
    axes.bar(times[1:], [one.added for one in moments[1:]], width, color=LIGHT.new)
    axes.bar(times[1:], [-one.dropped for one in moments[1:]], width, color=LIGHT.dropped)
    axes.axhline(0, color=LIGHT.ink, linewidth=0.6)
    axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, place: number_text(abs(count))))
    return Plot("Links changed at each update", [("new", "block", "added"), ("dropped", "block", "dropped")], figure)


def _spent(moments: Sequence[Moment]) -> Plot:
    figure, axes = _empty()
    axes.plot(
        [one.time for one in moments[1:]], [one.milliseconds for one in moments[1:]], ".", color=LIGHT.ink, markersize=4
    )
    axes.set_ylim(bottom=0.0)
    return Plot("Time of each update, ms", [], figure)


def _empty() -> tuple[Figure, Axes]:
    """Axes over time, numbers as people write them, in the colours that the page replaces."""
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    axes.grid(color=LIGHT.faint, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[:].set_color(LIGHT.ink)
    axes.tick_params(colors=LIGHT.ink)
    axes.set_xlabel("time, s", color=LIGHT.ink)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, place: number_text(value)))
    return figure, axes
