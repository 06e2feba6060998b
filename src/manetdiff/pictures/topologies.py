"""A topology as a picture: who is linked to whom, how well, in which slot each node sends, and what is wrong.

Figures are made without pyplot, so that drawing has no global state and needs no display.
"""

from __future__ import annotations

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from manetdiff.fleet import Fleet
from manetdiff.formats.files import PathLike
from manetdiff.layout import Layout
from manetdiff.pictures.far_out import draw_far_out, drawn_in
from manetdiff.pictures.frame import (
    FOOT,
    MARGIN,
    TITLE,
    TITLE_LINE,
    Dashes,
    FloatArray,
    Handle,
    add_colour_bar,
    add_legend,
    add_panel,
    dots_an_inch,
    half_extent,
    new_figure,
    node_handles,
    panel_size,
    ring_handle,
    saturation_handle,
    save,
    violation_handle,
)
from manetdiff.pictures.marks import (
    CROWDED_FROM,
    DARK,
    LIGHT,
    NAMED_UP_TO,
    Scale,
    Style,
    draw_nodes,
    draw_rings,
    draw_scale_bar,
    draw_sectors,
    node_radius,
)
from manetdiff.pictures.names import draw_names
from manetdiff.radio import Radio, link_rates
from manetdiff.topology import (
    SLOT_SHARE,
    Topology,
    antenna_loads,
    carried_over,
    count_components,
    kept,
    places_in,
    same_parity,
)
from manetdiff.wording import number_text

LEGEND = 2.5  # inches beside the data
PAIR_LEGEND = 0.55  # inches below it
# Percentiles of the rates between which colours differ: in a crowd some pair is side by side, and the rate of that one
# link would leave all others one colour.
ALL, NEARLY_ALL = (0, 100), (1, 99)
# How links are drawn that only the first, or only the second, of two topologies has.
DROPPED: Dashes = ":"
NEW: Dashes = "--"

IntArray = npt.NDArray[np.int64]


def draw_topology(
    topology: Topology,
    fleet: Fleet | None = None,
    radio: Radio | None = None,
    path: PathLike | None = None,
    *,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """The topology as a figure; with a path (.png, .svg, .pdf, or `-` for standard output) it is also written there.

    - fleet, radio: where to show it; by default those that it was made for.
    """
    layout = topology.on(fleet, radio)
    fleet = drawn_in(layout.fleet)
    style = DARK if dark else LIGHT
    rates = link_rates(layout.placement, topology.links, topology.parity).sum(axis=1)
    loads = antenna_loads(topology, layout)
    wrong = same_parity(topology)
    half = half_extent(fleet)
    size = panel_size(half, len(fleet))
    span = float(2 * half.max())
    radius = node_radius(fleet, span)
    figure = new_figure(size[0] + 2 * MARGIN + LEGEND, size[1] + TITLE + FOOT, style, dots_an_inch(radius, span))
    axes, scale = add_panel(figure, (MARGIN, FOOT), size, fleet, half, radius)

    segments = fleet.horizontal[topology.links]
    width = line_width(len(fleet))
    between = ALL if len(fleet) < CROWDED_FROM else NEARLY_ALL
    colours = _draw_rates(axes, segments[~wrong], rates[~wrong], between, width * scale.thinner, style)
    draw_lines(axes, segments[wrong], style.wrong, "--", width)
    draw_around(axes, topology, layout, loads, scale, style, 8.5 if len(fleet) <= 20 else 7.5)
    shown = title if title is not None else _headline(topology, loads, float(rates.sum()))
    axes.set_title(shown, loc="left", color=style.ink, fontsize=11, parse_math=False)

    handles = node_handles(style, sectors=scale.shows_sectors, blocked=fleet.blocked is not None)
    if wrong.any():
        handles.append(violation_handle(style, dashes="--"))
    if (loads > 1).any():
        handles.append(saturation_handle(style))
    right = MARGIN + size[0] + 0.25
    add_legend(figure, handles, style, right, FOOT + size[1], columns=1)
    if colours is not None:
        add_colour_bar(figure, colours, style, (right + 0.15, FOOT), height=min(2.8, size[1] - 2.1))
    if path is not None:
        save(figure, path)
    return figure


def draw_change(
    before: Topology,
    after: Topology,
    fleet: Fleet | None = None,
    moved: Fleet | None = None,
    radio: Radio | None = None,
    path: PathLike | None = None,
    *,
    titles: tuple[str, str] | None = None,
    dark: bool = False,
) -> Figure:
    """Two topologies side by side, on the same scale: which links were kept, which are new, which went.

    before belongs to the fleet, after to the moved fleet, each by default to its own. Nodes are matched by id, in
    whatever order; those that have left, and those that have joined, are ringed.
    """
    before, after = (
        Topology(one.links, one.parity, layout=one.on(where, radio)) for one, where in ((before, fleet), (after, moved))
    )
    style = DARK if dark else LIGHT
    fleets = [drawn_in(one.on().fleet) for one in (before, after)]
    half = np.max([half_extent(one) for one in fleets], axis=0)
    size = panel_size(half, max(map(len, fleets))) * 0.85
    span = float(2 * half.max())
    radius = min(node_radius(one, span) for one in fleets)
    foot = FOOT + PAIR_LEGEND
    gone = [places_in(fleets[1 - place], fleets[place]) < 0 for place in (0, 1)]
    headings = titles or (
        f"before: {_counted(len(before.links), 'link')}" + _of_nodes(gone[0], "left since"),
        f"after: {_counted(len(after.links), 'link')}, {kept(before, after):.0%} of the old ones kept"
        + _of_nodes(gone[1], "joined"),
    )
    more_lines = max(heading.count("\n") for heading in headings)
    height = size[1] + TITLE + more_lines * TITLE_LINE + foot
    figure = new_figure(2 * size[0] + 3 * MARGIN, height, style, dots_an_inch(radius, span))
    violated = saturated = False
    for place, (topology, other, dashes) in enumerate(((before, after, DROPPED), (after, before, NEW))):
        where = fleets[place]
        axes, scale = add_panel(figure, (MARGIN + place * (size[0] + MARGIN), foot), size, where, half, radius)
        axes.set_title(headings[place], loc="left", color=style.ink, fontsize=11, parse_math=False)
        shared = carried_over(other, topology.on()).adjacency
        font = 7.5 if len(where) <= 20 else 6.5
        draw_compared(axes, topology, topology.on(), shared, dashes, scale, style, font)
        draw_rings(axes, where.horizontal[gone[place]], scale, style.new if place else style.dropped, dashes)
        violated |= bool(same_parity(topology).any())
        saturated |= bool((antenna_loads(topology, topology.on()) > 1).any())

    handles: list[Handle] = [
        *compared_handles(style, "kept link", "dropped link", "new link"),
        *node_handles(style, sectors=scale.shows_sectors, blocked=any(one.blocked is not None for one in fleets)),
    ]
    if gone[0].any():
        handles.append(ring_handle(style.dropped, "node that left"))
    if gone[1].any():
        handles.append(ring_handle(style.new, "node that joined"))
    if violated:
        handles.append(violation_handle(style, marker="x"))
    if saturated:
        handles.append(saturation_handle(style))
    add_legend(figure, handles, style, MARGIN, PAIR_LEGEND + 0.1, columns=4 if len(handles) > 6 else 3)
    if path is not None:
        save(figure, path)
    return figure


def line_width(n: int) -> float:
    """Of a link that is to be noticed, in points; others are thinner where the scale says so."""
    return 2.2 if n <= NAMED_UP_TO else 1.5


def draw_lines(axes: Axes, segments: FloatArray, colour: str, dashes: str, width: float) -> None:
    """Links of one colour. segments: (m, 2, 2)."""
    axes.add_collection(
        LineCollection(list(segments), colors=colour, linewidths=width, linestyles=dashes, zorder=3), autolim=False
    )


def draw_compared(
    axes: Axes,
    topology: Topology,
    layout: Layout,
    shared: npt.NDArray[np.bool_],
    alone: Dashes,
    scale: Scale,
    style: Style,
    font: float,
) -> None:
    """One of two topologies: links that both have, as shared (n, n) says, links of its own, and what is wrong.

    - alone: DROPPED or NEW, what its own links are.
    """
    width = line_width(len(layout))
    segments = drawn_in(layout.fleet).horizontal[topology.links]
    same = shared[topology.links[:, 0], topology.links[:, 1]]
    draw_lines(axes, segments[same], style.kept, "-", 0.9 * width * scale.thinner)
    draw_lines(axes, segments[~same], style.dropped if alone == DROPPED else style.new, alone, 1.1 * width)
    middles = segments[same_parity(topology)].mean(axis=1)
    axes.plot(middles[:, 0], middles[:, 1], "x", color=style.wrong, ms=8, mew=2.2, zorder=4)
    draw_around(axes, topology, layout, antenna_loads(topology, layout), scale, style, font)


def compared_handles(style: Style, both: str, dropped: str, new: str) -> list[Handle]:
    """Legend entries of their links."""
    return [
        Line2D([], [], color=style.kept, linestyle="-", linewidth=2.2, label=both),
        Line2D([], [], color=style.dropped, linestyle=DROPPED, linewidth=2.2, label=dropped),
        Line2D([], [], color=style.new, linestyle=NEW, linewidth=2.2, label=new),
    ]


def _draw_rates(
    axes: Axes, segments: FloatArray, rates: FloatArray, between: tuple[int, int], width: float, style: Style
) -> ScalarMappable | None:
    """Links coloured by rate; what the colour bar needs, or None where there are no links. between: percentiles."""
    if len(rates) == 0:
        return None
    low, high = np.percentile(rates, between).tolist()
    if high - low < 0.1 * high or high <= 0:  # all alike: not worth a scale that makes them look different
        low, high = 0.0, max(high, 1e-12)
    shades = ListedColormap(matplotlib.colormaps["viridis"](np.linspace(*style.rates, 256)))
    order = np.argsort(rates, kind="stable")  # the fastest on top
    lines = LineCollection(
        list(segments[order]), array=rates[order], cmap=shades, norm=Normalize(low, high), linewidths=width, zorder=3
    )
    axes.add_collection(lines, autolim=False)
    return lines


def draw_around(
    axes: Axes, topology: Topology, layout: Layout, loads: IntArray, scale: Scale, style: Style, font: float
) -> None:
    """Everything but the links."""
    fleet = layout.fleet
    shown = drawn_in(fleet)
    draw_sectors(axes, shown, layout.radio.boresight, loads, scale, style)
    draw_nodes(axes, shown, topology.parity, scale, style)
    draw_far_out(axes, fleet, scale, style, font)
    if len(fleet) <= NAMED_UP_TO:
        draw_names(axes, shown, ~fleet.far_out, topology.links, scale, style, font)
    draw_scale_bar(axes, scale, style)


def _headline(topology: Topology, loads: IntArray, total: float) -> str:
    """What there is to say in one line: size, throughput, and valid or what is wrong."""
    components = count_components(topology.links, len(topology))
    counts = (
        (int(same_parity(topology).sum()), "parity violation"),
        (int((loads > 1).sum()), "saturated antenna"),
        (components if components > 1 else 0, "component"),
    )
    wrong = ", ".join(_counted(count, what) for count, what in counts if count)
    verdict = f"not valid ({wrong})" if wrong else "valid"
    rates = f"{number_text(total)} Mbit/s ({number_text(SLOT_SHARE * total)} sustained)"
    return f"{len(topology)} nodes, {_counted(len(topology.links), 'link')}, {rates}: {verdict}"


def _of_nodes(which: npt.NDArray[np.bool_], what: str) -> str:
    """A second line of a heading, where there is something to say."""
    return f"\n{_counted(int(which.sum()), 'node')} {what}" if which.any() else ""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
