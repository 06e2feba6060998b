"""The denoiser on candidate links: what must not change what it says, and what it says of odd layouts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from manetdiff import Fleet, Radio
from manetdiff.errors import ModelError
from manetdiff.layout import Layout
from manetdiff.model.arc_tensors import ArcGraphs, ArcPrediction
from manetdiff.model.config import ModelConfig, Modulation
from manetdiff.model.sparse_denoiser import SparseDenoiser
from support.arc_samples import RADIOS, SPARSE, by_nodes, drawn_graph, in_a_row, side_by_side_graphs, some_fleet
from support.graph_samples import perturbed

MODULATIONS: tuple[Modulation, ...] = ("acam", "cam", "none")
# Features are in single precision: of two frames they are alike to so many digits.
ROUNDING = 2e-3


def _denoiser(modulation: Modulation = "acam") -> SparseDenoiser:
    config = dataclasses.replace(SPARSE, modulation=modulation)
    return perturbed(lambda: SparseDenoiser(config).double()).eval()


@torch.no_grad()
def _predicted(layout: Layout, graph: ArcGraphs, modulation: Modulation = "acam", time: float = 0.4) -> ArcPrediction:
    prediction: ArcPrediction = _denoiser(modulation)(in_a_row([layout]), graph, torch.tensor([time]).double())
    return prediction


@pytest.fixture(params=RADIOS)
def layout(request: pytest.FixtureRequest) -> Layout:
    flat = request.param == "plain"
    return Layout(some_fleet(14, heights=not flat, blocked=not flat), RADIOS[request.param])


def _relabelled(layout: Layout, order: np.ndarray) -> Layout:
    fleet = layout.fleet
    blocked = None if fleet.blocked is None else [fleet.blocked[k] for k in order]
    return Layout(Fleet(fleet.positions[order], fleet.yaw[order], blocked=blocked), layout.radio)


def _turned(layout: Layout, angle: float = 1.1) -> Layout:
    fleet = layout.fleet
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    positions = np.concatenate([fleet.positions[:, :2] @ turn, fleet.positions[:, 2:]], axis=1)
    return Layout(Fleet(positions + 5.0, fleet.yaw + angle, blocked=fleet.blocked), layout.radio)


def _mirrored(layout: Layout) -> Layout:
    fleet = layout.fleet
    blocked = None if fleet.blocked is None else [[(-stop, -start) for start, stop in arcs] for arcs in fleet.blocked]
    positions = fleet.positions * [1.0, -1.0, 1.0][: fleet.positions.shape[1]]
    radio = dataclasses.replace(layout.radio, boresight=-layout.radio.boresight)
    return Layout(Fleet(positions, -fleet.yaw, blocked=blocked), radio)


@pytest.mark.parametrize("modulation", MODULATIONS)
def test_relabelled_nodes_get_the_relabelled_prediction(layout: Layout, modulation: Modulation) -> None:
    order = np.random.default_rng(2).permutation(len(layout))
    other = _relabelled(layout, order)
    graph = drawn_graph(layout.arcs)
    linked = by_nodes(layout.arcs, graph.links)

    def before(i: int, j: int) -> tuple[int, int]:
        first, second = sorted((int(order[i]), int(order[j])))
        return first, second

    links = torch.tensor([linked[before(i, j)] for i, j in other.arcs.links.tolist()], dtype=torch.float64)
    one = _predicted(layout, graph, modulation)
    two = _predicted(other, ArcGraphs(links, graph.parity[torch.from_numpy(order)]), modulation)
    torch.testing.assert_close(two.parity, one.parity[torch.from_numpy(order)], rtol=ROUNDING, atol=ROUNDING)
    said = by_nodes(layout.arcs, one.links)
    wanted = [said[before(i, j)] for i, j in other.arcs.links.tolist()]
    np.testing.assert_allclose(two.links.numpy(), wanted, rtol=ROUNDING, atol=ROUNDING)
    assert np.ptp(wanted) > 100 * ROUNDING  # or all would be alike anyway


@pytest.mark.parametrize("moved", [_turned, _mirrored])
def test_turned_and_mirrored_layouts_get_the_same_prediction(layout: Layout, moved: Callable[[Layout], Layout]) -> None:
    graph, other = drawn_graph(layout.arcs), moved(layout)
    assert np.array_equal(other.arcs.links, layout.arcs.links)
    one, two = _predicted(layout, graph), _predicted(other, graph)
    torch.testing.assert_close(two.links, one.links, rtol=ROUNDING, atol=ROUNDING)
    torch.testing.assert_close(two.parity, one.parity, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("modulation", MODULATIONS)
def test_flipping_every_parity_flips_the_predicted_parity_exactly(layout: Layout, modulation: Modulation) -> None:
    graph = drawn_graph(layout.arcs)
    one = _predicted(layout, graph, modulation)
    two = _predicted(layout, ArcGraphs(graph.links, 1 - graph.parity), modulation)
    assert torch.equal(two.links, one.links)
    assert torch.equal(two.parity, -one.parity)
    # But single parities matter to the links.
    parity = graph.parity.clone()
    parity[0] = 1 - parity[0]
    assert not torch.allclose(_predicted(layout, ArcGraphs(graph.links, parity), modulation).links, one.links)


@pytest.mark.parametrize("modulation", MODULATIONS)
@torch.no_grad()
def test_other_layouts_of_the_batch_have_no_say(modulation: Modulation) -> None:
    sizes = {9: "plain", 2: "two sectors", 16: "twelve steered sectors"}
    layouts = [Layout(some_fleet(n), RADIOS[name]) for n, name in sizes.items()]
    graphs = [drawn_graph(layout.arcs) for layout in layouts]
    times = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
    denoiser = _denoiser(modulation)
    together = denoiser(in_a_row(layouts), side_by_side_graphs(graphs), times)
    alone = [
        denoiser(in_a_row([layout]), graph, times[k : k + 1])
        for k, (layout, graph) in enumerate(zip(layouts, graphs, strict=True))
    ]
    for mine, theirs in zip(together, side_by_side_graphs(alone), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-5)


def test_time_and_links_have_a_say() -> None:
    layout = Layout(some_fleet(12))
    graph = drawn_graph(layout.arcs)
    one = _predicted(layout, graph)
    other = graph.links.clone()
    other[0] = 1 - other[0]
    assert not torch.allclose(_predicted(layout, graph, time=0.6).links, one.links)
    assert not torch.allclose(_predicted(layout, ArcGraphs(other, graph.parity)).links, one.links)


@pytest.mark.parametrize("sectors", range(2, 13))
def test_any_number_of_sectors_will_do(sectors: int) -> None:
    steered = sectors % 2 == 0
    radio = Radio(sectors=sectors, pattern="parabolic" if steered else "cone", beamwidth=0.6 if steered else None)
    layout = Layout(some_fleet(10, heights=True, blocked=True), radio)
    said = _predicted(layout, drawn_graph(layout.arcs))
    assert said.links.shape == (len(layout.arcs.links),)
    assert bool(said.links.isfinite().all()) and bool(said.parity.isfinite().all())


@torch.no_grad()
def test_nodes_without_candidates_and_layouts_with_one_link() -> None:
    # The third node of the one is out of range; the other has two nodes in all.
    far = Layout(Fleet([[0.0, 0.0], [1.0, 0.2], [90.0, 0.0]], [0.0, 1.0, 2.0]), Radio(unit=1.0))
    two = Layout(Fleet([[0.0, 0.0], [0.7, 0.7]], [0.5, 2.0]), Radio(unit=1.0))
    assert far.arcs.links.tolist() == two.arcs.links.tolist() == [[0, 1]]
    graphs = side_by_side_graphs([drawn_graph(far.arcs), drawn_graph(two.arcs)])
    time = torch.tensor([0.3, 0.3], dtype=torch.float64)
    said = _denoiser()(in_a_row([far, two]), graphs, time)
    assert said.links.shape == (2,) and said.parity.shape == (5,)
    assert bool(said.links.isfinite().all()) and bool(said.parity.isfinite().all())
    # Who hears nobody has its own noisy parity to go by, whatever the others' are.
    flipped = 1 - graphs.parity
    flipped[2] = graphs.parity[2]
    other = _denoiser()(in_a_row([far, two]), ArcGraphs(graphs.links, flipped), time)
    assert torch.equal(other.parity[2], said.parity[2])
    assert torch.equal(other.parity[0], -said.parity[0])


def test_a_layout_without_candidates_alone() -> None:
    apart = Layout(Fleet([[0.0, 0.0], [90.0, 0.0]], [0.0, 1.0]), Radio(unit=1.0))
    said = _predicted(apart, drawn_graph(apart.arcs))
    assert said.links.shape == (0,) and said.parity.shape == (2,)
    assert bool(said.parity.isfinite().all())


@pytest.mark.parametrize(
    "changes",
    [
        {"modulation": "statistics"},
        {"reads": "nodes+edges"},
        {"domain_features": False},
        {"components": True},
        {"activation": "relu"},
        {"sectors": 6},
        {"latent": 4},
    ],
)
def test_settings_of_other_networks_are_refused(changes: dict[str, object]) -> None:
    (name,) = changes
    with pytest.raises(ModelError, match=f"model: {name}: .*sparse"):
        ModelConfig.from_dict({"kind": "sparse", **changes})
