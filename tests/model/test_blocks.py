"""A block of the network: attention, tokens and FiLM against their equations."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import Tensor

from manetdiff.model.acam import TokenModulation, aggregated
from manetdiff.model.film import Film
from manetdiff.model.transformer import GraphTransformerBlock
from support.graph_samples import mask_of, perturbed, scattered_layouts
from support.small_networks import small


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


def _plain_aggregate(
    query: Tensor, keys: Tensor, values: Tensor, there: list[bool], *, cosine: bool, softmax: bool
) -> list[list[float]]:
    """Z of one graph, token by token and node by node."""
    made = []
    for q in query.tolist():
        similarity = []
        for k in keys.tolist():
            scale = math.hypot(*q) * math.hypot(*k) if cosine else math.sqrt(len(k))
            similarity.append(sum(a * b for a, b in zip(q, k, strict=True)) / scale)
        weight = [math.exp(s) * seen if softmax else s * seen for s, seen in zip(similarity, there, strict=True)]
        whole = sum(weight) if softmax else 1.0
        rows = list(zip(weight, values.tolist(), strict=True))
        made.append([sum(w * row[d] for w, row in rows) / whole for d in range(values.shape[1])])
    return made


@pytest.mark.parametrize("modulation", ["acam", "cam"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_tokens_gather_what_the_equations_say(modulation: str, similarity: str) -> None:
    generator = torch.Generator().manual_seed(3)
    query, keys, values = (torch.randn(2, m, 8, generator=generator) for m in (5, 9, 9))
    mask = mask_of([9, 6])
    cosine, softmax = similarity == "cosine", modulation == "cam"
    made = aggregated(query, keys, values, mask, cosine=cosine, softmax=softmax)
    for row in range(2):
        expected = _plain_aggregate(
            query[row],
            keys[row],
            values[row],
            mask[row].tolist(),
            cosine=cosine,
            softmax=softmax,
        )
        assert np.allclose(made[row], expected, atol=1e-4)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_absolute_tokens_count_where_softmax_tokens_do_not(similarity: str) -> None:
    generator = torch.Generator().manual_seed(4)
    query, keys, values = (torch.randn(2, m, 8, generator=generator) for m in (5, 9, 9))
    mask = mask_of([9, 6])
    for softmax, factor in ((False, 2.0), (True, 1.0)):
        read = partial(aggregated, cosine=similarity == "cosine", softmax=softmax)
        once = read(query, keys, values, mask)
        doubled = read(query, keys.repeat(1, 2, 1), values.repeat(1, 2, 1), mask.repeat(1, 2))
        assert torch.allclose(doubled, factor * once, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_tokens_are_updated_pooled_and_modulate_as_the_paper_says() -> None:
    block = perturbed(lambda: TokenModulation(small()))
    generator = torch.Generator().manual_seed(5)
    tokens, nodes = (torch.randn(2, m, 8, generator=generator) for m in (5, 9))
    edges = torch.randn(2, 9, 9, 8, generator=generator)
    layouts = scattered_layouts([9, 6])
    new, new_nodes, new_edges = block(tokens, nodes, edges, layouts.mask, layouts.pair_mask)
    keys, values = block.read_nodes(nodes)
    read = aggregated(block.query(tokens), keys, values, layouts.mask, cosine=True, softmax=False)
    assert torch.allclose(new, tokens + block.update(read), atol=1e-5)
    pooled = sum(block.pool[c] * new[:, c] for c in range(5))
    affine = block.film.affine(pooled)
    node_scale, node_shift, edge_scale, edge_shift = affine.split(8, dim=-1)
    assert torch.allclose(new_nodes, nodes * (1 + node_scale[:, None]) + node_shift[:, None], atol=1e-4)
    expected = edges * (1 + edge_scale[:, None, None]) + edge_shift[:, None, None]
    assert torch.allclose(new_edges, expected, atol=1e-4)


def test_a_fresh_film_is_the_identity() -> None:
    generator = torch.Generator().manual_seed(6)
    context, nodes, edges = (torch.randn(shape, generator=generator) for shape in ((2, 4), (2, 9, 8), (2, 9, 9, 8)))
    unchanged = Film(4, 8)(context, nodes, edges)
    assert torch.equal(unchanged[0], nodes) and torch.equal(unchanged[1], edges)
