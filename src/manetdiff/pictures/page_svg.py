"""Topologies as SVG inside a page: classes instead of colours, so that the page can be light or dark."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Literal

import numpy as np
import numpy.typing as npt

from manetdiff.fleet import Fleet
from manetdiff.pictures.far_out import drawn_in, far_out_marks
from manetdiff.pictures.frame import FloatArray
from manetdiff.pictures.marks import (
    BELLY_RADIUS,
    DART,
    DROP,
    NAMED_UP_TO,
    SECTOR_REACH,
    Scale,
    blocked_turns,
    round_length,
)
from manetdiff.pictures.names import LETTER, placed_names
from manetdiff.pictures.view import View
from manetdiff.topology import Topology, antenna_loads, same_parity
from manetdiff.wording import distance_text

# Longer side of the view, a strip below for the scale bar, and the height of names, in the SVG's own unit.
LONGEST, STRIP, NAME_SIZE = 600.0, 34.0, 15.0
# Of that unit in an inch, and of points in that unit: as CSS has them.
PER_INCH, POINTS = 96.0, 0.75
NARROWEST = 240.0

Alone = Literal["new", "dropped"]


def topology_group(
    topology: Topology, view: View, is_alone: npt.NDArray[np.bool_], alone: Alone, attributes: str = ""
) -> str:
    """A `<g>` with links, nodes and names; fleets of more than some forty nodes have neither names nor sectors.

    - is_alone: (m,) links that only this topology has, not the one that it is compared with. alone: what they are then.
    - attributes: of the `<g>`, as they stand in its tag.
    """
    layout = topology.on()
    fleet, scale = drawn_in(layout.fleet), _scale(view)
    ends, wrong = fleet.horizontal[topology.links], same_parity(topology)
    loads, forward = antenna_loads(topology, layout), fleet.yaw + layout.radio.boresight
    named = len(fleet) <= NAMED_UP_TO
    lines = [
        ("sectors", _sector_boundaries(fleet, forward, loads.shape[1], view.radius) if named else np.empty((0, 2, 2))),
        ("kept", ends[~is_alone & ~wrong]),
        (alone, ends[is_alone & ~wrong]),
        ("wrong", ends[wrong]),
    ]
    drawn = [_path("blocked", _blocked(fleet, view))] if named else []
    drawn.append(_path("crowded", _wedges(fleet, forward, loads, view)))
    drawn += [_path(name, [_line(_on_page(ends, fleet, view)) for ends in several]) for name, several in lines]
    for bit, outline in enumerate((_dart, _drop)):
        drawn.append(
            _path(f"parity-{bit}", [outline(fleet, i, view) for i in np.flatnonzero(topology.parity == bit).tolist()])
        )
    for mark in far_out_marks(layout.fleet, view.radius):
        drawn.append(_path("arrow", [_arrow(*_on_page(mark.arrow, fleet, view))]))
        first, second = (0.6, 1.7) if mark.below else (-1.7, -0.6)
        x, y = _on_page(mark.text_at, fleet, view)
        drawn += [_text(mark.name, x, y + first * NAME_SIZE), _text(mark.distance, x, y + second * NAME_SIZE)]
    if named:
        for name, place in placed_names(fleet, ~layout.fleet.far_out, topology.links, scale, NAME_SIZE * POINTS):
            drawn.append(_text(name, *_on_page(np.array(place), fleet, view)))
    return f"<g {attributes}>{''.join(drawn)}</g>" if attributes else f"<g>{''.join(drawn)}</g>"


def svg_of(groups: Iterable[str], view: View, label: str) -> str:
    """Groups of one view as an `<svg>` with a scale bar. label: what it shows, for those who cannot see it."""
    pixel = _pixel(view)
    width, height = (2 * view.half / pixel).tolist()
    length = round_length(0.5 * view.half.max())
    bar = height + STRIP / 2
    # Names may reach beyond the view, and the scale bar beyond a narrow one.
    room = max(LETTER * NAME_SIZE * view.letters, (NARROWEST - width) / 2, 0.0)
    box = f"{-room:.0f} 0 {width + 2 * room:.0f} {height + STRIP:.0f}"
    # A crowd is shown larger, where the page has room, and with thinner lines, that they do not bury its nodes.
    larger = _scale(view).striking / view.radius
    size = f'width="{larger * (width + 2 * room):.0f}" height="{larger * (height + STRIP):.0f}" viewBox="{box}"'
    if larger > 1:
        size += f' style="--thinner: {larger**-1.5:.2f}"'
    return (
        f'<svg class="topology" role="img" aria-label="{html.escape(label)}" {size}>{"".join(groups)}'
        f'<path class="bar" d="M0 {bar:.1f}h{length / pixel:.1f}"/>'
        f'<text class="length" x="{length / pixel + 8:.1f}" y="{bar:.1f}">{distance_text(length)}</text></svg>'
    )


def _pixel(view: View) -> float:
    """Metres for a unit of the SVG."""
    return float(2 * view.half.max() / LONGEST)


def _scale(view: View) -> Scale:
    return Scale(view.radius, 2 * float(view.half.max()), PER_INCH * _pixel(view))


def _on_page(points: FloatArray, fleet: Fleet, view: View) -> FloatArray:
    """(…, 2) in the SVG's unit, whose y grows downwards; the view's middle is the fleet's."""
    middle = (fleet.horizontal.min(axis=0) + fleet.horizontal.max(axis=0)) / 2
    return np.asarray(((points - middle) * (1, -1) + view.half) / _pixel(view), dtype=np.float64)


def _path(name: str, pieces: Iterable[str]) -> str:
    data = "".join(pieces)
    return f'<path class="{name}" d="{data}"/>' if data else ""


def _text(words: str, x: float, y: float) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}">{html.escape(words)}</text>'


def _arrow(start: FloatArray, stop: FloatArray) -> str:
    """A line with a head of two short ones."""
    back = 0.35 * (start - stop)
    aside = 0.6 * back[::-1] * (1, -1)
    return _line(np.array([start, stop])) + _line(np.array([stop + back + aside, stop, stop + back - aside]))


def _line(points: FloatArray) -> str:
    """Straight from point to point, (k, 2)."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points.tolist())


def _shape(outline: FloatArray, fleet: Fleet, i: int, view: View) -> FloatArray:
    """An outline (k, 2) that points along +x, where node i is and along its heading."""
    cos, sin = np.cos(fleet.yaw[i]), np.sin(fleet.yaw[i])
    turned = outline @ np.array([(cos, sin), (-sin, cos)])
    return _on_page(fleet.horizontal[i] + view.radius * turned, fleet, view)


def _dart(fleet: Fleet, i: int, view: View) -> str:
    return _line(_shape(DART, fleet, i, view)) + "Z"


def _drop(fleet: Fleet, i: int, view: View) -> str:
    """Its belly is one arc here, where a drawing on paper has many short lines."""
    tip, first, last = _shape(DROP[[0, 1, -1]], fleet, i, view)
    radius = BELLY_RADIUS * view.radius / _pixel(view)
    return f"{_line(np.array([tip, first]))}A{radius:.1f} {radius:.1f} 0 1 0 {last[0]:.1f} {last[1]:.1f}Z"


def _sector_boundaries(fleet: Fleet, forward: FloatArray, sectors: int, radius: float) -> FloatArray:
    """(k, 2, 2) a short line for each. forward: (n,) where each node's first sector looks."""
    if sectors == 1:
        return np.empty((0, 2, 2))
    angle = forward[:, None] + (np.arange(sectors) + 0.5) * 2 * np.pi / sectors
    direction = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    reach = radius * np.array([0.9, SECTOR_REACH])
    ends: FloatArray = fleet.horizontal[:, None, None] + reach[:, None] * direction[:, :, None]
    return ends.reshape(-1, 2, 2)


def _wedges(fleet: Fleet, forward: FloatArray, loads: npt.NDArray[np.int64], view: View) -> list[str]:
    """The antennas with more than one link, each a slice of pie; loads: (n, sectors). forward: as above."""
    width = 2 * np.pi / loads.shape[1]
    reach = 1.25 * SECTOR_REACH * _scale(view).striking
    return [
        _slice(fleet, i, forward[i] + width * (sector + np.linspace(-0.5, 0.5, 9)), reach, view)
        for i, sector in np.argwhere(loads > 1).tolist()
    ]


def _blocked(fleet: Fleet, view: View) -> list[str]:
    """Where nodes have no antenna, each a slice of pie."""
    reach = SECTOR_REACH * view.radius
    return [_slice(fleet, i, np.linspace(*turn, 25), reach, view) for i, turn in blocked_turns(fleet)]


def _slice(fleet: Fleet, i: int, angle: FloatArray, reach: float, view: View) -> str:
    """From node i to points at these angles, (k,)."""
    rim = fleet.horizontal[i] + reach * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return _line(_on_page(np.vstack([fleet.horizontal[i], rim]), fleet, view)) + "Z"
