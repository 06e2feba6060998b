"""Pictures of large fleets: nodes stand apart, nothing clutters, faults are found; and what is blocked of a node."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection, LineCollection, PatchCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from manetdiff import Fleet, Topology
from manetdiff.layout import Layout
from manetdiff.pictures import draw_change, draw_topology
from manetdiff.pictures.frame import half_extent
from manetdiff.pictures.marks import DART, FULL_RADIUS, LIGHT, Scale, draw_sectors, node_radius
from manetdiff.pictures.page_svg import svg_of, topology_group
from manetdiff.pictures.view import View
from manetdiff.scenarios import draw

FloatArray = npt.NDArray[np.float64]
C = TypeVar("C", bound=Collection)
FULL, CROWDED = Scale(1.0, 100.0, 10.0), Scale(1.0, 250.0, 10.0)


def chain(fleet: Fleet, one_parity: int = 0) -> Topology:
    """A link from each node to the next, parities in turn, but for some last nodes that are all of parity 0."""
    parity = np.arange(len(fleet)) % 2
    parity[len(fleet) - one_parity :] = 0
    return Topology([(i, i + 1) for i in range(len(fleet) - 1)], parity, layout=Layout(fleet))


def fleet_of(family: str, n: int) -> Fleet:
    return draw(family, n, np.random.default_rng(n), spacing=500.0)


def nearest(fleet: Fleet) -> FloatArray:
    """(n,) metres from each node to the next."""
    x, y = fleet.horizontal.T
    distance = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(distance, np.inf)
    return np.asarray(distance.min(axis=1))


def scale_of(fleet: Fleet) -> Scale:
    span = float(2 * half_extent(fleet).max())
    return Scale(node_radius(fleet, span), span, 1.0)


def colour_of(collection: Collection) -> str | None:
    """Of its first line or outline."""
    colours = np.asarray(collection.get_edgecolor())
    return to_hex(tuple(colours[0])) if colours.ndim == 2 and len(colours) else None


def of_kind(axes: Axes, kind: type[C], colour: str | None = None) -> list[C]:
    return [one for one in axes.collections if isinstance(one, kind) and colour in (None, colour_of(one))]


def corners(collection: Collection) -> list[FloatArray]:
    """(k, 2) of each of its outlines."""
    return [np.asarray(path.vertices) for path in collection.get_paths()]


@pytest.mark.parametrize("family", ["scatter", "streets", "sea-lanes"])
def test_a_thousand_nodes_are_all_there_and_leave_each_other_room(family: str) -> None:
    fleet = fleet_of(family, 1000)
    figure = draw_topology(chain(fleet))
    axes = figure.axes[0]
    darts, drops = (corners(one) for one in of_kind(axes, PolyCollection))
    assert (len(darts), len(drops)) == (500, 500)
    for bit, outlines in enumerate((darts, drops)):  # each lies around its node
        places = fleet.horizontal[bit::2]
        assert (np.array([one.min(axis=0) for one in outlines]) < places).all()
        assert (np.array([one.max(axis=0) for one in outlines]) > places).all()
    length = np.ptp(DART[:, 0]) * scale_of(fleet).radius
    assert np.mean(nearest(fleet) < length) < 0.5
    metres_a_dot = np.ptp(axes.get_xlim()) / axes.get_window_extent().width
    assert length / metres_a_dot > 15  # dots: enough to tell a dart from a drop
    # All of a kind is one artist, so that a thousand nodes take no longer than they must.
    assert len(axes.get_children()) < 25
    (length_of_bar,) = (text.get_text() for text in axes.texts)  # and no names
    assert length_of_bar.endswith("km")
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words[:2] == ["sends in slot A (parity 0)", "sends in slot B (parity 1)"]
    assert "sector boundary" not in words
    assert of_kind(axes, LineCollection, LIGHT.faint) == []


@pytest.mark.parametrize("n", [2, 16, 40, 41, 64, 128])
def test_small_fleets_are_drawn_in_full_however_close_some_nodes_are(n: int) -> None:
    fleet = fleet_of("scatter", n)
    close = Fleet(np.vstack([fleet.positions[:-1], fleet.positions[0] + 1e-3]), fleet.yaw)
    for one in (fleet, close) if n > 2 else (fleet,):
        scale = scale_of(one)
        assert scale.thinner == 1.0
        assert scale.striking == scale.radius
        assert scale.shows_sectors


def test_what_has_to_be_found_in_a_crowd_is_not_drawn_smaller() -> None:
    fleet = fleet_of("streets", 600)
    full = FULL_RADIUS * scale_of(fleet).span
    assert full > 1.1 * scale_of(fleet).radius
    topology = chain(fleet, one_parity=20)
    axes = draw_topology(topology).axes[0]
    (wedges,) = of_kind(axes, PatchCollection, LIGHT.wrong)
    assert max(np.hypot(*(wedge - wedge[-1]).T).max() for wedge in corners(wedges)) > 3 * full
    links, wrong = of_kind(axes, LineCollection)
    assert (len(links.get_segments()), len(wrong.get_segments())) == (580, 19)
    assert np.min(wrong.get_linewidth()) > np.max(links.get_linewidth())
    (rings,) = of_kind(draw_change(topology, chain(fleet.part(np.arange(599)))).axes[0], PatchCollection, LIGHT.dropped)
    (ring,) = corners(rings)
    assert np.ptp(ring[:, 0]) == pytest.approx(2 * 2.3 * full, rel=0.2)


@pytest.mark.parametrize(("n", "clipped"), [(64, False), (300, True)])
def test_one_fast_link_among_hundreds_does_not_take_the_colours_of_the_others(n: int, clipped: bool) -> None:
    places = np.stack([np.arange(n) * 100.0, np.zeros(n)], axis=1)
    places[1] = (1.0, 0.0)
    figure = draw_topology(chain(Fleet(places, np.zeros(n))))
    links, _ = of_kind(figure.axes[0], LineCollection)[:2]
    rates = np.asarray(links.get_array())
    fastest = links.get_clim()[1]
    assert fastest is not None
    assert (rates.max() > fastest) == clipped
    # A tip at the bar's end says that there is more beyond.
    tips = [patch for patch in figure.axes[1].patches if np.asarray(patch.get_path().vertices).max() > 1.0]
    assert bool(tips) == clipped


def test_blocked_azimuths_are_drawn_where_the_node_is_blocked_and_sectors_are_seen() -> None:
    fleet = Fleet([[0, 0], [9, 0]], [np.pi / 2, 0.0], blocked=[[(-0.5, 0.5)], [(1.0, 2.0), (3.0, 4.0)]])
    drawn = []
    for scale in (FULL, CROWDED):
        axes = Figure().add_subplot()
        draw_sectors(axes, fleet, 0.0, np.zeros((2, 4), dtype=np.int64), scale, LIGHT)
        drawn.append([one for one in of_kind(axes, PatchCollection) if one.get_paths()])
    (band,), nothing = drawn
    assert nothing == []
    assert len(corners(band)) == 3
    ahead = corners(band)[0][:-1]  # node 0 looks north, and is blocked ahead; the last corner closes the outline
    assert np.abs(np.arctan2(ahead[:, 0], ahead[:, 1])).max() == pytest.approx(0.5)
    shown = draw_topology(chain(fleet))
    assert "blocked: no antenna there" in [text.get_text() for text in shown.legends[0].get_texts()]
    view = View.of([fleet])
    assert 'class="blocked"' in topology_group(chain(fleet), view, np.zeros(1, bool), "new")


def test_a_page_shows_a_crowd_larger_and_with_thinner_lines() -> None:
    few, many = (View.of([fleet_of("streets", n)]) for n in (64, 600))
    small, large = (svg_of([], view, "fleet") for view in (few, many))
    assert "--thinner" not in small
    assert "--thinner: 0." in large

    def enlarged(svg: str) -> float:
        shown, drawn = svg.split('width="')[1], svg.split('viewBox="')[1]
        return float(shown.split('"')[0]) / float(drawn.split('"')[0].split()[2])

    assert enlarged(small) == 1.0
    assert enlarged(large) > 1.2
