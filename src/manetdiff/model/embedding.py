"""From features and a noisy graph to embeddings of nodes and edges.

What the layout says is embedded once; what the noisy graph says is added in every step.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from manetdiff.layout import NODE_FEATURES, PAIR_FEATURES
from manetdiff.model.config import ModelConfig
from manetdiff.model.tensors import Graphs, Layouts, antennas

# Paths double in length so many times: to 256 links, as many as the largest fleet has nodes.
DOUBLINGS = 8


class EmbeddedLayouts(NamedTuple):
    """What does not change over the steps.

    - nodes: (b, n, d); edges: (b, n, n, d); antenna_onehot: (b, n, n, Q), 1 for the antenna of the first node that
      faces the second.
    """

    nodes: Tensor
    edges: Tensor
    antenna_onehot: Tensor
    mask: Tensor
    pair_mask: Tensor


class NoisyGraph(NamedTuple):
    """What the network reads of a noisy graph. All of it stays the same when every parity is flipped.

    - edges: (b, n, n) of 0 and 1; opposite: (b, n, n), 1 where the parities differ;
    - occupation: (b, n, Q) links on each antenna.
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
        antenna_onehot = antennas(layouts.sector, self.sectors).to(layouts.node.dtype) * pair_mask[..., None]
        nodes = self.nodes(layouts.node)
        if self.domain_features:
            pair = layouts.pair.to(layouts.node.dtype)
            edges = self.edges(torch.cat([pair, antenna_onehot, antenna_onehot.transpose(1, 2)], dim=-1))
        else:
            edges = nodes.new_zeros(*layouts.sector.shape, nodes.shape[-1])
        return EmbeddedLayouts(nodes, edges, antenna_onehot, layouts.mask, pair_mask)


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
            others = torch.einsum("biq,bijq->bij", noisy.occupation, embedded.antenna_onehot) - noisy.edges
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
    occupation = torch.einsum("bij,bijq->biq", graphs.edges, embedded.antenna_onehot)
    return NoisyGraph(graphs.edges, opposite, occupation)


def joined(links: Tensor) -> Tensor:
    """(b, n, n), 1 where two nodes are in one component of the links, symmetric and of 0 and 1.

    Paths of up to 1, 2, 4, … 256 links, whatever the nodes: an exported network does not know how many there will be.
    """
    reached = links + torch.eye(links.shape[-1], dtype=links.dtype, device=links.device)
    for _ in range(DOUBLINGS):
        reached = (reached @ reached).clamp(max=1).to(links.dtype)
    return reached


def spins(parity: Tensor) -> Tensor:
    """Parity 0 and 1 as -1 and +1: flipping every parity changes every sign."""
    return 2 * parity - 1
