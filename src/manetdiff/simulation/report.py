"""The report of a simulation: one HTML file with numbers, pictures and plots in it, which fetches nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from manetdiff import __version__
from manetdiff.flights.delivery import link_names
from manetdiff.pictures.marks import DARK, LIGHT, Style
from manetdiff.pictures.page_svg import Alone, svg_of, topology_group
from manetdiff.pictures.view import View
from manetdiff.simulation.flight import flight_html
from manetdiff.simulation.legends import plot_legend, topology_legend
from manetdiff.simulation.plots import plots, svg_text
from manetdiff.simulation.radio_facts import radio_facts
from manetdiff.simulation.run import Moment
from manetdiff.simulation.tables import summary
from manetdiff.wording import number_text, share_text

PAGE_FILES = Path(__file__).parent / "page"
# The page says itself what it may do: its own style and its own script, and nothing from anywhere.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '{hash}'">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<style>
{style}</style></head>
<body>
<main>
{body}
</main>
{script}
</body>
</html>
"""
TERMS = {
    "node": "An aircraft, ship or vehicle with a radio. In pictures its tip is where it is heading.",
    "topology": "Which nodes are linked, and in which of the two slots each sends.",
    "link": "Two nodes that point an antenna at each other; both directions are counted as one link.",
    "slot, parity": "Time is cut into slots A and B in turn. A node of parity 0 sends in A and listens in B, a node of "
    "parity 1 the other way round, so a link needs one of each.",
    "T": "Throughput: the rates of all links, both directions, added up, while the slot of each lasts.",
    "sustained": "Half of T: over time each direction of a link has one of the two slots.",
    "connected": "Every node can reach every other over some links.",
    "valid": "Connected, every link joins the two parities, and no antenna has more than one link.",
    "continuity": "Links that two topologies share, as a share of all links that either has: 100 % if nothing changed.",
    "update": "A new topology that starts from the one before and is paid for links that it keeps (quick, or one of "
    "the paper's ways: minor, standard, guided); unmoved keeps it as it is. Anew is without regard to the one before; "
    "the first one is generated.",
    "held back": "A change that would raise T by less than the links are worth that it would push off.",
    "never updated": "What the first topology would still carry, were its links kept while the fleet moves. Links of "
    "nodes that left are gone, nodes that joined have none.",
    "made anew": "A topology made from nothing at every moment: about the most T there is, without any continuity.",
    "spread": "How wide the fleet is: the root mean square of its coordinates around their middle.",
}
SHOWN_ROWS = 400


def report_html(moments: Sequence[Moment], title: str) -> str:
    """The page."""
    script = (PAGE_FILES / "player.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    style = _colours(LIGHT, "screen, print") + _colours(DARK, "screen and (prefers-color-scheme: dark)")
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        '<p>What happened, in short; <a href="#terms">what the words mean</a> is at the end.</p>',
        '<div class="pair">',
        f"<section><h2>In short</h2>{_facts(_in_short(moments))}</section>",
        f"<section><h2>Made with</h2>{_made_with(moments)}</section>",
        "</div>",
        "<h2>First and last topology</h2>",
        _first_and_last(moments),
        f'<section class="on-screen"><h2>The flight</h2>{flight_html(moments)}</section>' if moments[1:] else "",
        "<h2>Over time</h2>",
        _over_time(moments),
        "<h2>Every moment</h2>",
        _moments_table(moments),
        '<h2 id="terms">What the words mean</h2>',
        f"<dl>{''.join(f'<dt>{term}</dt><dd>{meaning}</dd>' for term, meaning in TERMS.items())}</dl>",
        f"<footer>Made by manetdiff {html.escape(__version__)}.</footer>",
    ]
    return PAGE.format(
        hash=f"sha256-{digest}",
        title=html.escape(title),
        style=style + (PAGE_FILES / "report.css").read_text(encoding="utf-8"),
        body="\n".join(parts),
        script=f"<script>{script}</script>" if moments[1:] else "",
    )


def _colours(style: Style, media: str) -> str:
    """The colours of pictures and plots as variables of the page."""
    named = {
        **{name: getattr(style, name) for name in ("paper", "ink", "faint", "wrong", "kept", "new", "dropped")},
        **{f"parity-{bit}": colour for bit, colour in enumerate(style.parity)},
    }
    return f"@media {media} {{ :root {{ {' '.join(f'--{name}: {colour};' for name, colour in named.items())} }} }}\n"


def _in_short(moments: Sequence[Moment]) -> list[tuple[str, str]]:
    told = summary(moments)

    def text(name: str, form: str, write: Callable[[float], str] = number_text) -> str | None:
        value = told[name]
        return None if value is None else form.format(write(value))

    rows = [
        ("time flown", text("duration", "{} s")),
        ("moments with a topology", text("moments", "{}")),
        ("throughput T, mean", text("throughput", "{} Mbit/s")),
        ("sustained, mean", text("sustained", "{} Mbit/s")),
        ("T against never updating", text("throughput_over_held", "{} times", "{:,.2f}".format)),
        ("T against making it anew", text("throughput_over_anew", "{}", share_text)),
        ("valid", text("valid", "{} of the moments", share_text)),
        ("connected", text("connected", "{} of the moments", share_text)),
        ("continuity, mean", text("continuity", "{}", share_text)),
        ("links added an update", text("added_a_moment", "{}")),
        ("links dropped an update", text("dropped_a_moment", "{}")),
        ("time of an update, mean", text("update_ms", "{} ms")),
        ("slowest update", text("slowest_update_ms", "{} ms")),
    ]
    return [(name, value) for name, value in rows if value is not None]


def _made_with(moments: Sequence[Moment]) -> str:
    first = moments[0]
    layout, report = first.topology.on(), first.topology.report
    sizes = sorted({len(one.fleet) for one in moments})
    modes = Counter(one.mode for one in moments[1:])
    rows = [
        ("nodes", " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))),
        ("network", report.weights),
        ("seed", None if report.seed is None else str(report.seed)),
        ("preset of the first topology", report.preset),
        ("updates", ", ".join(f"{count} {mode}" for mode, count in modes.most_common())),
        *((f"radio: {name}", value) for name, value in radio_facts(layout.radio, layout.fleet)),
        ("version", f"manetdiff {__version__}"),
    ]
    file = html.escape(json.dumps(layout.radio.to_dict(), indent=1))
    whole = f'<details class="on-screen"><summary>The radio as a file</summary><pre>{file}</pre></details>'
    return _facts([(name, value) for name, value in rows if value]) + whole


def _facts(rows: Iterable[tuple[str, str]]) -> str:
    lines = [f'<tr><th scope="row">{name}</th><td>{html.escape(value)}</td></tr>' for name, value in rows]
    return f'<table class="facts">{"".join(lines)}</table>'


def _first_and_last(moments: Sequence[Moment]) -> str:
    """Side by side, on the same scale: what went and what came in between."""
    first, last = moments[0], moments[-1]
    view = View.of((first.fleet, last.fleet))
    if len(moments) == 1:
        return topology_legend([first], ("kept", "link")) + _picture(first, first, view, "dropped")
    legend = topology_legend(
        [first, last], ("kept", "link of both"), ("dropped", "only in the first"), ("new", "only in the last")
    )
    pictures = _picture(first, last, view, "dropped") + _picture(last, first, view, "new")
    return f'{legend}<div class="pair">{pictures}</div>'


def _picture(one: Moment, other: Moment, view: View, alone: Alone) -> str:
    there = set(link_names(other.topology))
    is_alone = np.array([name not in there for name in link_names(one.topology)], dtype=bool)
    title = f"At {number_text(one.time)} s"
    shown = svg_of(
        [topology_group(one.topology, view, is_alone, alone)], view, f"Topology of {len(one.fleet)} nodes: {title}"
    )
    return f"<figure><figcaption>{title}</figcaption>{shown}</figure>"


def _over_time(moments: Sequence[Moment]) -> str:
    figures = [
        f'<figure class="plot"><figcaption>{plot.title}</figcaption>{plot_legend(plot.legend)}'
        f"{svg_text(plot.figure, f'{plot.title}, over time', f'manetdiff {place}')}</figure>"
        for place, plot in enumerate(plots(moments))
    ]
    return f'<div class="pair">{"".join(figures)}</div>'


def _moments_table(moments: Sequence[Moment]) -> str:
    every = -(-len(moments) // SHOWN_ROWS)
    rows = [_row(one) for one in moments[::every]]
    head = "".join(f'<th scope="col">{name}</th>' for name in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row.values())}</tr>" for row in rows)
    note = "" if every == 1 else f'<p class="note">One moment of {every}; all of them are in metrics.csv.</p>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'{note}<div class="wide" tabindex="0" role="region" aria-label="Every moment">{table}</div>'


def _row(one: Moment) -> dict[str, str]:
    return {
        "time,\u00a0s": number_text(one.time),
        "nodes": f"{len(one.fleet)}",
        "links": f"{len(one.topology.links)}",
        "T,\u00a0Mbit/s": f"{one.metrics['throughput']:,.2f}",
        "sustained, Mbit/s": f"{one.metrics['sustained']:,.2f}",
        "valid": "yes" if one.metrics["valid"] == 1.0 else "no",
        "continuity": "–" if one.continuity is None else share_text(one.continuity),
        "added": f"{one.added}",
        "dropped": f"{one.dropped}",
        "how": html.escape(one.mode),
        "update,\u00a0ms": f"{one.milliseconds:,.1f}",
    }
