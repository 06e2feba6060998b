"""Cross-attentive modulation: tokens that read the whole graph and modulate it, detached from message passing.

Absolute (ACAM): the similarities are not normalised by a softmax, so that a token can count what it reads. CAM is the
variant with softmax. Paper, section 'Graph Transformer with ACAM Tokens'.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from manetdiff.model.config import ModelConfig
from manetdiff.model.film import Film


class TokenModulation(nn.Module):
    """One ACAM (or CAM) block on dense graphs; the tokens go from block to block.

    H^l = H^(l-1) + φ(Z), with Z = Sim(H W_Q, X W_K) X W_V over the nodes X (and the edges, where they are read, too);
    the pooled tokens set a FiLM of nodes and edges.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.softmax = config.modulation == "cam"
        self.cosine = config.similarity == "cosine"
        self.query = nn.Linear(width, width, bias=False)
        self.read_nodes = _Reader(width)
        self.read_edges = _Reader(width) if config.reads == "nodes+edges" else None
        self.update = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.pool = nn.Parameter(torch.full((config.tokens,), 1 / config.tokens))
        self.film = Film(width, width)

    def forward(
        self, tokens: Tensor, nodes: Tensor, edges: Tensor, mask: Tensor, pair_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """tokens: (b, C, d); returns the new tokens, nodes and edges."""
        query = self.query(tokens)
        keys, values = self.read_nodes(nodes)
        read = aggregated(query, keys, values, mask, cosine=self.cosine, softmax=self.softmax)
        if self.read_edges is not None:
            keys, values = (part.flatten(1, 2) for part in self.read_edges(edges))
            there = pair_mask.flatten(1, 2)
            of_edges = aggregated(query, keys, values, there, cosine=self.cosine, softmax=self.softmax)
            # A sum over n² edges is brought to the size of one over n nodes.
            read = read + (of_edges if self.softmax else of_edges / mask.sum(1)[:, None, None])
        tokens = tokens + self.update(read)
        pooled = torch.einsum("bcd,c->bd", tokens, self.pool.to(tokens.dtype))
        nodes, edges = self.film(pooled, nodes, edges)
        return tokens, nodes, edges


class TokenReading(nn.Module):
    """The same reading on sparse graphs, without the FiLM: the pooled tokens are handed on.

    What tokens read is divided by the number of nodes: a network for fleets of any size must not see sums grow.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.softmax = config.modulation == "cam"
        self.cosine = config.similarity == "cosine"
        self.query = nn.Linear(width, width, bias=False)
        self.read_nodes = _Reader(width)
        self.update = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.pool = nn.Parameter(torch.full((config.tokens,), 1 / config.tokens))

    def forward(self, tokens: Tensor, nodes: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """tokens: (g, C, d); nodes: (g, s, d); there: (g, s) bool. The new tokens, and what all of them say, (g, d)."""
        keys, values = self.read_nodes(nodes)
        # A softmax over nothing is no number: where a batch is filled up with graphs of no nodes, all of it is read.
        seen = there | ~there.any(1, keepdim=True) if self.softmax else there
        read = aggregated(self.query(tokens), keys, values, seen, cosine=self.cosine, softmax=self.softmax)
        if not self.softmax:
            read = read / there.sum(1).clamp(min=1)[:, None, None]
        tokens = tokens + self.update(read.to(tokens.dtype))
        return tokens, torch.einsum("gcd,c->gd", tokens, self.pool.to(tokens.dtype))


def aggregated(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor, *, cosine: bool, softmax: bool) -> Tensor:
    """Z: (b, C, d)."""
    if cosine:
        query, keys = functional.normalize(query, dim=-1), functional.normalize(keys, dim=-1)
        similarity = query @ keys.transpose(1, 2)
    else:
        similarity = query @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
    there = mask[:, None, :]
    weight = similarity.masked_fill(~there, float("-inf")).softmax(dim=-1) if softmax else similarity * there
    return weight.to(values.dtype) @ values


class _Reader(nn.Module):
    """Keys and values of what the tokens read."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)

    def forward(self, embeddings: Tensor) -> tuple[Tensor, Tensor]:
        normed = self.norm(embeddings)
        return self.key(normed), self.value(normed)
