"""Networks as they are, on b graphs of one layout: exported where there is no arrangement for speed, see dense.py."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from manetdiff.model.denoiser import Denoiser
from manetdiff.model.embedding import EmbeddedLayouts
from manetdiff.model.tensors import Graphs, Prediction
from manetdiff.model.vae import GraphVAE


class PlainDenoiser(nn.Module):
    """A denoiser that is told the time itself."""

    def __init__(self, denoiser: Denoiser) -> None:
        super().__init__()
        self.denoiser = denoiser

    def time_condition(self, time: Tensor) -> Tensor:
        """(k, 1)."""
        return time[:, None]

    def forward(
        self,
        node_embedding: Tensor,
        edge_embedding: Tensor,
        antenna_onehot: Tensor,
        edges: Tensor,
        parity: Tensor,
        time_condition: Tensor,
    ) -> Prediction:
        """node_embedding (1, n, d), edge_embedding (1, n, n, d), antenna_onehot (1, n, n, Q); edges (b, n, n), parity
        (b, n); time_condition (1,)."""
        b = parity.shape[0]  # not len(): that would be a number of the exported file
        embedded = _repeated(node_embedding, edge_embedding, antenna_onehot, b)
        return self.denoiser.predict(embedded, Graphs(edges, parity), time_condition.expand(b))


class PlainDecoder(nn.Module):
    """A variational model, which decodes the latents of its nodes whatever the graph and the time."""

    def __init__(self, vae: GraphVAE) -> None:
        super().__init__()
        self.vae = vae

    def time_condition(self, time: Tensor) -> Tensor:
        """(k, 1), of which nothing is made."""
        return time[:, None]

    def forward(
        self, node_embedding: Tensor, edge_embedding: Tensor, antenna_onehot: Tensor, latent: Tensor
    ) -> Prediction:
        """latent: (b, n, size); the others as above."""
        return self.vae.decode(_repeated(node_embedding, edge_embedding, antenna_onehot, latent.shape[0]), latent)


def _repeated(nodes: Tensor, edges: Tensor, antenna_onehot: Tensor, b: int) -> EmbeddedLayouts:
    """One layout without padding, b times."""
    n = nodes.shape[1]
    mask = torch.ones(b, n, dtype=torch.bool, device=nodes.device)
    pair_mask = ~torch.eye(n, dtype=torch.bool, device=nodes.device).expand(b, n, n)
    nodes, edges, antenna_onehot = (part.expand(b, *part.shape[1:]) for part in (nodes, edges, antenna_onehot))
    return EmbeddedLayouts(nodes, edges, antenna_onehot, mask, pair_mask)
