"""The variational baselines: GraphVAE, and GT-VAE with a graph transformer in place of its decoder.

Both know the layout at both ends: the encoder reads the clean graph on it and gives each node a latent, the decoder
turns layout and latents into edges and parity in one shot.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from manetdiff.model.config import ModelConfig
from manetdiff.model.embedding import EmbeddedLayouts, GraphEmbedding, LayoutEmbedding, read_noisy, spins
from manetdiff.model.tensors import Graphs, Layouts, Prediction
from manetdiff.model.transformer import GraphTransformerBlock

ENCODER_LAYERS = 3


class Latents(NamedTuple):
    """A normal distribution per node: mean and log-variance, each (b, n, latent)."""

    mean: Tensor
    log_variance: Tensor


class GraphVAE(nn.Module):
    """Encoder and decoder; config.kind says which decoder."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_layouts = LayoutEmbedding(config)
        self.encoder = LinkEncoder(config)
        self.decoder = TransformerDecoder(config) if config.kind == "gt-vae" else PairDecoder(config)

    def forward(self, layouts: Layouts, clean: Graphs, normal: Tensor) -> tuple[Prediction, Latents]:
        """normal: (b, n, latent) standard normal draws."""
        embedded = self.embed_layouts(layouts)
        latents: Latents = self.encoder(embedded, clean)
        drawn = latents.mean + normal * (0.5 * latents.log_variance).exp()
        return self.decode(embedded, drawn), latents

    def decode(self, embedded: EmbeddedLayouts, latent: Tensor) -> Prediction:
        """latent: (b, n, latent)."""
        prediction: Prediction = self.decoder(embedded, latent * embedded.mask[..., None])
        return prediction


class LinkEncoder(nn.Module):
    """Message passing along the links of the clean graph."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.embed_graph = GraphEmbedding(config)
        self.embed_parity = nn.Linear(1, width, bias=False)
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(2 * width), nn.Linear(2 * width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
            )
            for _ in range(ENCODER_LAYERS)
        )
        self.to_latents = nn.Linear(width, 2 * config.latent)

    def forward(self, embedded: EmbeddedLayouts, clean: Graphs) -> Latents:
        nodes, edges = self.embed_graph(embedded, read_noisy(embedded, clean))
        nodes = nodes + self.embed_parity((spins(clean.parity) * embedded.mask)[..., None])
        for layer in self.layers:
            gathered = torch.einsum("bij,bijd->bid", clean.edges, nodes[:, None] + edges)
            nodes = nodes + layer(torch.cat([nodes, gathered], dim=-1))
        return Latents(*self.to_latents(nodes).float().chunk(2, dim=-1))


class PairDecoder(nn.Module):
    """GraphVAE's: each pair on its own, from the layout and the latents of its two ends."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.from_latent = nn.Linear(config.latent, 2 * width)
        self.from_nodes = nn.Linear(width, 2 * width)
        self.edges = _head(width)
        self.parity = _head(width)

    def forward(self, embedded: EmbeddedLayouts, latent: Tensor) -> Prediction:
        nodes = self.from_nodes(embedded.nodes) + self.from_latent(latent)
        here, there = nodes.chunk(2, dim=-1)
        pairs = embedded.edges + here[:, :, None] * there[:, None] + here[:, :, None] + there[:, None]
        logits = self.edges(pairs + pairs.transpose(1, 2))[..., 0].float() * embedded.pair_mask
        return Prediction(logits, self.parity(here + there)[..., 0].float() * embedded.mask)


class TransformerDecoder(nn.Module):
    """GT-VAE's: graph transformer blocks over layout and latents."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.from_latent = nn.Linear(config.latent, width)
        self.blocks = nn.ModuleList(GraphTransformerBlock(width, config.activation) for _ in range(config.blocks))
        self.norm_nodes = nn.LayerNorm(width)
        self.norm_edges = nn.LayerNorm(width)
        self.edges = _head(width)
        self.parity = _head(width)

    def forward(self, embedded: EmbeddedLayouts, latent: Tensor) -> Prediction:
        nodes, edges = embedded.nodes + self.from_latent(latent), embedded.edges
        for block in self.blocks:
            nodes, edges = block(nodes, edges, embedded.pair_mask)
        edges = self.norm_edges(edges)
        logits = self.edges(edges + edges.transpose(1, 2))[..., 0].float() * embedded.pair_mask
        return Prediction(logits, self.parity(self.norm_nodes(nodes))[..., 0].float() * embedded.mask)


def divergence(latents: Latents, mask: Tensor) -> Tensor:
    """Kullback-Leibler divergence from the standard normal, per node, mean over the graphs."""
    each = 0.5 * (latents.mean**2 + latents.log_variance.exp() - 1 - latents.log_variance).sum(-1)
    return ((each * mask).sum(1) / mask.sum(1)).mean()


def _head(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
