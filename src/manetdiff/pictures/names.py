"""The ids of nodes in a picture, each where it hides least."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from manetdiff.fleet import Fleet
from manetdiff.pictures.marks import FloatArray, Scale, Style

LONGEST_NAME = 12
LETTER = 0.62  # width of a letter, in heights of the font


def draw_names(
    axes: Axes,
    fleet: Fleet,
    named: npt.NDArray[np.bool_],
    links: npt.NDArray[np.int64],
    scale: Scale,
    style: Style,
    size: float,
) -> None:
    """The ids of the nodes to be named, (n,), each beside its node. size: of the font, in points."""
    for text, (x, y) in placed_names(fleet, named, links, scale, size):
        axes.text(
            x,
            y,
            text,
            fontsize=size,
            color=style.ink,
            ha="center",
            va="center_baseline",
            zorder=5,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.2, foreground=style.paper)],
        )


def placed_names(
    fleet: Fleet, named: npt.NDArray[np.bool_], links: npt.NDArray[np.int64], scale: Scale, size: float
) -> list[tuple[str, tuple[float, float]]]:
    """Ids as they can be drawn, and their middles: each beside its node, where links, nodes and ids leave most room.

    - named: (n,) which nodes. size: of the font, in points.
    """
    ends = fleet.horizontal[links]
    taken = np.empty((0, 2))
    placed = []
    for i in np.flatnonzero(named).tolist():
        text = legible(fleet.ids[i])
        half_width = LETTER / 2 * size / 72 * len(text) * scale.inch
        # As many points of a long name as a link could pass between.
        along = np.linspace(-half_width, half_width, 2 * math.ceil(len(text) / 3) + 1)
        line = np.stack([along, np.zeros_like(along)], axis=1)
        spots = fleet.horizontal[i] + _spots(scale, half_width)
        places = spots[:, None] + line
        # A name must not look like its neighbour's, so other nodes count as nearer than they are.
        others = 0.6 * _to_points(places, np.delete(fleet.horizontal, i, axis=0))
        room = np.minimum(np.minimum(_to_segments(places, ends), _to_points(places, taken)), others).min(axis=1)
        # Enough room is enough: among the roomy spots the nearest wins, as it comes first.
        best = int(np.argmax(np.minimum(room, 0.95 * size / 72 * scale.inch)))
        taken = np.concatenate([taken, places[best]])
        placed.append((text, (float(spots[best, 0]), float(spots[best, 1]))))
    return placed


def _spots(scale: Scale, half_width: float) -> FloatArray:
    """(k, 2) places for a name around its node, nearest first."""
    angle = np.radians(np.arange(0, 360, 15) + 30.0)
    rings = []
    for radii in (1.9, 2.6, 3.4):
        # Wider sideways, so that a long name begins where its node ends.
        wide, high = radii * scale.radius + half_width, radii * scale.radius + 0.04 * scale.inch
        rings.append(np.stack([wide * np.cos(angle), high * np.sin(angle)], axis=1))
    return np.concatenate(rings)


def _to_points(places: FloatArray, points: FloatArray) -> FloatArray:
    """Distance of places (…, 2) to the nearest of the points (k, 2); infinite where there are none."""
    nearest = np.linalg.norm(places[..., None, :] - points, axis=-1).min(axis=-1, initial=np.inf)
    return np.asarray(nearest, dtype=np.float64)


def _to_segments(places: FloatArray, ends: FloatArray) -> FloatArray:
    """Distance of places (…, 2) to the nearest of the segments (m, 2, 2); infinite where there are none."""
    if len(ends) == 0:
        return np.full(places.shape[:-1], np.inf)
    start, along = ends[:, 0], ends[:, 1] - ends[:, 0]
    offset = places[..., None, :] - start
    length_2 = (along * along).sum(-1)
    length_2[length_2 == 0] = 1.0  # between nodes above each other, a point
    share = np.clip((offset * along).sum(-1) / length_2, 0.0, 1.0)
    return np.asarray(np.linalg.norm(offset - share[..., None] * along, axis=-1).min(axis=-1), dtype=np.float64)


def legible(name: str) -> str:
    """An id as it can be drawn: one line, no characters that no font has, not too long."""
    text = "".join(letter if letter.isprintable() else "?" for letter in name)
    # Long ids of a fleet often begin alike: what tells them apart is at the end.
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME // 2 - 1]}…{text[-LONGEST_NAME // 2 :]}"
