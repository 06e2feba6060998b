"""One block of the graph transformer: nodes attend to nodes under the control of the edges, and edges follow.

Every channel is a head of its own, so that an edge can steer each channel of the message that passes along it.
"""

from __future__ import annotations

from torch import Tensor, nn

from manetdiff.model.config import Activation

HIDDEN = -1e4  # the score of a pair that must not be seen; finite, so that a row of padding stays finite


class GraphTransformerBlock(nn.Module):
    """y_ij = q_i k_j (1 + m_ij) + a_ij;  nodes gather Σ_j softmax_j(y_ij) (v_j + u_ij);  edges take y_ij and y_ji.

    q, k, v come from the nodes; m, a, u from the edges. Residual, normalised before each part.
    """

    def __init__(self, width: int, activation: Activation = "gelu") -> None:
        super().__init__()
        self.norm_nodes = nn.LayerNorm(width)
        self.norm_edges = nn.LayerNorm(width)
        self.from_nodes = nn.Linear(width, 3 * width)
        self.from_edges = nn.Linear(width, 3 * width)
        self.to_nodes = nn.Linear(width, width)
        self.to_edges = nn.Linear(width, 2 * width)
        self.feed_forward_nodes = _feed_forward(width, 4, activation)
        self.feed_forward_edges = _feed_forward(width, 2, activation)

    def forward(self, nodes: Tensor, edges: Tensor, pair_mask: Tensor) -> tuple[Tensor, Tensor]:
        """nodes: (b, n, d); edges: (b, n, n, d); pair_mask: (b, n, n)."""
        query, key, value = self.from_nodes(self.norm_nodes(nodes)).chunk(3, dim=-1)
        scale, shift, carried = self.from_edges(self.norm_edges(edges)).chunk(3, dim=-1)
        score = query[:, :, None] * key[:, None] * (1 + scale) + shift
        weight = score.masked_fill(~pair_mask[..., None], HIDDEN).softmax(dim=2).to(value.dtype)
        message = (weight * (value[:, None] + carried)).sum(2)
        nodes = nodes + self.to_nodes(message)
        nodes = nodes + self.feed_forward_nodes(nodes)
        along, against = self.to_edges(score).chunk(2, dim=-1)
        edges = edges + along + against.transpose(1, 2)
        edges = edges + self.feed_forward_edges(edges)
        return nodes, edges


def _feed_forward(width: int, factor: int, activation: Activation) -> nn.Sequential:
    between = nn.ReLU() if activation == "relu" else nn.GELU()
    return nn.Sequential(
        nn.LayerNorm(width), nn.Linear(width, factor * width), between, nn.Linear(factor * width, width)
    )
