"""The paper's figure of an ACAM block, drawn from the module itself: its own parts, names and sizes in the boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch
from torch import nn

from manetdiff.diffusion.weights import find_weights
from manetdiff.model.acam import TokenModulation
from manetdiff.pictures.frame import new_figure
from manetdiff.pictures.marks import LIGHT
from manetdiff.weights import PAPER

# Inches.
WIDTH, HEIGHT, SPARE_HEIGHT = 14.2, 8.8, 1.6
LINE, PADDING = 0.225, 0.2
# What is learned, what is only computed, and what goes in and out; after Okabe and Ito, lightened. The
# last one is behind boxes that belong together.
LEARNED, COMPUTED, EMBEDDING, GROUP = "#fdebc8", "#ffffff", "#d6e9f7", "#eef0f2"

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A box around a point in inches. lines: below its heading; parameters: the lines that name one, by its name;

    - room: inches below all of them."""

    heading: str
    middle: Point
    width: float
    colour: str
    lines: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    room: float = 0.0

    @property
    def height(self) -> float:
        """Inches."""
        return 2 * PADDING + LINE * (1 + len(self.lines) + len(self.parameters)) - 0.08 + self.room

    def side(self, which: str, shift: float = 0.0) -> Point:
        """The middle of one side, or beside it by so much."""
        (x, y), w, h = self.middle, self.width / 2, self.height / 2
        return {
            "left": (x - w, y + shift),
            "right": (x + w, y + shift),
            "top": (x + shift, y + h),
            "bottom": (x + shift, y - h),
        }[which]


# Where each part of the module stands, and what it does there, in the paper's letters.
PLACES: dict[str, tuple[Point, float, str]] = {
    "query": ((3.7, 6.15), 2.1, "queries  $Q = H\\,W_Q$"),
    "read_nodes.norm": ((1.2, 3.9), 1.9, "layer norm  $\\bar X$"),
    "read_nodes.key": ((3.7, 4.75), 2.1, "keys  $K = \\bar X\\,W_K$"),
    "read_nodes.value": ((3.7, 3.3), 2.1, "values  $V = \\bar X\\,W_V$"),
    "update": ((8.75, 4.85), 2.0, "$\\varphi(Z)$"),
    "pool": ((11.2, 6.1), 2.3, "$h = \\Sigma_c\\, p_c H_c$"),
    "film": ((11.2, 4.15), 2.3, "$h \\rightarrow \\gamma_X, \\beta_X, \\gamma_E, \\beta_E$"),
}


def packaged_block() -> TokenModulation:
    """A block of the shape that the packaged weights have."""
    return TokenModulation(find_weights(PAPER).config)


def parameter_boxes(module: nn.Module) -> dict[str, Box]:
    """A box for each part of the module that learns, with the names and sizes of all of its parameters.

    A part that has no place in the drawing gets one below it, so that nothing is left out.
    """
    named: dict[str, dict[str, str]] = {}
    for name, parameter in module.named_parameters():
        part = _part_of(name)
        size = " × ".join(f"{length}" for length in parameter.shape)
        named.setdefault(part, {})[name] = f"{name.removeprefix(part).removeprefix('.') or 'p'}  {size}"
    boxes = {}
    spare = 0
    for part, parameters in named.items():
        middle, width, role = PLACES.get(part, ((1.5 + 2.5 * spare, -SPARE_HEIGHT / 2), 2.3, "(not in the drawing)"))
        spare += part not in PLACES
        boxes[part] = Box(part, middle, width, LEARNED, (role, *_unlearned(module, part)), parameters)
    return boxes


def picture_of_block(module: TokenModulation) -> Figure:
    """From left to right: tokens, nodes and edges come in; the tokens read the nodes and then modulate both."""
    learned = parameter_boxes(module)
    spare = SPARE_HEIGHT if any(part not in PLACES for part in learned) else 0.0
    figure = new_figure(WIDTH, HEIGHT + spare, LIGHT)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(-spare, HEIGHT)
    axes.set_axis_off()
    tokens, width = len(module.pool), module.query.in_features
    boxes = {**learned, **_other_boxes(module, tokens, width)}
    _draw_arrows(axes, boxes)
    for box in boxes.values():
        _draw_box(axes, box)
    title = "Absolute cross-attentive modulation (ACAM)" if not module.softmax else "Cross-attentive modulation (CAM)"
    title += f": {tokens} tokens read the whole graph, then modulate it"
    below = f"One such block follows each block of the graph transformer. n nodes, {width} channels."
    axes.text(0.25, HEIGHT - 0.3, title, fontsize=14, va="center")
    axes.text(0.25, HEIGHT - 0.62, below, fontsize=11, va="center")
    _draw_key(axes)
    return figure


def _part_of(name: str) -> str:
    """The part of the drawing that a parameter belongs to, or else the module that holds it."""
    for part in PLACES:
        if name == part or name.startswith(f"{part}."):
            return part
    return name.rpartition(".")[0] or name


def _unlearned(module: nn.Module, part: str) -> list[str]:
    """The layers of a part that has several, also those that learn nothing."""
    try:
        found = module.get_submodule(part)
    except AttributeError:  # a parameter of the block itself
        return []
    return [", ".join(type(step).__name__ for step in found)] if isinstance(found, nn.Sequential) else []


def _other_boxes(module: TokenModulation, tokens: int, width: int) -> dict[str, Box]:
    """What is computed, and what goes in and out. C tokens, n nodes, d channels."""
    alike = "\\cos(Q, K)" if module.cosine else "Q K^T / \\sqrt{d}"
    how = "softmax over the nodes" if module.softmax else "absolute: no softmax"
    c, d = f"{tokens}", f"{width}"

    def put(heading: str, x: float, y: float, wide: float, colour: str, *lines: str) -> Box:
        return Box(heading, (x, y), wide, colour, lines)

    return {
        "H": put("tokens  $H^{\\,l-1}$", 1.2, 7.45, 1.9, EMBEDDING, f"{c} × {d}"),
        "X": put("nodes  $X$", 1.2, 1.85, 1.9, EMBEDDING, f"n × {d}"),
        "E": put("edges  $E$", 1.2, 0.75, 1.9, EMBEDDING, f"n × n × {d}"),
        "similarity": put("similarity", 6.3, 5.5, 2.0, COMPUTED, f"$S = {alike}$", how, f"{c} × n"),
        "Z": put("$Z = S\\,V$", 6.3, 3.3, 2.0, COMPUTED, "what the tokens read", f"{c} × {d}"),
        "add": put("add", 8.75, 7.45, 2.0, COMPUTED, "$H^{\\,l-1} + \\varphi(Z)$"),
        "H out": put("tokens  $H^{\\,l}$", 11.2, 7.45, 2.3, EMBEDDING, f"{c} × {d}"),
        "FiLM": Box("FiLM", (11.2, 1.52), 2.6, GROUP, room=2.0),
        "FiLM X": put("of the nodes", 11.2, 1.85, 2.3, COMPUTED, "$X \\odot (1 + \\gamma_X) + \\beta_X$"),
        "FiLM E": put("of the edges", 11.2, 0.75, 2.3, COMPUTED, "$E \\odot (1 + \\gamma_E) + \\beta_E$"),
    }


def _draw_arrows(axes: Axes, boxes: Mapping[str, Box]) -> None:
    """Each from a side of one box to a side of another; those to parts that a changed module lacks are left out."""

    def join(one: str, side: str, other: str, into: str, at: float | None = None, shift: float = 0.0) -> None:
        """Straight, or sideways to an upright line at x = at, along it, and sideways again."""
        if one in boxes and other in boxes:
            start, stop = boxes[one].side(side), boxes[other].side(into, shift)
            _arrow(axes, [start, *([] if at is None else [(at, start[1]), (at, stop[1])]), stop])

    join("H", "right", "add", "left")
    if "query" in boxes:
        _arrow(axes, [(1.2, boxes["H"].side("bottom")[1]), (1.2, 6.15), boxes["query"].side("left")])
    join("X", "top", "read_nodes.norm", "bottom")
    join("read_nodes.norm", "right", "read_nodes.key", "left", at=2.4)
    join("read_nodes.norm", "right", "read_nodes.value", "left", at=2.4)
    join("query", "right", "similarity", "left", at=5.03, shift=0.25)
    join("read_nodes.key", "right", "similarity", "left", at=5.03, shift=-0.25)
    join("similarity", "bottom", "Z", "top")
    join("read_nodes.value", "right", "Z", "left")
    join("Z", "right", "update", "left", at=7.52)
    join("update", "top", "add", "bottom")
    join("add", "right", "H out", "left")
    join("H out", "bottom", "pool", "top")
    join("pool", "bottom", "film", "top")
    join("film", "bottom", "FiLM", "top")
    join("X", "right", "FiLM X", "left")
    join("E", "right", "FiLM E", "left")
    for name, where in (("H out", "to the next\nblock"), ("FiLM X", "nodes  $X$\nout"), ("FiLM E", "edges  $E$\nout")):
        x, y = boxes[name].side("right")
        _arrow(axes, [(x, y), (x + 0.5, y)])
        axes.text(x + 0.58, y, where, fontsize=11, va="center", ha="left", color=LIGHT.ink)


def _arrow(axes: Axes, points: Sequence[Point]) -> None:
    *before, last = points
    x, y = zip(*before, strict=True)
    axes.plot(x, y, color=LIGHT.kept, linewidth=1.6, solid_capstyle="round", zorder=1)
    how = {"arrowstyle": "-|>", "color": LIGHT.kept, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 15}
    axes.annotate("", last, before[-1], arrowprops=how, zorder=1)


def _draw_box(axes: Axes, box: Box) -> None:
    (x, y), top = box.middle, box.side("top")[1]
    corner = (x - box.width / 2 + 0.06, y - box.height / 2 + 0.06)
    axes.add_patch(
        FancyBboxPatch(
            corner,
            box.width - 0.12,
            box.height - 0.12,
            boxstyle="round,pad=0.06",
            facecolor=box.colour,
            edgecolor=LIGHT.kept,
            linewidth=1.2,
            zorder=0.5 if box.colour == GROUP else 2,
        )
    )
    below = top - PADDING - 0.04
    weight = "bold" if box.colour == LEARNED else "normal"
    axes.text(x, below, box.heading, fontsize=11.5, fontweight=weight, ha="center", va="center", zorder=3)
    for line in box.lines:
        below -= LINE
        axes.text(x, below, line, fontsize=10, ha="center", va="center", zorder=3)
    for name, line in box.parameters.items():
        below -= LINE
        shown = axes.text(x, below, line, fontsize=9.5, ha="center", va="center", family="monospace", zorder=3)
        shown.set_gid(name)  # by which a reader of the figure, such as a test, finds the parameter


def _draw_key(axes: Axes) -> None:
    learned = "learned: name in the code, sizes of its parameters"
    colours = {"embeddings": EMBEDDING, learned: LEARNED, "computed": COMPUTED}
    handles = [Patch(facecolor=colour, edgecolor=LIGHT.kept, label=label) for label, colour in colours.items()]
    place = (0.1 / WIDTH, 0.0)
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=place, ncols=3, frameon=False, fontsize=10.5)
