"""The denoiser: from a noisy graph and its time to the clean edges and parity.

Flipping every parity of the input flips every predicted parity and leaves the edges as they are, exactly: the network
reads only whether parities differ, and predicts each node's parity as a vote of the noisy ones.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from manetdiff.model.acam import TokenModulation
from manetdiff.model.config import ModelConfig
from manetdiff.model.embedding import EmbeddedLayouts, GraphEmbedding, LayoutEmbedding, read_noisy, spins
from manetdiff.model.film import Film
from manetdiff.model.statistics import STATISTICS, StatisticsModulation, graph_statistics
from manetdiff.model.tensors import Graphs, Layouts, Prediction
from manetdiff.model.transformer import GraphTransformerBlock

FREQUENCIES = 16


class Denoiser(nn.Module):
    """Graph transformer blocks, each conditioned on the time by FiLM and followed by the modulation asked for."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.config = config
        self.embed_layouts = LayoutEmbedding(config)
        self.embed_graph = GraphEmbedding(config)
        self.embed_time = TimeEmbedding(2 * width)
        self.time_films = nn.ModuleList(Film(2 * width, width) for _ in range(config.blocks))
        self.blocks = nn.ModuleList(GraphTransformerBlock(width, config.activation) for _ in range(config.blocks))
        self.modulations = nn.ModuleList()
        if config.modulation in ("acam", "cam"):
            self.tokens = nn.Parameter(torch.randn(config.tokens, width) / math.sqrt(width))
            self.modulations.extend(TokenModulation(config) for _ in range(config.blocks))
        elif config.modulation == "statistics":
            self.embed_statistics = nn.Linear(STATISTICS, width)
            self.modulations.extend(StatisticsModulation(config) for _ in range(config.blocks))
        self.readout = Readout(width)

    def forward(self, layouts: Layouts, graphs: Graphs, time: Tensor) -> Prediction:
        """time: (b,) in 0 … 1, the share of the noise process that has passed."""
        return self.predict(self.embed_layouts(layouts), graphs, time)

    def predict(self, embedded: EmbeddedLayouts, graphs: Graphs, time: Tensor) -> Prediction:
        """The same where the layouts are embedded already: a sampler does that once for all steps."""
        noisy = read_noisy(embedded, graphs)
        nodes, edges = self.embed_graph(embedded, noisy)
        context = None
        if self.config.modulation in ("acam", "cam"):
            context = self.tokens.expand(nodes.shape[0], -1, -1)
        elif self.config.modulation == "statistics":
            occupation = noisy.occupation if self.config.domain_features else torch.zeros_like(noisy.occupation)
            described = graph_statistics(noisy.edges, noisy.opposite, occupation, embedded.mask)
            context = self.embed_statistics(described)[:, None]
        moment = self.embed_time(time)
        for layer, block in enumerate(self.blocks):
            nodes, edges = self.time_films[layer](moment, nodes, edges)
            nodes, edges = block(nodes, edges, embedded.pair_mask)
            if context is not None:
                context, nodes, edges = self.modulations[layer](
                    context, nodes, edges, embedded.mask, embedded.pair_mask
                )
        prediction: Prediction = self.readout(nodes, edges, spins(graphs.parity), embedded.mask, embedded.pair_mask)
        return prediction


class TimeEmbedding(nn.Module):
    """A time in 0 … 1 as (b, size) numbers."""

    frequencies: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("frequencies", math.pi * 2 ** torch.linspace(0, 6, FREQUENCIES), persistent=False)
        self.mix = nn.Sequential(nn.Linear(2 * FREQUENCIES, size), nn.GELU(), nn.Linear(size, size), nn.GELU())

    def forward(self, time: Tensor) -> Tensor:
        angle = time[:, None] * self.frequencies
        embedded: Tensor = self.mix(torch.cat([angle.cos(), angle.sin()], dim=-1))
        return embedded


class Readout(nn.Module):
    """Log-odds from embeddings; parity by votes: l_i = f_i s_i + Σ_j g_ij s_j over the noisy spins s = ±1."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm_nodes = nn.LayerNorm(width)
        self.norm_edges = nn.LayerNorm(width)
        self.edges = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
        self.votes = nn.Linear(width, 1)
        self.own_vote = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))

    def forward(self, nodes: Tensor, edges: Tensor, spin: Tensor, mask: Tensor, pair_mask: Tensor) -> Prediction:
        edges = self.norm_edges(edges)
        logits = self.edges(edges + edges.transpose(1, 2))[..., 0].float() * pair_mask
        votes = self.votes(edges)[..., 0].float() * pair_mask
        own = self.own_vote(self.norm_nodes(nodes))[..., 0].float()
        parity = (own * spin + (votes * (spin * mask)[:, None, :]).sum(2)) * mask
        return Prediction(logits, parity)
