"""What the network is told about the components of the noisy graph."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser
from manetdiff.model.embedding import LayoutEmbedding, joined, read_noisy
from manetdiff.model.tensors import Graphs
from manetdiff.topology import component_labels
from support.graph_samples import scattered_graphs, scattered_layouts


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


def test_nodes_without_links_are_joined_to_themselves_alone() -> None:
    assert torch.equal(joined(torch.zeros(1, 5, 5))[0], torch.eye(5))


def test_components_have_a_say_only_where_they_are_read() -> None:
    torch.manual_seed(2)
    layouts = scattered_layouts([12])
    edges = torch.diag(torch.ones(11), 1)[None]
    chain = Graphs(edges + edges.transpose(1, 2), (torch.arange(12) % 2).float()[None])
    # Without its middle link the chain falls apart: far from there, only the components tell.
    for components in (True, False):
        denoiser = Denoiser(ModelConfig(width=8, blocks=1, modulation="none", components=components))
        embedding = denoiser.embed_graph
        cut = chain.edges.clone()
        cut[0, 5, 6] = cut[0, 6, 5] = 0
        embedded = denoiser.embed_layouts(layouts)
        whole = embedding(embedded, read_noisy(embedded, chain))[1][0, 0, 11]
        parted = embedding(embedded, read_noisy(embedded, Graphs(cut, chain.parity)))[1][0, 0, 11]
        assert torch.equal(whole, parted) != components
