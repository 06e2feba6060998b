"""From features and a noisy graph to embeddings of nodes and edges.

What the layout says is embedded once; what the noisy graph says is added in every step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from manetdiff.features import NODE_FEATURES, PAIR_FEATURES
from manetdiff.model.config import ModelConfig
from manetdiff.model.graphs import Graphs, Layouts, antennas


class EmbeddedLayouts(NamedTuple):
    """What does not change over the steps.

    nodes: (b, n, d); edges: (b, n, n, d); looks: (b, n, n, Q) which antenna of the first node looks at the second.
    """

    nodes: Tensor
    edges: Tensor
    looks: Tensor
    mask: Tensor
    pair_mask: Tensor


class NoisyGraph(NamedTuple):
    """What the network reads of a noisy graph. All of it stays the same when every parity is flipped.

    edges: (b, n, n) of 0 and 1; opposite: (b, n, n), 1 where the parities differ;
    occupation: (b, n, Q) links on each antenna.
    """

    edges: Tensor
    opposite: Tensor
    occupation: Tensor


class LayoutEmbedding(nn.Module):
    """The part that reads the layout."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.sectors = config.sectors
        self.domain_features = config.domain_features
        self.nodes = nn.Linear(len(NODE_FEATURES), config.width)
        if config.domain_features:
            self.edges = nn.Linear(len(PAIR_FEATURES) + 2 * config.sectors, config.width)

    def forward(self, layouts: Layouts) -> EmbeddedLayouts:
        pair_mask = layouts.pair_mask
        looks = antennas(layouts.sector, self.sectors).to(layouts.node.dtype) * pair_mask[..., None]
        nodes = self.nodes(layouts.node)
        if self.domain_features:
            pair = layouts.pair.to(layouts.node.dtype)
            edges = self.edges(torch.cat([pair, looks, looks.transpose(1, 2)], dim=-1))
        else:
            edges = nodes.new_zeros(*layouts.sector.shape, nodes.shape[-1])
        return EmbeddedLayouts(nodes, edges, looks, layouts.mask, pair_mask)


class GraphEmbedding(nn.Module):
    """The part that reads the noisy graph and joins it to the layout's."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.domain_features = config.domain_features
        self.components = config.components
        # An edge, whether its parities differ, both; what else is on the antennas of its two ends; whether the two
        # are joined already.
        self.edges = nn.Linear(3 + 2 * config.domain_features + config.components, width)
        self.nodes = nn.Linear(config.sectors if config.domain_features else 1, width)
        self.mix_nodes = nn.Sequential(nn.GELU(), nn.Linear(width, width))
        self.mix_edges = nn.Sequential(nn.GELU(), nn.Linear(width, width))

    def forward(self, embedded: EmbeddedLayouts, noisy: NoisyGraph) -> tuple[Tensor, Tensor]:
        """Nodes (b, n, d) and edges (b, n, n, d)."""
        parts = [noisy.edges, noisy.opposite, noisy.edges * noisy.opposite]
        if self.domain_features:
            others = torch.einsum("biq,bijq->bij", noisy.occupation, embedded.looks) - noisy.edges
            parts += [others, others.transpose(1, 2)]
            of_nodes = noisy.occupation
        else:
            of_nodes = noisy.edges.sum(2, keepdim=True)
        if self.components:
            parts.append(joined(noisy.edges * noisy.opposite))
        edges = self.mix_edges(embedded.edges + self.edges(torch.stack(parts, dim=-1)))
        nodes = self.mix_nodes(embedded.nodes + self.nodes(of_nodes))
        return nodes, edges


def read_noisy(embedded: EmbeddedLayouts, graphs: Graphs) -> NoisyGraph:
    """Antenna occupation n_i^a = Σ_j e_ij δ(a(i,j) = a), and where parities differ."""
    spin = spins(graphs.parity) * embedded.mask
    opposite = 0.5 * (1 - spin[:, :, None] * spin[:, None, :]) * embedded.pair_mask
    occupation = torch.einsum("bij,bijq->biq", graphs.edges, embedded.looks)
    return NoisyGraph(graphs.edges, opposite, occupation)


def joined(links: Tensor) -> Tensor:
    """(b, n, n), 1 where two nodes are in one component of the links, symmetric and of 0 and 1.

    Paths of up to 1, 2, 4, … links, until none can be longer.
    """
    n = links.shape[-1]
    reached = links + torch.eye(n, dtype=links.dtype, device=links.device)
    for _ in range(max(1, math.ceil(math.log2(max(2, n - 1))))):
        reached = (reached @ reached).clamp(max=1).to(links.dtype)
    return reached


def spins(parity: Tensor) -> Tensor:
    """Parity 0 and 1 as -1 and +1: flipping every parity changes every sign."""
    return 2 * parity - 1
