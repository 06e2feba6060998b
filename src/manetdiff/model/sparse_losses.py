"""The losses on sparse graphs: cross-entropy on candidate links and parity, and the penalties on broken constraints.

All are sums over the batch for each of its nodes (*odd*: for each node and link), so that a node counts the same in a
fleet of any size.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts, ArcPrediction
from manetdiff.model.groups import collect, paired, spread
from manetdiff.model.losses import LossWeights

Summed = Callable[[Tensor], Tensor]
"""From sums over this process's part of a batch to those over all of it."""


def alone(sums: Tensor) -> Tensor:
    """Of a batch that one process has all of."""
    return sums


def sparse_losses(
    prediction: ArcPrediction, clean: ArcGraphs, layouts: ArcLayouts, weights: LossWeights, summed: Summed = alone
) -> dict[str, Tensor]:
    """The terms that are switched on, unweighted, by name; the penalty on angles is one of dense graphs only.

    - summed: where several processes have a part each, what adds up their sums.
    """
    shares = torch.sigmoid(prediction.links) * layouts.real_links
    sums: dict[str, Tensor] = {"nodes": layouts.real_nodes.sum()}
    if weights.edges:
        each = functional.binary_cross_entropy_with_logits(prediction.links, clean.links, reduction="none")
        sums["edges"] = (each * layouts.real_links).sum()
    if weights.parity:
        each = functional.binary_cross_entropy_with_logits(prediction.parity, clean.parity, reduction="none")
        sums["parity"] = (each * layouts.real_nodes).sum()
    if weights.sector:
        occupation = collect(spread(shares[:, None], layouts.links), layouts.antennas)
        sums["sector"] = functional.relu(occupation - 1).sum()
    if weights.odd:
        parity = spread(torch.sigmoid(prediction.parity)[:, None], layouts.nodes)
        alike = 1 - (parity - paired(parity, layouts.reverse)).abs()
        both = collect(alike, layouts.links)[:, 0] / 2
        sums["odd"], sums["links"] = (shares * both).sum(), shares.sum()
    whole = dict(zip(sums, summed(torch.stack(list(sums.values()))).unbind(), strict=True))
    nodes, links = whole.pop("nodes"), whole.pop("links", 0)
    return {name: value / (nodes + links if name == "odd" else nodes) for name, value in whole.items()}


def disagreement(late: ArcPrediction, early: ArcPrediction, layouts: ArcLayouts, summed: Summed = alone) -> Tensor:
    """Cross-entropy of what is predicted with more noise to what is predicted with less, for each node: the latter is
    taken as it is."""
    each = [
        functional.binary_cross_entropy_with_logits(mine, torch.sigmoid(theirs.detach()), reduction="none")
        for mine, theirs in zip(late, early, strict=True)
    ]
    apart = (each[0] * layouts.real_links).sum() + (each[1] * layouts.real_nodes).sum()
    whole, nodes = summed(torch.stack([apart, layouts.real_nodes.sum()])).unbind()
    return whole / nodes
