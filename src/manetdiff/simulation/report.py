"""The report of a simulation: one HTML file with numbers, plots and the animation in it, and nothing that runs."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from manetdiff import __version__
from manetdiff.pictures import draw_change
from manetdiff.pictures.marks import LIGHT
from manetdiff.simulation.run import Moment
from manetdiff.simulation.tables import summary

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.8rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; max-height: 30rem; overflow-y: auto; }
.wide th { position: sticky; top: 0; background: #fff; }
img, svg { max-width: 100%; height: auto; }
footer { margin-top: 2rem; color: #555; font-size: 0.85rem; }
"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{style}</style></head>
<body>
{body}
</body>
</html>
"""
LABELS = {
    "moments": "moments",
    "duration": "duration, s",
    "throughput": "mean T, Mbit/s",
    "sustained": "sustained: half of it, as each direction has one of two slots, Mbit/s",
    "throughput_over_held": "T over that of the first topology, never updated",
    "throughput_over_anew": "T over that of topologies made anew",
    "valid": "moments with a valid topology",
    "connected": "moments with a connected topology",
    "continuity": "mean continuity from moment to moment",
    "added_a_moment": "links added an update",
    "dropped_a_moment": "links dropped an update",
    "update_ms": "mean time of an update, ms",
    "slowest_update_ms": "slowest update, ms",
}
SHARES = ("valid", "connected", "continuity")
SHOWN_ROWS = 400


def report_html(moments: Sequence[Moment], title: str, animation: bytes | None = None) -> str:
    """The page. animation: a GIF."""
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        "<h2>In short</h2>",
        _summary_table(moments),
        "<h2>Over time</h2>",
        _svg(_plots(moments)),
        "<h2>First and last topology</h2>",
        _first_and_last(moments),
    ]
    if animation is not None:
        encoded = base64.b64encode(animation).decode("ascii")
        parts += [
            "<h2>The flight</h2>",
            f'<img alt="The fleet and its links over time" src="data:image/gif;base64,{encoded}">',
        ]
    parts += ["<h2>Every moment</h2>", _moments_table(moments)]
    parts.append(f"<footer>Made by manetdiff {html.escape(__version__)}.</footer>")
    return PAGE.format(title=html.escape(title), style=STYLE, body="\n".join(parts))


def _summary_table(moments: Sequence[Moment]) -> str:
    rows = [
        f"<tr><td>{LABELS[name]}</td><td>{_number(value, name in SHARES)}</td></tr>"
        for name, value in summary(moments).items()
        if value is not None
    ]
    return f"<table>{''.join(rows)}</table>"


def _number(value: float, share: bool) -> str:
    return f"{100 * value:.1f} %" if share else f"{value:,.0f}" if value == int(value) else f"{value:,.3g}"


def _moments_table(moments: Sequence[Moment]) -> str:
    every = max(1, -(-len(moments) // SHOWN_ROWS))
    rows = [
        {
            "time, s": f"{one.time:g}",
            "nodes": len(one.fleet),
            "links": len(one.topology.links),
            "T, Mbit/s": f"{one.metrics['throughput']:.2f}",
            "valid": "yes" if one.metrics["valid"] == 1.0 else "no",
            "continuity": "–" if one.continuity is None else f"{100 * one.continuity:.1f} %",
            "added": one.added,
            "dropped": one.dropped,
            "how": html.escape(one.mode),
            "ms": f"{one.milliseconds:.1f}",
        }
        for one in moments[::every]
    ]
    head = "".join(f"<th>{name}</th>" for name in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row.values())}</tr>" for row in rows)
    note = "" if every == 1 else f"<p>Every {every}th moment; all of them are in metrics.csv.</p>"
    return f'{note}<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _plots(moments: Sequence[Moment]) -> Figure:
    times = [one.time for one in moments]
    figure = Figure(figsize=(9.0, 8.5), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True)
    _prepare(axes[0], "T, Mbit/s")
    axes[0].plot(times, [one.metrics["throughput"] for one in moments], color=LIGHT.parity[0], label="updated")
    held = [np.nan if one.held is None else one.held for one in moments]
    axes[0].plot(times, held, color=LIGHT.dropped, linestyle=":", label="the first topology, never updated")
    if any(one.anew is not None for one in moments):
        axes[0].plot(times, [one.anew for one in moments], color=LIGHT.kept, linestyle="--", label="made anew")
    axes[0].set_ylim(bottom=0.0)
    axes[0].legend(frameon=False, fontsize=9, loc="lower left")
    _prepare(axes[1], "continuity")
    axes[1].set_ylim(0.0, 1.03)
    axes[1].plot(times[1:], [one.continuity for one in moments[1:]], color=LIGHT.new)
    broken = [one.time for one in moments if one.metrics["valid"] < 1.0]
    if broken:
        axes[1].plot(broken, [0.03] * len(broken), "x", color=LIGHT.wrong, label="not valid")
        axes[1].legend(frameon=False, fontsize=9, loc="lower right")
    _prepare(axes[2], "links changed")
    width = 0.8 * float(np.min(np.diff(times))) if len(times) > 1 else 1.0
    axes[2].bar(times[1:], [one.added for one in moments[1:]], width, color=LIGHT.new, label="added")
    axes[2].bar(times[1:], [-one.dropped for one in moments[1:]], width, color=LIGHT.dropped, label="dropped")
    axes[2].axhline(0, color=LIGHT.ink, linewidth=0.6)
    if len(moments) > 1:
        axes[2].legend(frameon=False, fontsize=9, ncols=2, loc="upper right")
    _prepare(axes[3], "update, ms")
    axes[3].plot(times[1:], [one.milliseconds for one in moments[1:]], ".", color=LIGHT.ink, markersize=4)
    axes[3].set_ylim(bottom=0.0)
    axes[3].set_xlabel("time, s")
    return figure


def _prepare(axes: Axes, label: str) -> None:
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


def _first_and_last(moments: Sequence[Moment]) -> str:
    first, last = moments[0], moments[-1]
    if first.fleet.ids != last.fleet.ids:
        return "<p>Nodes have joined or left: see the animation.</p>"
    titles = f"at {first.time:g} s", f"at {last.time:g} s"
    return _svg(draw_change(first.topology, last.topology, titles=titles))


def _svg(figure: Figure) -> str:
    """The figure as an element of the page, the same text every time."""
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "manetdiff", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
