"""The graph transformer's block against its equations."""

from __future__ import annotations

import torch

from manetdiff.model.transformer import GraphTransformerBlock
from support.graph_samples import perturbed


@torch.no_grad()
def test_nodes_gather_by_the_attention_that_edges_steer() -> None:
    """The block's equations, node by node and channel by channel."""
    n, width = 5, 4
    block = perturbed(lambda: GraphTransformerBlock(width).double())
    generator = torch.Generator().manual_seed(7)
    nodes = torch.randn(1, n, width, dtype=torch.float64, generator=generator)
    edges = torch.randn(1, n, n, width, dtype=torch.float64, generator=generator)
    there = [True, True, True, True, False]
    pair_mask = torch.tensor([[[there[i] and there[j] and i != j for j in range(n)] for i in range(n)]])
    new_nodes, new_edges = block(nodes, edges, pair_mask)
    query, key, value = block.from_nodes(block.norm_nodes(nodes))[0].split(width, dim=-1)
    scale, shift, carried = block.from_edges(block.norm_edges(edges))[0].split(width, dim=-1)
    score = torch.zeros(n, n, width, dtype=torch.float64)
    for i in range(n):
        for j in range(n):
            score[i, j] = query[i] * key[j] * (1 + scale[i, j]) + shift[i, j]
    for i in range(4):
        others = [j for j in range(4) if j != i]
        whole = torch.stack([score[i, j].exp() for j in others]).sum(0)
        message = torch.stack([score[i, j].exp() / whole * (value[j] + carried[i, j]) for j in others]).sum(0)
        gathered = nodes[0, i] + block.to_nodes(message)
        assert torch.allclose(new_nodes[0, i], gathered + block.feed_forward_nodes(gathered))
        for j in others:
            along, against = block.to_edges(score[i, j])[:width], block.to_edges(score[j, i])[width:]
            followed = edges[0, i, j] + along + against
            assert torch.allclose(new_edges[0, i, j], followed + block.feed_forward_edges(followed))
