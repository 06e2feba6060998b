"""DDPM-GT's view of the whole graph: statistics of the embeddings, instead of tokens."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manetdiff.model.config import ModelConfig
from manetdiff.model.film import Film

STATISTICS = 5  # of the noisy graph, see graph_statistics


class StatisticsModulation(nn.Module):
    """A global vector, updated by the mean, spread, least and largest of nodes and edges, sets a FiLM of both.

    It goes from block to block where tokens do in NetDiff: (b, 1, d).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = config.width
        self.update = nn.Sequential(nn.Linear(8 * width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.film = Film(width, width)

    def forward(
        self, context: Tensor, nodes: Tensor, edges: Tensor, mask: Tensor, pair_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """context: (b, 1, d); returns the new context, nodes and edges."""
        described = torch.cat([_moments(nodes, mask), _moments(edges.flatten(1, 2), pair_mask.flatten(1, 2))], dim=-1)
        context = context + self.update(described)[:, None]
        nodes, edges = self.film(context[:, 0], nodes, edges)
        return context, nodes, edges


def graph_statistics(edges: Tensor, opposite: Tensor, occupation: Tensor, mask: Tensor) -> Tensor:
    """(b, 5): nodes, mean degree, its variance, share of links between opposite parities, saturated antennas a node.

    - edges, opposite: (b, n, n) of 0 and 1; occupation: (b, n, Q) links on each antenna; mask: (b, n).
    """
    there = mask.to(edges.dtype)
    n = there.sum(1)
    degree = edges.sum(2)
    mean = degree.sum(1) / n
    variance = (((degree - mean[:, None]) ** 2) * there).sum(1) / n
    crossing = (edges * opposite).sum((1, 2)) / edges.sum((1, 2)).clamp(min=1)
    saturated = (occupation > 1).to(edges.dtype).sum((1, 2)) / n
    return torch.stack([n / 32, mean, variance, crossing, saturated], dim=-1)


def _moments(items: Tensor, mask: Tensor) -> Tensor:
    """(b, 4 d) mean, standard deviation, least and largest over the items (b, m, d) that are there."""
    there = mask[:, :, None]
    count = mask.sum(1)[:, None]
    mean = (items * there).sum(1) / count
    spread = ((((items - mean[:, None]) ** 2) * there).sum(1) / count + 1e-5).sqrt()
    least = items.masked_fill(~there, float("inf")).amin(1)
    largest = items.masked_fill(~there, float("-inf")).amax(1)
    return torch.cat([mean, spread, least, largest], dim=-1)
