"""The denoiser on sparse graphs: from noisy links among the candidates, and their time, to the clean ones.

It takes any number of nodes and sectors and any radio. Relabelling nodes relabels what it says; turning or mirroring a
layout changes nothing; flipping every parity flips every predicted parity and leaves the links as they are: it reads
only whether parities differ, and predicts each node's parity as a vote of the noisy ones.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from manetdiff.layout import ARC_FEATURES
from manetdiff.model.acam import TokenReading
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, ArcPrediction
from manetdiff.model.config import ModelConfig
from manetdiff.model.denoiser import TimeEmbedding
from manetdiff.model.embedding import spins
from manetdiff.model.groups import collect, paired, side_by_side, spread
from manetdiff.model.sparse_block import SparseBlock

# Numbers that the network reads of the noisy links, of an arc and of a node; see `read_links`.
OF_ARC, OF_NODE = 5, 2


class EmbeddedArcs(NamedTuple):
    """What does not change over the steps: arcs (p, d), and nodes (m, d) where an encoder has looked at the layout."""

    arcs: Tensor
    nodes: Tensor | None


class SparseDenoiser(nn.Module):
    """Blocks on arcs and nodes, each conditioned on the time and on ACAM tokens by one FiLM. Before them, where the
    model has an encoder, blocks that see the layout alone."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.config = config
        self.embed_arcs = ArcEmbedding(width)
        self.encoder = nn.ModuleList(SparseBlock(width) for _ in range(config.encoder))
        if config.encoder:
            self.any_node = nn.Parameter(torch.randn(width) / math.sqrt(width))
        self.read_links = nn.Linear(OF_ARC, width)
        self.mix_arcs = nn.Sequential(nn.ReLU(), nn.Linear(width, width))
        self.embed_nodes = nn.Sequential(nn.Linear(OF_NODE, width), nn.ReLU(), nn.Linear(width, width))
        self.embed_time = TimeEmbedding(2 * width)
        self.films = nn.ModuleList(_film(2 * width, width) for _ in range(config.blocks + 1))
        self.blocks = nn.ModuleList(SparseBlock(width) for _ in range(config.blocks))
        if config.modulation in ("acam", "cam"):
            self.tokens = nn.Parameter(torch.randn(config.tokens, width) / math.sqrt(width))
            self.readings = nn.ModuleList(TokenReading(config) for _ in range(config.blocks))
            self.token_films = nn.ModuleList(_film(width, width) for _ in range(config.blocks))
        self.readout = SparseReadout(width)

    def forward(self, layouts: ArcLayouts, graphs: ArcGraphs, time: Tensor) -> ArcPrediction:
        """time: (g,) in 0 … 1, the share of the noise process that has passed."""
        return self.predict(layouts, self.embed(layouts), graphs, time)

    def embed(self, layouts: ArcLayouts) -> EmbeddedArcs:
        """What the layouts alone say; a sampler asks for it once for all steps."""
        arcs, nodes = self.embed_arcs(layouts.features, layouts.reverse), None
        for block in self.encoder:
            if nodes is None:
                nodes = self.any_node.expand(len(layouts.real_nodes), -1)
            nodes, arcs = block(nodes, arcs, layouts)
        return EmbeddedArcs(arcs, nodes)

    def predict(self, layouts: ArcLayouts, embedded: EmbeddedArcs, graphs: ArcGraphs, time: Tensor) -> ArcPrediction:
        """The same where the layouts are embedded already."""
        spin = spins(graphs.parity)
        of_arc, of_node = read_links(layouts, graphs.links, spin)
        arcs = self.mix_arcs(embedded.arcs + self.read_links(of_arc))
        nodes = self.embed_nodes(of_node)
        if embedded.nodes is not None:
            nodes = nodes + embedded.nodes
        moment = self.embed_time(time)
        asked = self.films[0](moment)
        tokens = self.tokens.expand(len(time), -1, -1) if hasattr(self, "tokens") else None
        for layer, block in enumerate(self.blocks):
            nodes, arcs = block(*_modulated(asked, nodes, arcs, layouts), layouts)
            asked = self.films[layer + 1](moment)
            if tokens is not None:
                side = side_by_side(nodes, layouts.graphs)
                tokens, context = self.readings[layer](tokens, side, layouts.graphs.there)
                asked = asked + self.token_films[layer](context)
        nodes, arcs = _modulated(asked, nodes, arcs, layouts)
        prediction: ArcPrediction = self.readout(nodes, arcs, spin, layouts)
        return prediction


class ArcEmbedding(nn.Module):
    """What the layout says of each arc and of its reverse, once for all steps."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.own = nn.Linear(len(ARC_FEATURES), 2 * width)
        self.other = nn.Linear(len(ARC_FEATURES), 2 * width, bias=False)
        self.mix = nn.Sequential(nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, features: Tensor, reverse: Tensor) -> Tensor:
        embedded: Tensor = self.mix(self.own(features) + torch.index_select(self.other(features), 0, reverse))
        return embedded


class SparseReadout(nn.Module):
    """Log-odds from embeddings; parity by votes: l_i = f_i s_i + Σ_j g_ij s_j over the noisy spins s = ±1 of the
    candidates' peers."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm_nodes = nn.LayerNorm(width)
        self.norm_arcs = nn.LayerNorm(width)
        self.links = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
        self.votes = nn.Linear(width, 1)
        self.own_vote = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, nodes: Tensor, arcs: Tensor, spin: Tensor, layouts: ArcLayouts) -> ArcPrediction:
        arcs = self.norm_arcs(arcs)
        links = self.links(collect(arcs, layouts.links))[:, 0].float()
        peers = paired(spread(spin[:, None], layouts.nodes), layouts.reverse)
        votes = collect(self.votes(arcs).float() * peers, layouts.nodes)[:, 0]
        own = self.own_vote(self.norm_nodes(nodes))[:, 0].float()
        return ArcPrediction(links, own * spin + votes)


def read_links(layouts: ArcLayouts, links: Tensor, spin: Tensor) -> tuple[Tensor, Tensor]:
    """What is read of noisy links (c,).

    - (p, 5) of an arc: whether it is linked, whether the parities differ, both, and how many other links are on its
      antenna at this end and at the other. (m, 2) of a node: its links, and Σ over them of the others on the antenna.
    """
    peers = paired(spread(spin[:, None], layouts.nodes), layouts.reverse)[:, 0]
    opposite = 0.5 * (1 - spread(spin[:, None], layouts.nodes)[:, 0] * peers)
    linked = links[layouts.links.of]
    column = linked[:, None]
    others = spread(collect(column, layouts.antennas), layouts.antennas) - column
    there = paired(others, layouts.reverse)
    of_arc = torch.cat([torch.stack([linked, opposite, linked * opposite], dim=1), others, there], dim=1)
    return of_arc, collect(torch.cat([column, column * others], dim=1), layouts.nodes)


def _film(context: int, width: int) -> nn.Linear:
    """Scales and shifts of nodes and of arcs; begins as nothing."""
    affine = nn.Linear(context, 4 * width)
    nn.init.zeros_(affine.weight)
    nn.init.zeros_(affine.bias)
    return affine


def _modulated(asked: Tensor, nodes: Tensor, arcs: Tensor, layouts: ArcLayouts) -> tuple[Tensor, Tensor]:
    """FiLM: x (1 + scale) + shift. asked: (g, 4 d)."""
    of_nodes, of_arcs = spread(asked, layouts.graphs).chunk(2, dim=-1)
    scale, shift = of_nodes.chunk(2, dim=-1)
    arc_scale, arc_shift = spread(of_arcs, layouts.nodes).chunk(2, dim=-1)
    return nodes * (1 + scale) + shift, arcs * (1 + arc_scale) + arc_shift
