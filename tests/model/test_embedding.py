"""What the network is told of the noisy graph: antennas and their links, parities, components, statistics."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser
from manetdiff.model.embedding import GraphEmbedding, LayoutEmbedding, joined, read_noisy
from manetdiff.model.statistics import graph_statistics
from manetdiff.model.tensors import Graphs
from manetdiff.topology import component_labels
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


@pytest.mark.parametrize("density", [0.02, 0.1, 0.4])
def test_nodes_are_joined_where_a_path_of_valid_links_leads_from_one_to_the_other(density: float) -> None:
    layouts = scattered_layouts([5, 16, 33])
    graphs = scattered_graphs(layouts, density=density)
    noisy = read_noisy(LayoutEmbedding(ModelConfig())(layouts), graphs)
    found = joined(noisy.edges * noisy.opposite)
    for row, n in enumerate((5, 16, 33)):
        links = np.argwhere(np.triu((graphs.edges * noisy.opposite)[row, :n, :n].numpy()) > 0)
        labels = component_labels(links, n)
        assert np.array_equal(found[row, :n, :n].numpy() > 0, labels[:, None] == labels[None, :])


def test_a_chain_is_joined_from_end_to_end() -> None:
    for n in (2, 3, 24, 33, 256):
        edges = torch.diag(torch.ones(n - 1), 1)[None]
        assert bool((joined(edges + edges.transpose(1, 2)) == 1).all())


@torch.no_grad()
def test_components_have_a_say_only_where_they_are_read() -> None:
    torch.manual_seed(2)
    layouts = scattered_layouts([12])
    edges = torch.diag(torch.ones(11), 1)[None]
    chain = Graphs(edges + edges.transpose(1, 2), (torch.arange(12) % 2).float()[None])
    # Without its middle link the chain falls apart, as it does where a node in its middle has the parity of the next:
    # far from there, only the components tell.
    cut, turned = chain.edges.clone(), chain.parity.clone()
    cut[0, 5, 6] = cut[0, 6, 5] = 0
    turned[0, 5] = 1 - turned[0, 5]
    for components in (True, False):
        denoiser = Denoiser(ModelConfig(width=8, blocks=1, modulation="none", components=components))
        embedded = denoiser.embed_layouts(layouts)
        whole, parted, invalid = (
            denoiser.embed_graph(embedded, read_noisy(embedded, graph))[1][0, 0, 11]
            for graph in (chain, Graphs(cut, chain.parity), Graphs(chain.edges, turned))
        )
        assert torch.equal(whole, parted) != components
        assert torch.equal(parted, invalid)


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
