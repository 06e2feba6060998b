"""What stands around the data of a picture: panels in inches, legends, the colour bar, and the file it ends up in."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path as Outline

from manetdiff.errors import FormatError
from manetdiff.fleet import Fleet
from manetdiff.formats.files import STANDARD, PathLike, write_bytes
from manetdiff.pictures.marks import CROWDED_FROM, NAMED_UP_TO, SHAPES, Scale, Style

DPI = 150
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")
# Inches around and between the parts of a picture.
MARGIN, TITLE, FOOT = 0.3, 0.5, 0.5
# A second line of a title.
TITLE_LINE = 0.2

FloatArray = npt.NDArray[np.float64]
Handle = Line2D | Patch
Dashes = Literal["-", "--", ":", ""]


def check_picture_path(path: PathLike) -> None:
    """Raise unless the path names a kind of picture that can be written."""
    if str(path) != STANDARD and Path(path).suffix.lower() not in PICTURE_SUFFIXES:
        raise FormatError(f"{path}: a picture's name must end in {', '.join(PICTURE_SUFFIXES)}")


def save(figure: Figure, path: PathLike) -> None:
    """Write the figure as its path's suffix says, the same bytes every time; `-` is a PNG on standard output."""
    check_picture_path(path)
    kind = "png" if str(path) == STANDARD else Path(path).suffix.lower()[1:]
    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    buffer = io.BytesIO()
    with warnings.catch_warnings(), matplotlib.rc_context({"svg.hashsalt": "manetdiff"}):
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # ids may be in any script
        figure.savefig(buffer, format=kind, metadata=undated)
    write_bytes(path, buffer.getvalue())


def new_figure(width: float, height: float, style: Style, dpi: int = DPI) -> Figure:
    """Empty paper of so many inches."""
    return Figure(figsize=(float(width), float(height)), dpi=dpi, facecolor=style.paper)


def dots_an_inch(radius: float, span: float) -> int:
    """So many that nodes of this radius, in a view of this width, do not lose their shape: some 20 dots for each."""
    return round(DPI * max(1.0, 0.65 / Scale(radius, span, 1.0).fullness))


def half_extent(fleet: Fleet) -> FloatArray:
    """(2,) half the view's width and height: all nodes and a margin, no side under a quarter of the other."""
    half = np.ptp(fleet.horizontal, axis=0) / 2
    longest = half.max() or fleet.spread  # of nodes that all stand above each other
    return np.asarray(np.maximum(half + 0.12 * longest, 0.25 * longest), dtype=np.float64)


def panel_size(half: FloatArray, n: int) -> FloatArray:
    """(2,) inches for a panel that shows this much of n nodes."""
    longest = 6.5 if n <= NAMED_UP_TO else 8.0 if n < CROWDED_FROM else 10.0 if n <= 512 else 12.0
    return np.asarray(np.maximum(half / half.max() * longest, 4.0), dtype=np.float64)


def add_panel(
    figure: Figure, corner: tuple[float, float], size: FloatArray, fleet: Fleet, half: FloatArray, radius: float
) -> tuple[Axes, Scale]:
    """Empty axes centred on the fleet, at a corner and of a size in inches, for nodes of this radius."""
    paper = figure.get_size_inches()
    left, bottom = np.array(corner) / paper
    width, height = size / paper
    axes = figure.add_axes((float(left), float(bottom), float(width), float(height)))
    inch = float((2 * half / size).max())
    middle = (fleet.horizontal.min(axis=0) + fleet.horizontal.max(axis=0)) / 2
    low, high = middle - size * inch / 2, middle + size * inch / 2
    axes.set_xlim(float(low[0]), float(high[0]))
    axes.set_ylim(float(low[1]), float(high[1]))
    axes.set_aspect("equal")
    axes.set_axis_off()
    return axes, Scale(radius, float(2 * half.max()), inch)


def add_legend(figure: Figure, handles: Sequence[Handle], style: Style, left: float, top: float, columns: int) -> None:
    """A legend outside the data, its upper left corner at a place in inches."""
    width, height = figure.get_size_inches().tolist()
    figure.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(left / width, top / height),
        borderaxespad=0,
        ncols=columns,
        frameon=False,
        fontsize=8.5,
        labelcolor=style.ink,
    )


def add_colour_bar(
    figure: Figure, colours: ScalarMappable, style: Style, corner: tuple[float, float], height: float
) -> None:
    """What the links' colours mean, at a corner and of a height in inches."""
    paper_width, paper_height = figure.get_size_inches().tolist()
    left, bottom = corner
    place = figure.add_axes((left / paper_width, bottom / paper_height, 0.17 / paper_width, height / paper_height))
    rates, least, most = np.asarray(colours.get_array()), *colours.get_clim()
    beyond = {(True, True): "both", (True, False): "min", (False, True): "max"}.get(
        (bool(rates.min() < least), bool(rates.max() > most)), "neither"
    )
    bar = figure.colorbar(colours, cax=place, extend=beyond)
    place.set_title("rate of a link, both ways\ntogether, in Mbit/s", loc="left", color=style.ink, fontsize=8.5, pad=8)
    place.tick_params(colors=style.ink, labelsize=8.5)
    bar.outline.set_visible(False)


def node_handles(style: Style, *, sectors: bool = True, blocked: bool = False) -> list[Handle]:
    """Legend entries for the two parities and, where they are drawn, the sectors: boundaries, and what is blocked."""
    shapes: list[Handle] = [
        Line2D(
            [],
            [],
            linestyle="",
            marker=Outline(SHAPES[bit]),
            markersize=12,
            markerfacecolor=style.parity[bit],
            markeredgewidth=0,
            label=f"sends in slot {slot} (parity {bit})",
        )
        for bit, slot in enumerate("AB")
    ]
    if not sectors:
        return shapes
    shapes.append(Line2D([], [], color=style.faint, linewidth=1.2, label="sector boundary"))
    if blocked:
        shapes.append(Patch(facecolor=style.faint, alpha=0.6, label="blocked: no antenna there"))
    return shapes


def saturation_handle(style: Style) -> Handle:
    """Legend entry for antennas with more than one link."""
    return Patch(facecolor=style.wrong, edgecolor=style.wrong, alpha=0.45, label="antenna with several links")


def ring_handle(colour: str, label: str) -> Handle:
    """Legend entry for ringed nodes."""
    return Line2D(
        [],
        [],
        linestyle="",
        marker="o",
        markersize=11,
        markerfacecolor="none",
        markeredgecolor=colour,
        markeredgewidth=1.6,
        label=label,
    )


def violation_handle(style: Style, *, marker: str = "", dashes: Dashes = "") -> Handle:
    """Legend entry for links inside one parity."""
    return Line2D(
        [],
        [],
        color=style.wrong,
        marker=marker,
        linestyle=dashes,
        linewidth=2,
        markersize=8,
        markeredgewidth=2.2,
        label="parity violation: no rate",
    )
