"""The losses: cross-entropy on edges and parity, and the paper's three penalties on what breaks the constraints.

All of them are means over the graphs of a batch of a value per graph, so that neither padding nor the other graphs of
the batch have a say in a graph's loss.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from manetdiff.checks import check_at_least_0
from manetdiff.errors import ModelError
from manetdiff.json_settings import JsonSettings
from manetdiff.layout.features import COS_ANGLE, SIN_ANGLE
from manetdiff.model.tensors import Graphs, Layouts, Prediction, antennas


@dataclass(frozen=True)
class LossWeights(JsonSettings):
    """Weight of each term; 0 switches it off. consistency: of sparse networks, that an earlier time of the same path
    predicts what a later one, with less noise, does."""

    ERROR = ModelError
    WHAT = "losses"

    edges: float = 1.0
    parity: float = 1.0
    sector: float = 0.05
    cosine: float = 0.02
    odd: float = 0.05
    consistency: float = 0.0

    def __post_init__(self) -> None:
        for name, weight in self.to_dict().items():
            check_at_least_0(ModelError, f"losses: the weight of {name}", weight)
        if not any(self.to_dict().values()):
            raise ModelError("losses: every term is switched off; there is nothing to learn")

    @classmethod
    def cross_entropy_only(cls) -> LossWeights:
        """Without the penalties: the paper's 'BCE' ablation."""
        return cls(sector=0.0, cosine=0.0, odd=0.0)


def losses(
    prediction: Prediction, clean: Graphs, layouts: Layouts, sectors: int, weights: LossWeights
) -> dict[str, Tensor]:
    """The terms that are switched on, unweighted, by name."""
    pair_mask = layouts.pair_mask
    n = layouts.mask.sum(1)
    shares = torch.sigmoid(prediction.edges) * pair_mask
    terms: dict[str, Tensor] = {}
    if weights.edges:
        terms["edges"] = edge_cross_entropy(prediction.edges, clean.edges, pair_mask, n)
    if weights.parity:
        terms["parity"] = parity_cross_entropy(prediction.parity, clean.parity, layouts.mask, n)
    if weights.sector:
        terms["sector"] = sector_loss(shares, layouts.sector, sectors, n)
    if weights.cosine:
        terms["cosine"] = cosine_loss(shares, layouts.pair[..., COS_ANGLE], layouts.pair[..., SIN_ANGLE], n)
    if weights.odd:
        terms["odd"] = odd_loss(shares, torch.sigmoid(prediction.parity))
    return terms


def edge_cross_entropy(logits: Tensor, clean: Tensor, pair_mask: Tensor, n: Tensor) -> Tensor:
    """Over the pairs, per node."""
    each = functional.binary_cross_entropy_with_logits(logits, clean, reduction="none") * pair_mask
    return (each.sum((1, 2)) / (2 * n)).mean()


def parity_cross_entropy(logits: Tensor, clean: Tensor, mask: Tensor, n: Tensor) -> Tensor:
    """Over the nodes, per node."""
    each = functional.binary_cross_entropy_with_logits(logits, clean, reduction="none") * mask
    return (each.sum(1) / n).mean()


def sector_loss(shares: Tensor, sector: Tensor, sectors: int, n: Tensor) -> Tensor:
    """Σ_a ReLU(n_i^a - 1) per node: more than one link on an antenna. shares: (b, n, n) predicted edges."""
    antenna_onehot = antennas(sector, sectors).to(shares.dtype)
    occupation = torch.einsum("bij,bijq->biq", shares, antenna_onehot)
    return (functional.relu(occupation - 1).sum((1, 2)) / n).mean()


def cosine_loss(shares: Tensor, cos_angle: Tensor, sin_angle: Tensor, n: Tensor) -> Tensor:
    """1 - the mean over nodes h of the mean cosine between the way into h and the way out, over pairs of h's links.

    Two links in a straight line count 1, two in the same direction -1. With unit vectors u_i from h to its neighbours
    and predicted shares p_i, Σ_{i≠j} p_i p_j (-u_i·u_j) = Σ p_i² |u_i|² - |Σ p_i u_i|², so it takes O(n²), not O(n³).
    """
    own = (shares**2).sum(2)
    # Features kept in half precision are not quite of length 1, and what is left over would count as pairs.
    length = (shares**2 * (cos_angle**2 + sin_angle**2)).sum(2)
    resultant = (shares * cos_angle).sum(2) ** 2 + (shares * sin_angle).sum(2) ** 2
    pairs = shares.sum(2) ** 2 - own
    straight = (length - resultant) / pairs.clamp(min=1e-3)
    return (1 - straight.sum(1) / n).mean()


def odd_loss(shares: Tensor, parity: Tensor) -> Tensor:
    """Links between nodes of one predicted parity, as a share of the links. parity: (b, n) predicted shares."""
    alike = 1 - (parity[:, :, None] - parity[:, None, :]).abs()
    return ((shares * alike).sum((1, 2)) / (2 + shares.sum((1, 2)))).mean()
