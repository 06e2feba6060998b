"""Samples of a model beside the reference's topologies, as one picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from manetdiff.formats.files import PathLike
from manetdiff.layout import Layout
from manetdiff.pictures.far_out import drawn_in
from manetdiff.pictures.frame import (
    FOOT,
    MARGIN,
    TITLE,
    Handle,
    add_legend,
    add_panel,
    half_extent,
    new_figure,
    node_handles,
    saturation_handle,
    save,
    violation_handle,
)
from manetdiff.pictures.marks import LIGHT, Scale, node_radius
from manetdiff.pictures.topologies import DROPPED, NEW, compared_handles, draw_compared
from manetdiff.topology import Topology, metrics

PANEL = 4.0  # inches
LEGEND = 0.6


def draw_samples(references: Sequence[Topology], samples: Sequence[Topology], path: PathLike | None = None) -> Figure:
    """The references above, a model's samples for the same layouts below: which links are in both, and which in one."""
    foot = FOOT + LEGEND
    width = len(samples) * (PANEL + MARGIN) + MARGIN
    figure = new_figure(width, 2 * (PANEL + TITLE) + foot, LIGHT)
    sectors = False
    for column, (reference, sample) in enumerate(zip(references, samples, strict=True)):
        left, layout = MARGIN + column * (PANEL + MARGIN), reference.on()
        _panel(figure, (left, foot + PANEL + TITLE), "reference", reference, sample, layout)
        sectors |= _panel(figure, (left, foot), "sample", sample, reference, layout).shows_sectors
    handles: list[Handle] = [
        *compared_handles(LIGHT, "link in both", "only in the reference", "only in the sample"),
        *node_handles(LIGHT, sectors=sectors),
        violation_handle(LIGHT, marker="x"),
        saturation_handle(LIGHT),
    ]
    add_legend(figure, handles, LIGHT, MARGIN, LEGEND + 0.1, columns=4)
    if path is not None:
        save(figure, path)
    return figure


def _panel(
    figure: Figure, corner: tuple[float, float], name: str, shown: Topology, other: Topology, layout: Layout
) -> Scale:
    fleet = drawn_in(layout.fleet)
    half = half_extent(fleet)
    size = np.array([PANEL, PANEL])
    axes, scale = add_panel(figure, corner, size, fleet, half, node_radius(fleet, 2 * half.max()))
    score = metrics(shown, layout)
    verdict = "valid" if score["valid"] else "not valid"
    title = f"{name}: {len(shown.links)} links, {score['throughput']:.1f} Mbit/s, {verdict}"
    axes.set_title(title, loc="left", color=LIGHT.ink, fontsize=10, parse_math=False)
    alone = DROPPED if name == "reference" else NEW
    draw_compared(axes, shown, layout, other.adjacency, alone, scale, LIGHT, 7.0)
    return scale
