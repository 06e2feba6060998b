"""The flight inside the report: a picture a moment, which a few lines of script play, pause and step through."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from manetdiff.flights.delivery import link_names
from manetdiff.pictures.page_svg import svg_of, topology_group
from manetdiff.pictures.view import View
from manetdiff.simulation.legends import topology_legend
from manetdiff.simulation.run import Moment
from manetdiff.simulation.tables import rates_text
from manetdiff.wording import number_text

# Pictures of a flight, and nodes in all of them together: more would make the page slow to open.
MOST_PICTURES, MOST_NODES = 300, 24_000

CONTROLS = """<div class="controls">
<button type="button">Play</button>
<button type="button">Step back</button>
<button type="button">Step on</button>
<label>Moment <input type="range" min="0" max="{last}" value="0" step="1"></label>
</div>"""


def flight_html(moments: Sequence[Moment]) -> str:
    """The player, for the page's script to bring to life; without it the first picture stands there."""
    most = max(1, min(MOST_PICTURES, MOST_NODES // max(len(one.fleet) for one in moments)))
    every = -(-len(moments) // most)
    shown = moments[::every]
    view = View.of(one.fleet for one in shown)
    groups: list[str] = []
    before: set[tuple[str, str]] | None = None
    for place, one in enumerate(shown):
        names = link_names(one.topology)
        is_new = np.array([before is not None and name not in before for name in names], dtype=np.bool_)
        hidden = " hidden" if place else ""
        why = "" if one.why is None else f' data-why="{html.escape(chr(10).join(one.why.lines()))}"'
        attributes = f'class="moment" data-told="{html.escape(_told(one, int(is_new.sum()), before))}"{why}{hidden}'
        groups.append(topology_group(one.topology, view, is_new, "new", attributes))
        before = set(names)
    note = "" if every == 1 else f'<p class="note">One moment of {every} is shown.</p>'
    return "\n".join(
        [
            '<div id="player">',
            CONTROLS.format(last=len(shown) - 1),
            '<p class="note without-script">Scripts are switched off here, so this is the first moment only.</p>',
            f'<output aria-live="polite">{html.escape(_told(shown[0], 0, None))}</output>',
            topology_legend(shown, ("kept", "link"), ("new", "link that is new since the picture before")),
            svg_of(groups, view, "The fleet and its links; the text above says which moment is shown"),
            '<ul class="why" aria-label="Why links have changed"></ul>' if any(one.why for one in shown) else "",
            "</div>",
            note,
        ]
    )


def _told(one: Moment, new: int, before: set[tuple[str, str]] | None) -> str:
    """A moment in a line of text. new: links that were not in the picture before."""
    changed = ""
    if before is not None:
        changed = f" ({new} new, {len(before) + new - len(one.topology.links)} dropped)"
    verdict = "valid" if one.metrics["valid"] == 1.0 else "not valid"
    return (
        f"At {number_text(one.time)} s: {len(one.fleet)} nodes, {len(one.topology.links)} links{changed}, "
        f"T {rates_text(one)}, {verdict}"
    )
