"""The two factors of a policy gradient: by how much a sample is better than others, and how likely its choices were."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts

# Log-probabilities of what is certain.
LEAST_SHARE = 1e-5
# Samples of a layout that are worth nearly the same, as a share of its T, say next to nothing.
LEAST_SPREAD = 1e-3
# Advantages beyond it count as this.
MOST = 3.0


def advantages(worth: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(layouts · samples,): by how much each sample is better than the mean of its layout's, (layouts, samples).

    In spreads, half way between its layout's and that of all: by that of all alone, layouts ruled by interference,
    whose samples are ten times as far apart, would be all that is learned from; by its own alone, trifles would count
    as much.
    """
    apart = worth - worth.mean(axis=1, keepdims=True)
    own = np.sqrt((apart**2).mean(axis=1, keepdims=True))
    spread = np.sqrt((own + LEAST_SPREAD) * (apart.std() + LEAST_SPREAD))
    return np.asarray((apart / spread).clip(-MOST, MOST).ravel())


def likelihood(layouts: ArcLayouts, shares: ArcGraphs, taken: ArcGraphs) -> Tensor:
    """(g,) log-probability of what a denoising step took, for each node."""
    total = torch.zeros(len(layouts.sizes), device=layouts.real_nodes.device)
    for share, drawn, graph, real in (
        (shares.links, taken.links, layouts.graph_of_link, layouts.real_links),
        (shares.parity, taken.parity, layouts.graphs.of, layouts.real_nodes),
    ):
        sure = share.clamp(LEAST_SHARE, 1 - LEAST_SHARE)
        each = (drawn * sure.log() + (1 - drawn) * (1 - sure).log()) * real
        total = total.index_add(0, graph, each)
    return total[:-1] / layouts.sizes[:-1].clamp(min=1)
