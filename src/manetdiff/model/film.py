"""FiLM: a global vector scales and shifts every embedding of nodes and edges."""

from __future__ import annotations

from torch import Tensor, nn


class Film(nn.Module):
    """h ⊙ (1 + γ) + β for nodes and for edges, γ and β affine in the context. Begins as the identity."""

    def __init__(self, context: int, width: int) -> None:
        super().__init__()
        self.affine = nn.Linear(context, 4 * width)
        nn.init.zeros_(self.affine.weight)
        nn.init.zeros_(self.affine.bias)

    def forward(self, context: Tensor, nodes: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
        """context: (b, c); nodes: (b, n, d); edges: (b, n, n, d)."""
        node_scale, node_shift, edge_scale, edge_shift = self.affine(context)[:, None, :].chunk(4, dim=-1)
        nodes = nodes * (1 + node_scale) + node_shift
        edges = edges * (1 + edge_scale[:, None]) + edge_shift[:, None]
        return nodes, edges
