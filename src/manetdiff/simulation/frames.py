"""Moments as pictures of one size and scale, for an animation: the view flies along with the fleet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from manetdiff.flights.delivery import link_names
from manetdiff.pictures.animation import as_image
from manetdiff.pictures.far_out import drawn_in
from manetdiff.pictures.frame import (
    MARGIN,
    add_legend,
    add_panel,
    node_handles,
    saturation_handle,
)
from manetdiff.pictures.marks import LIGHT
from manetdiff.pictures.topologies import draw_around, draw_lines, line_width
from manetdiff.pictures.view import View
from manetdiff.simulation.run import Moment
from manetdiff.simulation.tables import rates_text
from manetdiff.topology import antenna_loads

# Inches of the longer side of the view, of the heading and of the legend below; dots an inch.
VIEW, HEADING, LEGEND, DPI = 6.0, 0.65, 0.95, 90
SHORTEST_SIDE = 3.0
# What must not be taken for another colour in an animation of few colours.
COLOURS = (*LIGHT.parity, LIGHT.kept, LIGHT.new, LIGHT.wrong)


def moment_pictures(moments: Sequence[Moment]) -> Iterator[Image.Image]:
    """A picture for each moment: links that are new since the moment before stand out."""
    fleets = [drawn_in(one.fleet) for one in moments]
    view = View.of(one.fleet for one in moments)
    half = view.half
    size = np.maximum(half / half.max() * VIEW, SHORTEST_SIDE)
    before: set[tuple[str, str]] | None = None
    for one, shown in zip(moments, fleets, strict=True):
        figure = Figure(
            figsize=(float(max(size[0], 5.2)) + 2 * MARGIN, float(size[1]) + HEADING + LEGEND),
            dpi=DPI,
            facecolor=LIGHT.paper,
        )
        corner = ((figure.get_figwidth() - float(size[0])) / 2, LEGEND)
        axes, scale = add_panel(figure, corner, size, shown, half, view.radius)
        names = link_names(one.topology)
        is_new = np.array([before is not None and name not in before for name in names], dtype=bool)
        segments = shown.horizontal[one.topology.links]
        width = line_width(len(one.fleet))
        draw_lines(axes, segments[~is_new], LIGHT.kept, "-", 0.9 * width * scale.thinner)
        draw_lines(axes, segments[is_new], LIGHT.new, "--", 1.2 * width)
        layout = one.topology.on()
        draw_around(axes, one.topology, layout, antenna_loads(one.topology, layout), scale, LIGHT, 7.5)
        figure.text(
            MARGIN / figure.get_figwidth(), 1 - 0.12 / figure.get_figheight(), _heading(one), va="top", fontsize=10
        )
        handles = [
            Line2D([], [], color=LIGHT.kept, linewidth=2.2, label="link"),
            Line2D([], [], color=LIGHT.new, linestyle="--", linewidth=2.2, label="new link"),
            *node_handles(LIGHT, sectors=scale.shows_sectors, blocked=shown.blocked is not None),
            saturation_handle(LIGHT),
        ]
        add_legend(figure, handles, LIGHT, MARGIN, LEGEND - 0.4, columns=3)
        yield as_image(figure)
        before = set(names)


def _heading(one: Moment) -> str:
    changed = "" if one.continuity is None else f", {one.added} new, {one.dropped} dropped"
    return (
        f"{one.time:.1f} s: {len(one.topology.links)} links{changed}\n"
        f"T {rates_text(one)}, {'valid' if one.metrics['valid'] == 1.0 else 'not valid'}"
    )
