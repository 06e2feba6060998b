"""What goes through a network: layouts, the graphs on them, and what is predicted. All dense, padded and masked."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from manetdiff.layout import PaddedFeatures


class Layouts(NamedTuple):
    """b layouts of up to n nodes.

    - node: (b, n, 4); pair: (b, n, n, 7); sector: (b, n, n) whole numbers; mask: (b, n) bool, False for padding. The
      columns are those of manetdiff.layout.LayoutFeatures.
    """

    node: Tensor
    pair: Tensor
    sector: Tensor
    mask: Tensor

    @classmethod
    def from_numpy(cls, padded: PaddedFeatures, device: torch.device | str = "cpu") -> Layouts:
        """The same as tensors."""
        return cls(*(torch.from_numpy(array).to(device) for array in padded))

    @property
    def pair_mask(self) -> Tensor:
        """(b, n, n) bool: pairs of two different nodes, neither of them padding."""
        n = self.mask.shape[1]
        off_diagonal = ~torch.eye(n, dtype=torch.bool, device=self.mask.device)
        return self.mask[:, :, None] & self.mask[:, None, :] & off_diagonal


class Graphs(NamedTuple):
    """Links and parity on b layouts, clean or noisy.

    - edges: (b, n, n) float of 0 and 1, symmetric, 0 on the diagonal and at padding.
    - parity: (b, n) float of 0 and 1, 0 at padding.
    """

    edges: Tensor
    parity: Tensor


class Prediction(NamedTuple):
    """Log-odds that an edge exists, (b, n, n), symmetric; and that a node's parity is 1, (b, n). 0 where masked."""

    edges: Tensor
    parity: Tensor


def antennas(sector: Tensor, sectors: int) -> Tensor:
    """(…, Q) bool: which antenna it is, one of Q."""
    return sector[..., None] == torch.arange(sectors, dtype=sector.dtype, device=sector.device)
