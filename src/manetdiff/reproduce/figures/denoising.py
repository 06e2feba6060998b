"""The denoising of one topology as a picture and as an animation: from links at random to a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.pictures.animation import as_image, gif_bytes
from manetdiff.pictures.frame import (
    MARGIN,
    Handle,
    add_legend,
    add_panel,
    half_extent,
    new_figure,
    node_handles,
    saturation_handle,
)
from manetdiff.pictures.marks import LIGHT, draw_nodes, draw_sectors, node_radius
from manetdiff.pictures.topologies import draw_lines
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.denoising import denoised as runtime_denoised
from manetdiff.topology import Topology, antenna_loads, same_parity
from manetdiff.weights import PAPER

PANELS, COLUMNS = 6, 3
# Inches: the longer side of a panel, the room for a title above it, and for the legend below all.
PANEL, HEADING, LEGEND = 3.6, 0.7, 0.75
# Nodes are drawn larger than in a picture of one topology: they have no names here, and the panels are small.
LARGER = 1.5
# Of the animation: dots an inch, and milliseconds that the first, each other and the last picture stay.
ANIMATION_DPI = 110
FIRST_MS, EACH_MS, LAST_MS = 1_000, 140, 3_000

Bools = npt.NDArray[np.bool_]


def denoised(fleet: Fleet, steps: int, seed: int, weights: str = PAPER) -> list[Topology]:
    """Pure noise and what each step makes of it, steps + 1 topologies, by the weights' own radio and sampling.

    The last one is what generate gives for the same steps and seed without correction and polish.
    """
    bundle = find_bundle(weights)
    states = runtime_denoised(Chain(bundle), Layout(fleet, bundle.radio), steps, seed)
    return [topology for _, topology in states]


def picture_of_steps(states: Sequence[Topology]) -> Figure:
    """Six moments of a denoising, evenly spaced from its noise to its end."""
    last = len(states) - 1
    shown = np.unique(np.linspace(0, last, min(PANELS, len(states))).round().astype(int)).tolist()
    size = _panel_size(states[0].on().fleet)
    rows = -(-len(shown) // COLUMNS)
    width = COLUMNS * (size[0] + MARGIN) + MARGIN
    figure = new_figure(width, rows * (size[1] + HEADING) + LEGEND, LIGHT)
    for place, step in enumerate(shown):
        row, column = divmod(place, COLUMNS)
        corner = (MARGIN + column * (size[0] + MARGIN), LEGEND + (rows - 1 - row) * (size[1] + HEADING))
        _draw_state(figure, corner, size, states[step], _heading(step, last))
    add_legend(figure, _handles(), LIGHT, MARGIN, LEGEND - 0.1, columns=COLUMNS)
    return figure


def animation(states: Sequence[Topology], *, every: int = 1) -> bytes:
    """A GIF of the denoising that starts over and over. every: shows each so manyth step, and always the last."""
    last = len(states) - 1
    shown = [*range(0, last, every), last]
    pictures = [_frame(states[step], _heading(step, last)) for step in shown]
    stay = [FIRST_MS, *[EACH_MS * every] * (len(pictures) - 2), LAST_MS][-len(pictures) :]
    return gif_bytes(pictures, stay)


def _frame(topology: Topology, heading: str) -> Image.Image:
    size = _panel_size(topology.on().fleet) * 1.3
    legend = 1.0
    figure = new_figure(max(size[0], 5.0) + 2 * MARGIN, size[1] + HEADING + legend, LIGHT, ANIMATION_DPI)
    corner = ((figure.get_figwidth() - size[0]) / 2, legend)
    _draw_state(figure, corner, size, topology, heading)
    add_legend(figure, _handles(), LIGHT, MARGIN, legend - 0.1, columns=2)
    return as_image(figure)


def _draw_state(
    figure: Figure, corner: tuple[float, float], size: npt.NDArray[np.float64], topology: Topology, heading: str
) -> None:
    layout = topology.on()
    fleet = layout.fleet
    half = half_extent(fleet)
    axes, scale = add_panel(figure, corner, size, fleet, half, LARGER * node_radius(fleet, 2 * half.max()))
    wrong, crowded = same_parity(topology), _on_shared_antennas(topology, layout)
    segments = fleet.horizontal[topology.links]
    # What is right lies on top: it is what a reader follows from panel to panel.
    draw_lines(axes, segments[crowded & ~wrong], LIGHT.dropped, ":", 1.6)
    draw_lines(axes, segments[wrong], LIGHT.wrong, "--", 1.1)
    draw_lines(axes, segments[~wrong & ~crowded], LIGHT.ink, "-", 1.8)
    draw_sectors(axes, fleet, layout.radio.boresight, antenna_loads(topology, layout), scale, LIGHT)
    draw_nodes(axes, fleet, topology.parity, scale, LIGHT)
    axes.set_title(heading, loc="left", color=LIGHT.ink, fontsize=12, fontweight="bold", pad=19)
    counts = f"{len(topology.links)} links, {wrong.sum()} break parity, {crowded.sum()} share an antenna"
    axes.annotate(
        counts, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points", fontsize=9, color=LIGHT.ink
    )


def _on_shared_antennas(topology: Topology, layout: Layout) -> Bools:
    """(m,) links that are not alone on the antenna at either end."""
    loads = antenna_loads(topology, layout)[topology.links, layout.pairs(topology.links).sector]
    return np.asarray((loads > 1).any(axis=1))


def _heading(step: int, last: int) -> str:
    what = ": pure noise" if step == 0 else ": the topology" if step == last else ""
    return f"step {step} of {last}{what}"


def _handles() -> list[Handle]:
    return [
        Line2D([], [], color=LIGHT.ink, linestyle="-", linewidth=2, label="link that keeps both rules"),
        Line2D([], [], color=LIGHT.wrong, linestyle="--", linewidth=2, label="link that breaks the parity"),
        Line2D([], [], color=LIGHT.dropped, linestyle=":", linewidth=2, label="link that shares an antenna"),
        saturation_handle(LIGHT),
        *node_handles(LIGHT)[:2],
    ]


def _panel_size(fleet: Fleet) -> npt.NDArray[np.float64]:
    """(2,) inches."""
    half = half_extent(fleet)
    return np.asarray(np.maximum(half / half.max() * PANEL, 0.6 * PANEL), dtype=np.float64)
