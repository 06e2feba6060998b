"""One block of the sparse graph transformer: arcs hear of their antenna, their node and the other end; nodes attend.

Arcs of one antenna compete, so each is told the sum over the others there. Beams harm who is in their direction, so
each is told what the node's other arcs are, weighed by how far apart their bearings are. What concerns the other end is
told to the reverse arc. A node then gathers from its arcs by attention.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manetdiff.layout import HARMONICS
from manetdiff.model.arc_tensors import ArcLayouts
from manetdiff.model.groups import collect, paired, spread

HEADS = 4
# Of each harmonic of the bearing.
CHANNELS = 4
# Scores beyond this count as this: far beyond what a trained network gives, and the exponential is finite.
STEEPEST = 30.0
# Of a node without arcs, whose sum of weights is nothing.
NO_WEIGHT = 1e-6


class SparseBlock(nn.Module):
    """z = own + others on the antenna + around + node, and the same of the reverse arc by other weights; arcs take
    ReLU(z) and then a feed-forward layer; nodes Σ softmax(score) · value over their arcs. Residual, normalised before
    each part."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm_arcs = nn.LayerNorm(width)
        self.norm_nodes = nn.LayerNorm(width)
        self.from_arcs = nn.Linear(width, 3 * width)
        self.from_nodes = nn.Linear(width, 2 * width)
        self.gates = nn.Linear(width, len(HARMONICS) * CHANNELS)
        self.around = nn.Linear(len(HARMONICS) * CHANNELS, width, bias=False)
        # How much of what is on its antenna and around it an arc tells its reverse, channel by channel.
        self.tell = nn.Parameter(torch.ones(width))
        self.to_arcs = nn.Linear(width, width)
        self.to_values = nn.Linear(width, width)
        self.to_scores = nn.Linear(width, HEADS)
        self.to_nodes = nn.Linear(width, width)
        self.feed_forward_nodes = _feed_forward(width)
        self.feed_forward_arcs = _feed_forward(width)

    def forward(self, nodes: Tensor, arcs: Tensor, layouts: ArcLayouts) -> tuple[Tensor, Tensor]:
        """nodes: (m, d); arcs: (p, d)."""
        seen = self.norm_arcs(arcs)
        own, load, told = self.from_arcs(seen).chunk(3, dim=-1)
        beside = spread(collect(load, layouts.antennas), layouts.antennas) - load
        beside = beside + self.around(self._around(self.gates(seen), layouts))
        of_node = spread(self.from_nodes(self.norm_nodes(nodes)), layouts.nodes)
        node_own, node_told = of_node.chunk(2, dim=-1)
        told = told + self.tell * beside + node_told
        mixed = torch.relu(own + beside + node_own + paired(told, layouts.reverse))
        arcs = arcs + self.to_arcs(mixed)
        arcs = arcs + self.feed_forward_arcs(arcs)
        weight = torch.exp(self.to_scores(mixed).float().clamp(max=STEEPEST))
        value = self.to_values(mixed)
        weighed = weight.repeat_interleave(value.shape[-1] // HEADS, dim=-1).to(value.dtype) * value
        total = collect(weight, layouts.nodes).clamp(min=NO_WEIGHT)
        message = collect(weighed, layouts.nodes) / total.repeat_interleave(value.shape[-1] // HEADS, dim=-1)
        nodes = nodes + self.to_nodes(message.to(nodes.dtype))
        return nodes + self.feed_forward_nodes(nodes), arcs

    def _around(self, gates: Tensor, layouts: ArcLayouts) -> Tensor:
        """(p, channels): Σ of gate_k cos(h (φ - φ_k)) over the node's other arcs k, for harmonics h of bearings φ."""
        turns = layouts.bearings.repeat_interleave(CHANNELS, dim=-1)  # cosines, then sines
        sent = torch.cat([gates, gates], dim=-1) * turns
        others = spread(collect(sent, layouts.nodes), layouts.nodes) - sent
        cosines, sines = (others * turns).chunk(2, dim=-1)
        return cosines + sines


def _feed_forward(width: int) -> nn.Sequential:
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
