"""The statistics of a graph, which the baseline reads in the place of tokens."""

from __future__ import annotations

import numpy as np
import torch

from manetdiff.model.embedding import LayoutEmbedding, read_noisy
from manetdiff.model.statistics import graph_statistics
from manetdiff.model.tensors import Graphs
from support.graph_samples import scattered_graphs, scattered_layouts
from support.small_networks import SMALL


def test_statistics_of_a_graph_are_counted_node_by_node() -> None:
    sizes = (7, 10)
    layouts = scattered_layouts(sizes)
    graphs = scattered_graphs(layouts, density=0.4)
    noisy = read_noisy(LayoutEmbedding(SMALL)(layouts), graphs)
    made = graph_statistics(noisy.edges, noisy.opposite, noisy.occupation, layouts.mask)
    for row, n in enumerate(sizes):
        links = [(i, j) for i in range(n) for j in range(i) if graphs.edges[row, i, j]]
        degree = [sum(i in link for link in links) for i in range(n)]
        load: dict[tuple[int, int], int] = {}
        for i, j in links:
            for here, there in ((i, j), (j, i)):
                antenna = here, int(layouts.sector[row, here, there])
                load[antenna] = load.get(antenna, 0) + 1
        mean = sum(degree) / n
        expected = [
            n / 32,
            mean,
            sum((d - mean) ** 2 for d in degree) / n,
            sum(bool(graphs.parity[row, i] != graphs.parity[row, j]) for i, j in links) / len(links),
            sum(count > 1 for count in load.values()) / n,
        ]
        assert np.allclose(made[row], expected, atol=1e-6)


def test_a_graph_without_links_has_statistics() -> None:
    layouts = scattered_layouts([5])
    empty = Graphs(torch.zeros(1, 5, 5), torch.zeros(1, 5))
    noisy = read_noisy(LayoutEmbedding(SMALL)(layouts), empty)
    made = graph_statistics(noisy.edges, noisy.opposite, noisy.occupation, layouts.mask)
    assert made.tolist() == [[5 / 32, 0, 0, 0, 0]]
