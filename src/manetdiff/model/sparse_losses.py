"""The losses on sparse graphs: cross-entropy on candidate links and parity, and the penalties on broken constraints.

All are sums over the batch for each of its nodes (*odd*: for each node and link), so that a node counts the same in a
fleet of any size.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, ArcPrediction
from manetdiff.model.groups import collect, paired, spread
from manetdiff.model.losses import LossWeights


def sparse_losses(
    prediction: ArcPrediction, clean: ArcGraphs, layouts: ArcLayouts, weights: LossWeights
) -> dict[str, Tensor]:
    """The terms that are switched on, unweighted, by name; the penalty on angles is one of dense graphs only."""
    nodes = layouts.real_nodes.sum()
    shares = torch.sigmoid(prediction.links) * layouts.real_links
    terms: dict[str, Tensor] = {}
    if weights.edges:
        each = functional.binary_cross_entropy_with_logits(prediction.links, clean.links, reduction="none")
        terms["edges"] = (each * layouts.real_links).sum() / nodes
    if weights.parity:
        each = functional.binary_cross_entropy_with_logits(prediction.parity, clean.parity, reduction="none")
        terms["parity"] = (each * layouts.real_nodes).sum() / nodes
    if weights.sector:
        occupation = collect(spread(shares[:, None], layouts.links), layouts.antennas)
        terms["sector"] = functional.relu(occupation - 1).sum() / nodes
    if weights.odd:
        parity = spread(torch.sigmoid(prediction.parity)[:, None], layouts.nodes)
        alike = 1 - (parity - paired(parity, layouts.reverse)).abs()
        both = collect(alike, layouts.links)[:, 0] / 2
        terms["odd"] = (shares * both).sum() / (nodes + shares.sum())
    return terms


def disagreement(late: ArcPrediction, early: ArcPrediction, layouts: ArcLayouts) -> Tensor:
    """Cross-entropy of what is predicted with more noise to what is predicted with less, for each node: the latter is
    taken as it is."""
    each = [
        functional.binary_cross_entropy_with_logits(mine, torch.sigmoid(theirs.detach()), reduction="none")
        for mine, theirs in zip(late, early, strict=True)
    ]
    return ((each[0] * layouts.real_links).sum() + (each[1] * layouts.real_nodes).sum()) / layouts.real_nodes.sum()
