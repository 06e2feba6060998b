"""Nodes far out in a picture of the others: at its border, with an arrow and how far away they are.

Drawn where they are, they would leave the others one point.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from manetdiff.fleet import Fleet
from manetdiff.pictures.marks import FloatArray, Scale, Style
from manetdiff.pictures.names import legible
from manetdiff.wording import distance_text

# Radians between two of them at the border, so that neither hides the other.
APART = np.radians(14.0)
# How far outside the others the border is, in the longer half of what they fill.
BORDER = 0.35
# Node radii from such a node to where its arrow begins and ends.
ARROW = (2.6, 5.0)


def drawn_in(fleet: Fleet) -> Fleet:
    """The fleet as it is drawn: nodes far out stand around the others, in about their direction."""
    if not fleet.far_out.any():
        return fleet
    places = fleet.horizontal.copy()
    near = places[~fleet.far_out]
    middle = (near.min(axis=0) + near.max(axis=0)) / 2
    half = np.ptp(near, axis=0) / 2
    angle = _spaced(_angles(fleet))
    direction = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    # Along a box around the others.
    reach = 1 / (np.abs(direction) / (half + BORDER * half.max())).max(axis=1)
    places[fleet.far_out] = middle + reach[:, None] * direction
    return fleet.moved_to(places, fleet.yaw)


class FarOut(NamedTuple):
    """A node at the border: an arrow (2, 2) towards where it really is, and two lines of text, at a place (2,).

    - below: whether the text hangs below its place, or stands on it.
    """

    arrow: FloatArray
    name: str
    distance: str
    text_at: FloatArray
    below: bool


def far_out_marks(fleet: Fleet, radius: float) -> Iterator[FarOut]:
    """Each of them with its name, and how far it is from the others. radius: of a node."""
    places = drawn_in(fleet).horizontal
    for node, offset, angle in zip(np.flatnonzero(fleet.far_out), _away(fleet), _angles(fleet), strict=True):
        direction = np.array([np.cos(angle), np.sin(angle)])
        below = bool(direction[1] >= -0.4)
        yield FarOut(
            places[node] + radius * np.outer(ARROW, direction),
            legible(fleet.ids[node]),
            distance_text(float(np.hypot(*offset))),
            places[node] + (0.0, (-ARROW[0] if below else ARROW[0]) * radius),
            below,
        )


def draw_far_out(axes: Axes, fleet: Fleet, scale: Scale, style: Style, font: float) -> None:
    """An arrow from each of them to where it really is; below it its name, and how far it is from the others."""
    for mark in far_out_marks(fleet, scale.radius):
        start, stop = ((float(x), float(y)) for x, y in mark.arrow)
        axes.annotate(
            "",
            xy=stop,
            xytext=start,
            arrowprops={"arrowstyle": "->", "color": style.ink, "lw": 1.2, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
        )
        axes.text(
            float(mark.text_at[0]),
            float(mark.text_at[1]),
            f"{mark.name}\n{mark.distance}",
            fontsize=font,
            color=style.ink,
            ha="center",
            va="top" if mark.below else "bottom",
            zorder=5,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.2, foreground=style.paper)],
        )


def _away(fleet: Fleet) -> FloatArray:
    """(k, 2) from the middle of the others to each of them, in metres."""
    places = fleet.horizontal
    return np.asarray(places[fleet.far_out] - places[~fleet.far_out].mean(axis=0))


def _angles(fleet: Fleet) -> FloatArray:
    away = _away(fleet)
    return np.arctan2(away[:, 1], away[:, 0])


def _spaced(angle: FloatArray) -> FloatArray:
    """The angles, moved as little as it takes for them to lie apart: those too close share out around their mean."""
    apart = min(APART, 2 * np.pi / len(angle))
    order = np.argsort(angle, kind="stable")
    groups: list[tuple[float, int]] = []  # mean of what is left of the angles without their spacing, and how many
    for place, value in enumerate(angle[order].tolist()):
        mean, count = value - place * apart, 1
        while groups and groups[-1][0] > mean:
            other, more = groups.pop()
            mean, count = (mean * count + other * more) / (count + more), count + more
        groups.append((mean, count))
    spaced = np.empty(len(angle))
    spaced[order] = np.concatenate([np.full(count, mean) for mean, count in groups]) + apart * np.arange(len(angle))
    return spaced
