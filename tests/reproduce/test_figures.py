"""The figures of the paper: all of them are written, small enough, and show what the code does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox, BboxBase
from PIL import Image
from torch import nn

from manetdiff.fleet import displacement
from manetdiff.layout import Layout
from manetdiff.measure.sets import benchmark_set
from manetdiff.model.acam import TokenModulation
from manetdiff.model.config import ModelConfig
from manetdiff.pictures.frame import half_extent
from manetdiff.reproduce import figures
from manetdiff.reproduce.figures import draw_figures
from manetdiff.reproduce.figures.acam import PLACES, parameter_boxes, picture_of_block
from manetdiff.reproduce.figures.denoising import animation, denoised, picture_of_steps
from manetdiff.reproduce.figures.reconfiguration import CASES, Case, Change, picture_of_change, reconfigured, typical
from manetdiff.runtime.model import Model, load
from manetdiff.topology import Topology
from manetdiff.weights import PAPER

FIGURES = {"denoising.png", "denoising.gif", "reconfiguration-standard.png", "reconfiguration-minor.png", "acam.png"}
LAYOUT = benchmark_set("bench16").layout


@pytest.fixture(scope="module")
def model() -> Model:
    return load(PAPER)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Path], list[str]]:
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "STEPS", 7)
        patch.setattr(figures, "QUICK_MOVED", 5)
        return draw_figures(tmp_path_factory.mktemp("figures") / "new", quick=True, report=told.append), told


def texts(figure: Figure) -> Iterator[Text]:
    for shown in figure.findobj(Text):
        assert isinstance(shown, Text)
        if shown.get_text():
            yield shown


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_every_figure_is_written_and_reported(drawn: tuple[dict[str, Path], list[str]]) -> None:
    paths, told = drawn
    assert set(paths) == set(told) == FIGURES
    for name, path in paths.items():
        assert path.name == name
        with Image.open(path) as image:
            assert image.format == path.suffix[1:].upper()
            assert min(image.size) > 400
    assert paths["denoising.gif"].stat().st_size < 3_000_000


def test_the_animation_shows_every_fifth_step_and_the_last(drawn: tuple[dict[str, Path], list[str]]) -> None:
    with Image.open(drawn[0]["denoising.gif"]) as image:
        assert getattr(image, "n_frames", 1) == 3
        assert image.info["loop"] == 0
        image.seek(2)
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize(("seed", "steps"), [(0, 12), (3, 4)])
def test_a_denoising_ends_in_what_generate_gives(model: Model, seed: int, steps: int) -> None:
    fleet = LAYOUT(seed).fleet
    states = denoised(fleet, steps, seed)
    assert len(states) == steps + 1
    assert states[-1] == model.generate(fleet, steps=steps, correct=False, polish=False, seed=seed)
    assert states[0] != states[-1]


def test_panels_say_which_step_they_show_down_to_a_chain_of_one() -> None:
    topology = LAYOUT(0).topology
    shown = titles(picture_of_steps([topology] * 4))
    assert shown == ["step 0 of 3: pure noise", "step 1 of 3", "step 2 of 3", "step 3 of 3: the topology"]
    assert animation([topology] * 2).startswith(b"GIF89a")


@pytest.mark.parametrize("case", CASES)
def test_a_reconfiguration_tells_what_became_of_the_links(model: Model, case: Case) -> None:
    mode, movement, steps = case
    change = reconfigured(model, LAYOUT(0), case, 0)
    assert displacement(change.before.on().fleet, change.after.on().fleet) == pytest.approx(movement, rel=0.1)
    assert change.after.report.steps == steps
    figure = picture_of_change(change)
    shown = titles(figure)
    assert shown[0].startswith(f"before the movement of {movement:g}\n")
    assert shown[1].startswith(f"after it: {mode} update in {steps} steps\n")
    assert shown[1].endswith(f": continuity {change.continuity:.0%}")
    (links, dropped), (same, new) = (
        [int(word) for word in re.findall(r"(\d+) (?:links|will|new)", title)] for title in shown
    )
    assert links == len(change.before.links) == dropped + same
    assert len(change.after.links) == same + new
    assert {"kept link", "dropped link", "new link"} <= {shown.get_text() for shown in figure.legends[0].get_texts()}


def inside(one: BboxBase, other: BboxBase) -> bool:
    return bool(other.x0 <= one.x0 and one.x1 <= other.x1 and other.y0 <= one.y0 and one.y1 <= other.y1)


def check_texts(figure: Figure) -> None:
    """Two lines above each panel, apart from each other and a fifth of an inch from every edge; the legend is whole."""
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    by_words = {shown.get_text(): shown.get_window_extent() for shown in texts(figure)}
    boxes = [by_words[title] for title in titles(figure)]
    assert [title.count("\n") for title in titles(figure)] == [1, 1]
    assert all(inside(box, figure.bbox.padded(-0.2 * figure.dpi)) for box in boxes)
    assert Bbox.intersection(*boxes) is None
    assert all(box.y0 >= axes.get_window_extent().y1 for axes, box in zip(figure.axes, boxes, strict=True))
    for entry in figure.legends[0].get_texts():
        assert inside(entry.get_window_extent(), figure.bbox), entry.get_text()


@pytest.mark.parametrize("case", CASES)
def test_no_text_of_a_reconfiguration_is_cut(model: Model, case: Case) -> None:
    layouts = [LAYOUT(k) for k in range(44)]
    check_texts(picture_of_change(reconfigured(model, layouts[5], case, 0)))
    # The narrowest of fleets, lying and upright.
    narrow = min(layouts, key=lambda layout: float(np.divide(*np.sort(half_extent(layout.fleet)))))
    links, parity = narrow.topology.links, narrow.topology.parity
    for positions in (narrow.fleet.positions, narrow.fleet.positions[:, ::-1]):
        layout = Layout(narrow.fleet.replace(positions=positions))
        before, after = Topology(links, parity, layout=layout), Topology(links[:10], parity, layout=layout)
        check_texts(picture_of_change(Change(case, before, after)))


def test_the_typical_change_is_neither_the_best_nor_the_worst(model: Model) -> None:
    layouts = [LAYOUT(k) for k in range(4, 8)]
    shown = typical(model, layouts, CASES[0], 0).continuity
    others = sorted(reconfigured(model, layout, CASES[0], 0).continuity for layout in layouts)
    assert others[0] < shown < others[-1]


@pytest.mark.parametrize("config", [ModelConfig(), ModelConfig(width=8, tokens=3), ModelConfig(reads="nodes+edges")])
def test_every_parameter_of_the_block_is_named_with_its_size(config: ModelConfig) -> None:
    module = TokenModulation(config)
    shown = {text.get_gid(): text.get_text() for text in texts(picture_of_block(module)) if text.get_gid()}
    boxes = parameter_boxes(module)
    named = {name: part for part, box in boxes.items() for name in box.parameters}
    assert set(shown) == set(named) == {name for name, _ in module.named_parameters()}
    for name, parameter in module.named_parameters():
        part = named[name]
        assert name.startswith(part)
        assert shown[name].endswith(" × ".join(map(str, parameter.shape)))
        assert name.removeprefix(part).removeprefix(".") in shown[name]


def test_a_part_of_the_block_that_has_no_place_appears_all_the_same() -> None:
    module = TokenModulation(ModelConfig())
    assert set(parameter_boxes(module)) == set(PLACES)
    module.gate = nn.Linear(5, 7)
    assert any(shown.get_text() == "gate" for shown in texts(picture_of_block(module)))


def test_the_drawing_tells_acam_from_cam() -> None:
    acam, cam = (
        " ".join(shown.get_text() for shown in texts(picture_of_block(TokenModulation(config))))
        for config in (ModelConfig(), ModelConfig(modulation="cam", similarity="dot"))
    )
    assert [("no softmax" in said, "softmax over the nodes" in said, "cos" in said) for said in (acam, cam)] == [
        (True, False, True),
        (False, True, False),
    ]


def test_the_boxes_of_learned_parts_do_not_overlap() -> None:
    module = TokenModulation(ModelConfig(width=512, tokens=128))
    module.first, module.second = nn.Linear(5, 7), nn.Linear(5, 7)  # which have no place of their own
    for one, other in combinations(parameter_boxes(module).values(), 2):
        across = abs(one.middle[0] - other.middle[0]) < (one.width + other.width) / 2
        down = abs(one.middle[1] - other.middle[1]) < (one.height + other.height) / 2
        assert not (across and down), f"{one.heading} and {other.heading}"
