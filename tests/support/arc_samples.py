"""Layouts, graphs and networks for the tests of networks on candidate links."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from manetdiff import Fleet, Radio
from manetdiff.layout import Arcs, Layout
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, stacked
from manetdiff.model.config import ModelConfig

SPARSE = ModelConfig(kind="sparse", width=8, blocks=2, tokens=2)
# Both patterns, few and many sectors, in the fleet's own units, with all that a radio may have.
RADIOS = {
    "plain": Radio(),
    "two sectors": Radio(sectors=2, theta_max=1.0, reception="omni"),
    "twelve steered sectors": Radio(sectors=12, pattern="parabolic", beamwidth=0.5, boresight=0.3, ceiling=4.0),
    "least SNR": Radio(sectors=3, min_snr=-3.0, range=1.2, boresight=-1.1),
}


def some_fleet(n: int, seed: int = 0, *, heights: bool = False, blocked: bool = False) -> Fleet:
    """Scattered nodes, of which every second has no antenna somewhere if some are blocked."""
    rng = np.random.default_rng((seed, n))
    positions, yaw = rng.normal(size=(n, 3 if heights else 2)), rng.uniform(-math.pi, math.pi, n)
    starts = rng.uniform(-3, 3, n)
    arcs = [[(start, start + 1.2)] if k % 2 else [] for k, start in enumerate(starts)]
    return Fleet(positions, yaw, blocked=arcs if blocked else None)


def drawn_graph(arcs: Arcs, seed: int = 0, density: float = 0.3) -> ArcGraphs:
    """A random graph on the candidates of one layout; it depends on the size of the layout and the seed alone."""
    n = len(arcs.arcs_of_node)
    rng = np.random.default_rng((seed, n))
    linked, parity = rng.random((n, n)) < density, rng.integers(0, 2, n)
    of_links = linked[arcs.links[:, 0], arcs.links[:, 1]]
    return ArcGraphs(torch.from_numpy(of_links).double(), torch.from_numpy(parity).double())


def side_by_side_graphs(graphs: Sequence[ArcGraphs]) -> ArcGraphs:
    """Graphs one after the other."""
    return ArcGraphs(*(torch.cat(parts) for parts in zip(*graphs, strict=True)))


def in_double(layouts: ArcLayouts) -> ArcLayouts:
    """For a network in double precision, where rounding cannot be mistaken for a leak, nor hide one."""
    return layouts._replace(
        features=layouts.features.double(),
        bearings=layouts.bearings.double(),
        real_nodes=layouts.real_nodes.double(),
        real_links=layouts.real_links.double(),
    )


def in_a_row(layouts: Sequence[Layout]) -> ArcLayouts:
    """Layouts one after the other, in double precision."""
    return in_double(stacked([layout.arcs for layout in layouts]))


def by_nodes(arcs: Arcs, of_links: Tensor) -> dict[tuple[int, int], float]:
    """What is said of each link, by its nodes."""
    pairs = [(i, j) for i, j in arcs.links.tolist()]
    return dict(zip(pairs, of_links.tolist(), strict=True))
