"""The marks of a picture: nodes that point along their heading, their sectors and a scale bar.

All sizes are in the fleet's own unit: the axes are equal, so that a mark keeps its shape at any scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection, PolyCollection
from matplotlib.patches import Circle, Wedge

from manetdiff.fleet import Fleet
from manetdiff.fleet.azimuths import width_of
from manetdiff.wording import distance_text

FloatArray = npt.NDArray[np.float64]

# A dart for parity 0 and a drop for parity 1, (k, 2), pointing along +x: told apart without their colours.
DART = np.array([(1.5, 0.0), (-0.95, 0.75), (-0.6, 0.0), (-0.95, -0.75)])
BELLY_RADIUS = 0.72


def _drop(points: int) -> FloatArray:
    """points: corners of its round end."""
    belly = np.radians(np.linspace(62.0, 298.0, points))
    return np.concatenate([[(1.5, 0.0)], BELLY_RADIUS * np.stack([np.cos(belly), np.sin(belly)], axis=1) - (0.2, 0.0)])


DROP = _drop(26)
SHAPES = (DART, DROP)
# As round as small nodes need it, in a third of the file.
SMALL_SHAPES = (DART, _drop(9))

NAMED_UP_TO = 40  # nodes; more names than that hide the picture
CROWDED_FROM = 129  # nodes; from here on they may be drawn smaller than FULL_RADIUS
# Node radii, in shares of the view's longer side: what shows all that a node has, and what can still be found.
FULL_RADIUS, LEAST_RADIUS = 0.007, 0.0025
SECTOR_REACH = 2.5  # node radii that sector boundaries and saturated antennas reach out


@dataclass(frozen=True)
class Style:
    """Colours of a picture. parity and links after Okabe and Ito, whose colours colour-blind readers can tell apart."""

    paper: str
    ink: str
    faint: str
    parity: tuple[str, str]
    wrong: str
    kept: str
    new: str
    dropped: str
    rates: tuple[float, float]  # the part of the viridis colour map that stands out against the paper


LIGHT = Style(
    "#ffffff", "#1a1a1a", "#c4c8cc", ("#0072b2", "#e69f00"), "#d7191c", "#70757a", "#009e73", "#b0468c", (0, 0.88)
)
DARK = Style(
    "#14171c", "#e8eaed", "#4a5058", ("#56b4e9", "#e69f00"), "#ff5c5c", "#9aa0a6", "#2fd6a3", "#e58fc4", (0.3, 1)
)


@dataclass(frozen=True)
class Scale:
    """How large things are drawn. radius: of a node; span: longer side of the view; inch: units per inch of paper."""

    radius: float
    span: float
    inch: float

    @property
    def fullness(self) -> float:
        """1 where nodes have all their room, less in a crowd, where they are smaller."""
        return min(1.0, self.radius / (FULL_RADIUS * self.span))

    @property
    def thinner(self) -> float:
        """What the width of ordinary lines is multiplied by."""
        return math.sqrt(self.fullness)

    @property
    def striking(self) -> float:
        """The radius of a node as marks around it take it that have to be found in a crowd: up to twice what it is."""
        return self.radius / max(self.fullness, 0.5)

    @property
    def shows_sectors(self) -> bool:
        """Whether there is room for them, so that their boundaries can be told from links."""
        return self.fullness > 0.99  # 1, but for rounding


def node_radius(fleet: Fleet, span: float) -> float:
    """Large enough to be seen, small enough that neighbours seldom touch."""
    x, y = fleet.horizontal.T
    distance = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(distance, np.inf)
    near = float(np.percentile(distance.min(axis=1), 20))
    least, radius = 0.0125 if len(fleet) <= NAMED_UP_TO else FULL_RADIUS, 0.28 * near
    if len(fleet) >= CROWDED_FROM:
        # What would be small enough as it is may stand nose to tail.
        least, radius = LEAST_RADIUS, max(radius, min(0.38 * near, FULL_RADIUS * span))
    return float(np.clip(radius, least * span, 0.018 * span))


def draw_nodes(axes: Axes, fleet: Fleet, parity: npt.NDArray[np.int64], scale: Scale, style: Style) -> None:
    """Each node as the shape and in the colour of its parity, its tip along the heading."""
    cos, sin = np.cos(fleet.yaw), np.sin(fleet.yaw)
    turns = np.stack([np.stack([cos, sin], axis=1), np.stack([-sin, cos], axis=1)], axis=1)
    shapes = SHAPES if scale.shows_sectors else SMALL_SHAPES
    for bit in (0, 1):
        outlines = [fleet.horizontal[i] + scale.radius * shapes[bit] @ turns[i] for i in np.flatnonzero(parity == bit)]
        axes.add_collection(
            PolyCollection(
                outlines,
                facecolors=style.parity[bit],
                edgecolors=style.paper,
                linewidths=0.7 * scale.thinner,
                zorder=4,
            )
        )


def draw_rings(axes: Axes, places: FloatArray, scale: Scale, colour: str, dashes: str) -> None:
    """A circle around each of these places, (k, 2): nodes that only one of two fleets has."""
    circles = [Circle((float(x), float(y)), 2.3 * scale.striking) for x, y in places]
    axes.add_collection(
        PatchCollection(circles, facecolors="none", edgecolors=colour, linewidths=1.6, linestyles=dashes, zorder=4)
    )


def draw_sectors(
    axes: Axes, fleet: Fleet, boresight: float, loads: npt.NDArray[np.int64], scale: Scale, style: Style
) -> None:
    """Faint boundaries between the antennas of each node where there is room, and what is blocked of them; a wedge over
    each that more than one link shares.
    """
    sectors = loads.shape[1]
    width = 2 * np.pi / sectors
    forward = fleet.yaw + boresight
    reach = SECTOR_REACH * scale.radius
    if sectors > 1 and scale.shows_sectors:
        edge = forward[:, None] + (np.arange(sectors) + 0.5) * width
        direction = np.stack([np.cos(edge), np.sin(edge)], axis=-1)
        start = fleet.horizontal[:, None] + 0.9 * scale.radius * direction
        stop = fleet.horizontal[:, None] + reach * direction
        lines = np.stack([start, stop], axis=2).reshape(-1, 2, 2)
        axes.add_collection(LineCollection(list(lines), colors=style.faint, linewidths=0.7, zorder=1))
    if fleet.blocked is not None and scale.shows_sectors:
        bands = [
            Wedge(fleet.horizontal[i], reach, *np.degrees(turn), width=reach - 0.9 * scale.radius)
            for i, turn in blocked_turns(fleet)
        ]
        axes.add_collection(PatchCollection(bands, facecolors=style.faint, edgecolors="none", alpha=0.6, zorder=1))
    wedges = []
    for i, sector in np.argwhere(loads > 1):
        middle = forward[i] + sector * width
        low, high = np.degrees([middle - width / 2, middle + width / 2])
        x, y = fleet.horizontal[i].tolist()
        wedges.append(Wedge((x, y), 1.25 * SECTOR_REACH * scale.striking, float(low), float(high)))
    axes.add_collection(
        PatchCollection(wedges, facecolors=style.wrong, edgecolors=style.wrong, alpha=0.45, linewidths=0.8, zorder=2)
    )


def blocked_turns(fleet: Fleet) -> Iterator[tuple[int, tuple[float, float]]]:
    """Each arc without an antenna: its node, and its start and stop in radians counter-clockwise from +x."""
    for i, arcs in enumerate(fleet.blocked or ()):
        for arc in arcs:
            start = float(fleet.yaw[i]) + arc[0]
            yield i, (start, start + width_of(arc))


def draw_scale_bar(axes: Axes, scale: Scale, style: Style) -> None:
    """A bar of a round length below the data, with its length beside it."""
    length = round_length(0.25 * scale.span)
    left = axes.get_xlim()[0]
    below = axes.get_xaxis_transform()  # x in the fleet's unit, y in shares of the axes
    axes.plot([left, left + length], [-0.03, -0.03], color=style.ink, lw=2.5, transform=below, clip_on=False)
    axes.text(
        left + length + 0.015 * scale.span,
        -0.03,
        distance_text(length),
        color=style.ink,
        fontsize=9,
        va="center",
        transform=below,
    )


def round_length(longest: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is no longer than this."""
    power = 10.0 ** math.floor(math.log10(longest))
    return max(step * power for step in (1, 2, 5) if step * power <= longest or step == 1)
