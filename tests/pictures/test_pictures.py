"""Pictures: every size, every fault, no warnings, the same bytes every time."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from manetdiff import Fleet, Radio, Topology, solve
from manetdiff.errors import FormatError, TopologyError
from manetdiff.pictures import draw_change, draw_topology
from manetdiff.pictures.far_out import drawn_in
from manetdiff.pictures.marks import LIGHT, Scale, draw_sectors, round_length
from manetdiff.pictures.names import LETTER, LONGEST_NAME, placed_names
from manetdiff.pictures.samples import draw_samples
from manetdiff.scenarios import draw
from manetdiff.wording import distance_text

PNG = b"\x89PNG\r\n\x1a\n"


def fleet_of(n: int, seed: int = 0) -> Fleet:
    return draw("scatter", n, np.random.default_rng(seed), reach=4.0)


def any_topology(n: int, links: int, seed: int = 0) -> Topology:
    """Links at random: parity violations, saturated antennas and all."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(np.ones((n, n)), 1))
    return Topology(rng.permutation(pairs)[:links], rng.integers(0, 2, n))


@pytest.fixture(autouse=True)
def no_warnings() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize(("n", "dark"), [(2, True), (40, False), (41, True), (256, False)])
def test_any_size_draws_alone_and_in_a_pair(tmp_path: Path, n: int, dark: bool) -> None:
    before, after = any_topology(n, 2 * n, 1), any_topology(n, n + 3, 2)
    draw_topology(before, fleet_of(n), Radio(), tmp_path / "p.png", dark=dark)
    if n < 100:
        draw_change(before, after, fleet_of(n, 1), fleet_of(n, 2), None, tmp_path / "pair.png", dark=dark)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(written) == ({"p.png", "pair.png"} if n < 100 else {"p.png"})
    assert all(content.startswith(PNG) for content in written.values())


@pytest.mark.parametrize("places", [[(0, 0, 0), (0, 0, 50), (0, 0, 90)], [(0, 0, 0), (0, 0, 50), (60, 20, 90)]])
def test_nodes_above_each_other_are_drawn(tmp_path: Path, places: list[tuple[float, ...]]) -> None:
    topology, fleet = Topology([(0, 1), (1, 2)], [0, 1, 0]), Fleet(places, [0.0, 1.0, 2.0])
    draw_topology(topology, fleet, path=tmp_path / "p.png")
    draw_change(topology, topology, fleet, fleet, None, tmp_path / "pair.png")
    assert all(path.read_bytes().startswith(PNG) for path in tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_same_picture_is_the_same_file(tmp_path: Path, suffix: str) -> None:
    fleet = fleet_of(12)
    topology = any_topology(12, 20)
    for name in ("first", "second"):
        draw_topology(topology, fleet, path=tmp_path / f"{name}.{suffix}")
    assert (tmp_path / f"first.{suffix}").read_bytes() == (tmp_path / f"second.{suffix}").read_bytes()


def test_extreme_fleets_draw(tmp_path: Path) -> None:
    cases = {
        "line": Fleet([(x, 0.0) for x in range(8)], np.zeros(8)),
        "tiny": Fleet(np.random.default_rng(0).normal(size=(8, 2)) * 1e-3, np.zeros(8)),
        "far": Fleet(np.random.default_rng(0).normal(size=(8, 2)) * 1e3 + 1e7, np.zeros(8)),
        "names": Fleet(
            [(x, x * x) for x in range(8)], np.zeros(8), ["$x$", "a\nb", "\ud800", "航空", "", " ", "x" * 99, "{"]
        ),
    }
    for name, fleet in cases.items():
        for links in (0, 13):
            radio, path = Radio(sectors=1 + links % 4), tmp_path / f"{name}.png"
            figure = draw_topology(any_topology(8, links), fleet, radio, path, title="$ \\bad")
            assert all(len(text.get_text()) <= LONGEST_NAME for text in figure.axes[0].texts)


def test_names_keep_clear_of_links_and_long_ones_keep_what_tells_them_apart() -> None:
    fleet = Fleet([(0.0, 2000.0 * k) for k in range(4)], np.zeros(4), [f"aircraft-number-{k}" for k in range(4)])
    scale = Scale(radius=360.0, span=20_000.0, inch=2900.0)
    size = 11.0
    placed = placed_names(fleet, np.ones(4, bool), np.array([(0, 1), (1, 2), (2, 3)]), scale, size)
    assert [name for name, _ in placed] == [f"aircr…mber-{k}" for k in range(4)]
    half_width = LETTER / 2 * size / 72 * LONGEST_NAME * scale.inch
    assert all(abs(x) > half_width for _, (x, y) in placed if y < 6000.0)  # beside the line of links, not across it


def test_the_title_says_whether_it_is_valid() -> None:
    fleet = fleet_of(16)
    assert "valid" in draw_topology(solve(fleet, method="greedy"), fleet).axes[0].get_title(loc="left")
    nothing = draw_topology(Topology([], np.zeros(16, int)), fleet).axes[0].get_title(loc="left")
    assert "0 links" in nothing
    assert "16 components" in nothing
    wrong = draw_topology(Topology([(0, 1)], np.zeros(16, int)), fleet).axes[0].get_title(loc="left")
    assert "1 parity violation," in wrong


def test_names_and_legend_stand_apart() -> None:
    """No id lies under the legend or outside the picture."""
    for n in (2, 24):
        figure = draw_topology(any_topology(n, n), fleet_of(n))
        figure.draw_without_rendering()
        legend = figure.legends[0].get_window_extent()
        assert figure.bbox.containsx(legend.x1)
        names = [text for text in figure.axes[0].texts if text.get_text().isdigit()]
        assert len(names) == n
        for name in names:
            box = name.get_window_extent()
            assert not box.overlaps(legend)
            assert figure.bbox.contains(box.x0, box.y0)
            assert figure.bbox.contains(box.x1, box.y1)


def test_what_cannot_be_drawn_or_written_is_refused(tmp_path: Path) -> None:
    fleet = fleet_of(5)
    with pytest.raises(TopologyError, match="4 nodes, the fleet 5"):
        draw_topology(any_topology(4, 2), fleet)
    with pytest.raises(FormatError, match=r"p\.xyz: a picture's name must end in"):
        draw_topology(any_topology(5, 2), fleet, path=tmp_path / "p.xyz")
    with pytest.raises(FormatError, match="does not exist"):
        draw_topology(any_topology(5, 2), fleet, path=tmp_path / "nowhere" / "p.png")


@pytest.mark.parametrize(("longest", "expected"), [(1.0, 1.0), (4.9, 2.0), (9999.0, 5000.0), (0.03, 0.02)])
def test_scale_bars_are_round(longest: float, expected: float) -> None:
    assert round_length(longest) == pytest.approx(expected)


def test_a_topology_is_drawn_where_it_was_made_unless_told_otherwise() -> None:
    fleet, moved = fleet_of(8, 1), fleet_of(8, 2)
    radio = Radio(sectors=1)
    before, after = solve(fleet, radio, method="mst-greedy"), solve(moved, radio, method="mst-greedy")
    own, told = draw_topology(before), draw_topology(before, fleet, radio)
    assert [text.get_position() for text in own.axes[0].texts] == [text.get_position() for text in told.axes[0].texts]
    assert own.axes[0].get_title(loc="left") == told.axes[0].get_title(loc="left")
    elsewhere = draw_topology(before, moved)
    assert elsewhere.axes[0].get_xlim() == draw_topology(after).axes[0].get_xlim() != own.axes[0].get_xlim()
    shown = draw_change(before, after)
    assert [axes.get_xlim()[1] > fleet.positions[:, 0].max() for axes in shown.axes[:1]] == [True]
    with pytest.raises(TopologyError, match="does not know its fleet"):
        draw_topology(any_topology(8, 3))


def test_samples_are_drawn_beside_their_references(tmp_path: Path) -> None:
    reference = solve(fleet_of(16), method="greedy")
    broken = Topology([[0, 1], [2, 3]], np.zeros(16, dtype=int))
    figure = draw_samples([reference, reference], [broken, reference], tmp_path / "samples.png")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0].startswith("reference: ")
    assert titles[1] == "sample: 2 links, 0.0 Mbit/s, not valid"
    assert titles[3].removeprefix("sample") == titles[2].removeprefix("reference")
    assert (tmp_path / "samples.png").stat().st_size > 10_000


def test_a_change_shows_what_was_kept_dropped_and_added() -> None:
    fleet = Fleet([[0, 0], [1, 0], [2, 1], [3, 0]], np.zeros(4))
    before, after = Topology([(0, 1), (1, 2)], [0, 1, 0, 1]), Topology([(0, 1), (2, 3)], [0, 1, 0, 1])
    figure = draw_change(before, after, fleet, fleet)
    for axes, other in zip(figure.axes, (LIGHT.dropped, LIGHT.new), strict=True):
        drawn = coloured(axes)
        assert {colour: drawn.get(colour) for colour in (LIGHT.kept, other)} == {LIGHT.kept: 1, other: 1}


def coloured(axes: Axes) -> dict[str, int]:
    """How many lines there are of each colour."""
    drawn: dict[str, int] = {}
    for lines in axes.collections:
        if isinstance(lines, LineCollection) and len(lines.get_segments()):
            drawn[to_hex(tuple(np.asarray(lines.get_color())[0]))] = len(lines.get_segments())
    return drawn


def rings(axes: Axes, colour: str) -> int:
    """How many nodes are ringed in a colour."""
    return sum(
        len(one.get_paths())
        for one in axes.collections
        if isinstance(one, PatchCollection)
        and len(one.get_edgecolor())
        and to_hex(tuple(np.asarray(one.get_edgecolor())[0])) == colour
    )


def test_a_change_is_by_id_in_whatever_order_and_shows_who_joined_and_left() -> None:
    fleet = Fleet([[0, 0], [1, 0], [2, 1], [3, 0]], np.zeros(4), list("abcd"))
    before = Topology([(0, 1), (1, 2), (2, 3)], [0, 1, 0, 1])
    turned = Fleet(fleet.positions[::-1], fleet.yaw, list("dcba"))
    same = draw_change(before, Topology([(0, 1), (1, 2), (2, 3)], [1, 0, 1, 0]), fleet, turned)
    assert [coloured(axes)[LIGHT.kept] for axes in same.axes] == [3, 3]
    assert "100% of the old ones kept" in same.axes[1].get_title(loc="left")
    # a has left, x and y have joined, and c-d is all that was kept.
    other = Fleet([[3, 0], [2, 1], [1, 0], [5, 1], [4, 2]], np.zeros(5), list("dcbxy"))
    figure = draw_change(before, Topology([(0, 1), (0, 3)], [1, 0, 1, 0, 0]), fleet, other)
    first, second = figure.axes
    assert (coloured(first)[LIGHT.kept], coloured(first)[LIGHT.dropped], rings(first, LIGHT.dropped)) == (1, 2, 1)
    assert (coloured(second)[LIGHT.kept], coloured(second)[LIGHT.new], rings(second, LIGHT.new)) == (1, 1, 2)
    assert first.get_title(loc="left") == "before: 3 links\n1 node left since"
    assert second.get_title(loc="left") == "after: 2 links, 33% of the old ones kept\n2 nodes joined"
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"node that left", "node that joined"} <= set(named)


def test_nodes_far_out_stand_at_the_border_and_leave_the_others_their_room() -> None:
    fleet = fleet_of(12)
    far = fleet.positions.mean(axis=0) + fleet.spread * np.array([[900, 0], [901, 1], [0, -500]])
    more = Fleet(np.vstack([fleet.positions, far]), np.append(fleet.yaw, np.zeros(3)), [*fleet.ids, "x", "y", "z"])
    shown = drawn_in(more)
    assert np.array_equal(shown.positions[:12], fleet.positions)
    low, high = fleet.positions.min(axis=0), fleet.positions.max(axis=0)
    outside = ((shown.positions[12:] < low) | (shown.positions[12:] > high)).any(axis=1)
    assert outside.all()
    assert shown.positions[12, 0] > high[0]
    assert shown.positions[14, 1] < low[1]
    assert np.hypot(*(shown.positions[12] - shown.positions[13])) > 0.1 * fleet.spread
    for figure in (
        draw_topology(any_topology(15, 20), more),
        draw_change(any_topology(15, 20), any_topology(12, 5), more, fleet),
    ):
        axes = figure.axes[0]
        assert np.diff(axes.get_xlim())[0] < 4 * np.ptp(fleet.positions, axis=0).max()
        told = [text.get_text() for text in axes.texts]
        assert f"x\n{distance_text(900 * fleet.spread)}" in told
        assert sum(text.split("\n")[0] == "x" for text in told) == 1
    assert drawn_in(fleet) is fleet


def test_antennas_are_drawn_where_the_boresight_turns_them() -> None:
    fleet, loads = fleet_of(5), np.array([[2, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0], [0, 3, 0]])

    def drawn(where: Fleet, boresight: float) -> tuple[np.ndarray, np.ndarray]:
        axes = Figure().add_subplot()
        draw_sectors(axes, where, boresight, loads, Scale(1.0, 10.0, 1.0), LIGHT)
        lines, wedges = axes.collections
        edges = np.concatenate([path.vertices for path in lines.get_paths()])
        return edges, np.concatenate([path.vertices for path in wedges.get_paths()])

    turned, heading, straight = drawn(fleet, 0.5), drawn(fleet.replace(yaw=fleet.yaw + 0.5), 0.0), drawn(fleet, 0.0)
    for one, same, other in zip(turned, heading, straight, strict=True):
        assert np.allclose(one, same)
        assert not np.allclose(one, other)
