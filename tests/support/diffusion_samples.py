"""What several tests of the diffusion need: sizes, numbers in double precision, and what chance allows."""

from __future__ import annotations

import math

import torch
from hypothesis import strategies as st
from torch import Tensor

from manetdiff.model.graphs import Graphs

SIZES = (2, 5, 9)
grids = st.sampled_from(["linear", "cosine", "late"])


def precise(value: float) -> Tensor:
    """A number as a tensor in double precision."""
    return torch.tensor(value, dtype=torch.float64)


def assert_graphs(graphs: Graphs, mask: Tensor) -> None:
    """States of 0 and 1, symmetric, nothing on the diagonal or at padding."""
    for part in graphs:
        assert bool(((part == 0) | (part == 1)).all())
    assert torch.equal(graphs.edges, graphs.edges.transpose(1, 2))
    assert not graphs.edges.diagonal(dim1=1, dim2=2).any()
    assert not graphs.edges[~(mask[:, :, None] & mask[:, None, :])].any()
    assert not graphs.parity[~mask].any()


def within_chance(count: float, share: float, trials: int) -> bool:
    """Whether so many of the trials is what a share promises, to five standard deviations."""
    return abs(count - share * trials) <= 5 * math.sqrt(share * (1 - share) * trials) + 1e-9
