"""What nodes and edges are told of the noisy graph: antennas, their other links, opposite parities."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from manetdiff.model.embedding import GraphEmbedding, LayoutEmbedding, read_noisy
from manetdiff.model.tensors import Graphs, antennas
from support.graph_samples import perturbed, scattered_graphs, scattered_layouts
from support.small_networks import SMALL


@torch.no_grad()
def test_an_edge_is_told_what_else_is_on_its_antennas_and_not_itself() -> None:
    embed_layouts = perturbed(lambda: LayoutEmbedding(SMALL))
    embed_graph = perturbed(lambda: GraphEmbedding(SMALL))
    embed_graph.edges.weight[:, :3] = 0  # what it is told of the edge itself
    layouts = scattered_layouts([4])
    # The antenna of node 0 that looks at node 1 sees node 2 as well, and another one looks at node 3.
    layouts.sector[0, 0] = torch.tensor([0, 1, 1, 3])
    layout = embed_layouts(layouts)

    def embedded(*links: tuple[int, int]) -> Tensor:
        graph = Graphs(torch.zeros(1, 4, 4), torch.zeros(1, 4))
        for i, j in links:
            graph.edges[0, i, j] = graph.edges[0, j, i] = 1
        edges: Tensor = embed_graph(layout, read_noisy(layout, graph))[1]
        return edges[0, 0, 1]

    assert torch.allclose(embedded(), embedded((0, 1)))
    assert torch.allclose(embedded(), embedded((0, 3)))
    assert not torch.allclose(embedded(), embedded((0, 2)), atol=1e-3)


def test_occupation_and_opposite_parities_are_counted_link_by_link() -> None:
    layouts = scattered_layouts([7, 10])
    graphs = scattered_graphs(layouts, density=0.5)
    noisy = read_noisy(LayoutEmbedding(SMALL)(layouts), graphs)
    occupation = np.zeros((2, 10, 4))
    opposite = np.zeros((2, 10, 10))
    for row, n in enumerate((7, 10)):
        for i in range(n):
            for j in range(n):
                if graphs.edges[row, i, j]:
                    occupation[row, i, int(layouts.sector[row, i, j])] += 1
                opposite[row, i, j] = float(graphs.parity[row, i] != graphs.parity[row, j])
    assert occupation.max() > 1
    assert np.array_equal(noisy.occupation.numpy(), occupation)
    assert np.array_equal(noisy.opposite.numpy(), opposite)


def test_antennas_are_one_hot() -> None:
    sector = torch.tensor([[0, 2], [3, 1]], dtype=torch.uint8)
    assert antennas(sector, 4).int().tolist() == [[[1, 0, 0, 0], [0, 0, 1, 0]], [[0, 0, 0, 1], [0, 1, 0, 0]]]
