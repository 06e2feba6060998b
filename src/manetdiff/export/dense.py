"""The denoiser rewritten for speed on one core: the same function of the same weights, arranged for ONNX Runtime.

All graphs of a batch are of one layout, so nothing is padded and nothing but the diagonal is masked. Edges are rows of
one matrix, so that every linear map is one matrix product with its bias. A block's FiLM by the time and the FiLM of the
tokens before it are one affine map. The softmax is written out, because over an axis in the middle it would be copied
back and forth; a residual is what a matrix product is added to, and the bias of a block's last product goes into the
FiLM after it: each spares a pass over all edges.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from manetdiff.model.acam import TokenModulation
from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import Denoiser
from manetdiff.model.tensors import Prediction
from manetdiff.model.transformer import GraphTransformerBlock

# Scores beyond this count as this: far beyond what a trained network gives, and its exponential is finite.
STEEPEST = 60.0


def has_dense_form(config: ModelConfig) -> bool:
    """Whether a denoiser can be arranged like this."""
    tokens = config.modulation == "acam" and config.similarity == "cosine" and config.reads == "nodes"
    return tokens and config.domain_features and not config.components


class Affine(nn.Module):
    """x ↦ x A + b of a part of a linear map's outputs."""

    def __init__(self, linear: nn.Linear, part: int, parts: int, *, plus: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(linear.weight.detach().chunk(parts)[part].clone())
        self.bias = nn.Parameter(linear.bias.detach().chunk(parts)[part].clone() + plus)

    def forward(self, rows: Tensor) -> Tensor:
        return functional.linear(rows, self.weight, self.bias)


class DenseBlock(nn.Module):
    """A graph transformer block and the tokens after it."""

    def __init__(self, block: GraphTransformerBlock, modulation: TokenModulation) -> None:
        super().__init__()
        self.block = block
        self.tokens = modulation
        self.query, self.key, self.value = (Affine(block.from_nodes, part, 3) for part in range(3))
        # 1 + m comes out of the product itself.
        self.scale = Affine(block.from_edges, 0, 3, plus=1.0)
        self.shift, self.carried = (Affine(block.from_edges, part, 3) for part in (1, 2))
        self.along, self.against = (Affine(block.to_edges, part, 2) for part in range(2))
        self.against.bias.data += self.along.bias.data
        norm, widen, activate, narrow = block.feed_forward_edges
        self.feed_forward_edges = nn.Sequential(norm, widen, activate)
        assert isinstance(narrow, nn.Linear)
        self.narrow = narrow

    def forward(self, nodes: Tensor, edges: Tensor, most: Tensor) -> tuple[Tensor, Tensor]:
        """nodes: (b, n, d); edges: (b, n², d); most: (n, n, 1), that a score counts: next to nothing on the diagonal.

        Both as rows, after; the edges without their last bias, `narrow.bias`.
        """
        b, n, d = nodes.shape
        node_rows, edge_rows = nodes.reshape(b * n, d), edges.reshape(b * n * n, d)
        seen, normed = self.block.norm_nodes(node_rows), self.block.norm_edges(edge_rows)
        pairs = self.query(seen).reshape(b, n, 1, d) * self.key(seen).reshape(b, 1, n, d)
        score = pairs.reshape(b * n * n, d) * self.scale(normed) + self.shift(normed)
        weight = torch.exp(torch.minimum(score.reshape(b, n, n, d), most))
        carried = self.value(seen).reshape(b, 1, n, d) + self.carried(normed).reshape(b, n, n, d)
        message = (weight * carried).sum(2) / weight.sum(2)
        node_rows = node_rows + self.block.to_nodes(message.reshape(b * n, d))
        node_rows = node_rows + self.block.feed_forward_nodes(node_rows)
        turned = self.against(score).reshape(b, n, n, d).transpose(1, 2).reshape(b * n * n, d)
        edge_rows = torch.addmm(edge_rows, score, self.along.weight.t()) + turned
        return node_rows, torch.addmm(edge_rows, self.feed_forward_edges(edge_rows), self.narrow.weight.t())

    def modulate(self, tokens: Tensor, node_rows: Tensor) -> tuple[Tensor, Tensor]:
        """The tokens after they have read the nodes, and the FiLM that they ask for: (b, 4 d), as Film has it."""
        b, _, d = tokens.shape
        query = functional.normalize(self.tokens.query(tokens), dim=-1)
        keys, values = self.tokens.read_nodes(node_rows)
        keys = functional.normalize(keys, dim=-1).reshape(b, -1, d)
        read = query @ keys.transpose(1, 2) @ values.reshape(b, -1, d)
        tokens = tokens + self.tokens.update(read)
        pooled = (tokens * self.tokens.pool[:, None]).sum(1)
        return tokens, self.tokens.film.affine(pooled)


class DenseDenoiser(nn.Module):
    """A denoiser on b graphs of one layout."""

    def __init__(self, denoiser: Denoiser) -> None:
        super().__init__()
        assert has_dense_form(denoiser.config)
        self.embed_time, self.time_films = denoiser.embed_time, denoiser.time_films
        self.embed_graph = denoiser.embed_graph
        self.first_tokens = denoiser.tokens
        self.readout = denoiser.readout
        pairs = zip(denoiser.blocks, denoiser.modulations, strict=True)
        self.blocks = nn.ModuleList(DenseBlock(block, modulation) for block, modulation in pairs)  # type: ignore[arg-type]

    def time_condition(self, time: Tensor) -> Tensor:
        """(k, blocks, 4 d): 1 + scale and shift of nodes, 1 + scale and shift of edges, for each time and block."""
        embedded = self.embed_time(time)
        asked = torch.stack([film.affine(embedded) for film in self.time_films], dim=1)  # type: ignore[operator]
        return torch.cat(_opened(asked), dim=-1)

    def forward(
        self,
        node_embedding: Tensor,
        edge_embedding: Tensor,
        antenna_onehot: Tensor,
        edges: Tensor,
        parity: Tensor,
        films: Tensor,
    ) -> Prediction:
        """node_embedding (1, n, d), edge_embedding (1, n, n, d), antenna_onehot (1, n, n, Q): the embedded layout.

        edges (b, n, n), parity (b, n): the noisy graphs. films: (blocks, 4 d), of the time, see time_condition.
        """
        b, n = parity.shape
        d = node_embedding.shape[-1]
        apart = 1 - torch.eye(n, dtype=edges.dtype, device=edges.device)
        most = (STEEPEST * (2 * apart - 1))[..., None]
        spin = 2 * parity - 1
        node_rows, edge_rows = self._embed(node_embedding, edge_embedding, antenna_onehot, edges, spin, apart)
        tokens = self.first_tokens.expand(b, -1, -1)
        film = films[0][None, None].chunk(4, dim=-1)
        for layer, block in enumerate(self.blocks):
            nodes = node_rows.reshape(b, n, d) * film[0] + film[1]
            node_rows, edge_rows = block(nodes, edge_rows.reshape(b, n * n, d) * film[2] + film[3], most)
            tokens, asked = block.modulate(tokens, node_rows)  # type: ignore[operator]
            film = _with_bias(_opened(asked), block.narrow.bias)  # type: ignore[union-attr, arg-type]
            if layer + 1 < len(self.blocks):
                film = _after(film, films[layer + 1][None, None].chunk(4, dim=-1))
        nodes = node_rows.reshape(b, n, d) * film[0] + film[1]
        return self._read_out(nodes, edge_rows.reshape(b, n * n, d) * film[2] + film[3], spin, apart)

    def _embed(
        self,
        node_embedding: Tensor,
        edge_embedding: Tensor,
        antenna_onehot: Tensor,
        edges: Tensor,
        spin: Tensor,
        apart: Tensor,
    ) -> tuple[Tensor, Tensor]:
        b, n = spin.shape
        embed = self.embed_graph
        opposite = 0.5 * (1 - spin[:, :, None] * spin[:, None, :]) * apart
        occupation = (edges[..., None] * antenna_onehot).sum(2)
        others = (occupation[:, :, None] * antenna_onehot).sum(-1) - edges
        parts = torch.stack([edges, opposite, edges * opposite, others, others.transpose(1, 2)], dim=-1)
        of_graph = embed.edges(parts.reshape(b * n * n, -1)).reshape(b, n, n, -1)
        edge_rows = embed.mix_edges((of_graph + edge_embedding).reshape(b * n * n, -1))
        of_graph = embed.nodes(occupation.reshape(b * n, -1)).reshape(b, n, -1)
        return embed.mix_nodes((of_graph + node_embedding).reshape(b * n, -1)), edge_rows

    def _read_out(self, nodes: Tensor, edges: Tensor, spin: Tensor, apart: Tensor) -> Prediction:
        b, n, d = nodes.shape
        readout = self.readout
        rows = readout.norm_edges(edges.reshape(b * n * n, d))
        square = rows.reshape(b, n, n, d)
        both = (square + square.transpose(1, 2)).reshape(b * n * n, d)
        logits = readout.edges(both).reshape(b, n, n) * apart
        votes = readout.votes(rows).reshape(b, n, n) * apart
        own = readout.own_vote(readout.norm_nodes(nodes.reshape(b * n, d))).reshape(b, n)
        return Prediction(logits, own * spin + (votes * spin[:, None, :]).sum(2))


def _opened(asked: Tensor) -> tuple[Tensor, ...]:
    """Factors and shifts of nodes and edges, (b, 1, d) each, from what a Film computes, (b, 4 d) or (b, k, 4 d)."""
    wide = asked if asked.ndim == 3 else asked[:, None]
    node_scale, node_shift, edge_scale, edge_shift = wide.chunk(4, dim=-1)
    return 1 + node_scale, node_shift, 1 + edge_scale, edge_shift


def _with_bias(film: tuple[Tensor, ...], bias: Tensor) -> tuple[Tensor, ...]:
    """A FiLM of edges that still lack a bias: (x + c) f + g = x f + (c f + g)."""
    return *film[:3], bias * film[2] + film[3]


def _after(first: tuple[Tensor, ...], second: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Two FiLMs as one: (x f + g) f' + g' = x f f' + (g f' + g')."""
    return (
        first[0] * second[0],
        first[1] * second[0] + second[1],
        first[2] * second[2],
        first[3] * second[2] + second[3],
    )
