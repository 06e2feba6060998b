"""Settings of small networks of every kind, and what the tests of several of them need."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from torch import Tensor

from manetdiff.model.config import ModelConfig
from manetdiff.model.tensors import Layouts

SMALL = ModelConfig(width=8, blocks=2, tokens=5, latent=3)


def small(**changes: Any) -> ModelConfig:
    """SMALL with some settings changed."""
    return dataclasses.replace(SMALL, **changes)


DENOISERS = {
    f"{modulation}, {similarity}, {reads}": small(modulation=modulation, similarity=similarity, reads=reads)
    for modulation in ("acam", "cam")
    for similarity in ("cosine", "dot")
    for reads in ("nodes", "nodes+edges")
} | {
    "acam, 1 token": small(tokens=1),
    "acam, 16 tokens": small(tokens=16),
    "acam, no features": small(domain_features=False),
    "statistics": small(modulation="statistics"),
    "statistics, no features": small(modulation="statistics", domain_features=False),
    "no modulation": small(modulation="none"),
    "no modulation, no features": small(modulation="none", domain_features=False),
}
NETWORKS = DENOISERS | {
    "graph-vae": small(kind="graph-vae"),
    "graph-vae, no features": small(kind="graph-vae", domain_features=False),
    "gt-vae": small(kind="gt-vae"),
    "gt-vae, no features": small(kind="gt-vae", domain_features=False),
}


def numbers_of(layouts: Layouts, seed: int = 0) -> Tensor:
    """Random numbers for each node, which depend on the size of its fleet and not on the padding."""
    drawn = np.zeros((*layouts.mask.shape, 3))
    for row, n in enumerate(layouts.mask.sum(1).tolist()):
        drawn[row, :n] = np.random.default_rng((seed, n)).normal(size=(n, 3))
    return torch.from_numpy(drawn)


def close(one: Tensor, other: Tensor) -> bool:
    """Equal but for rounding."""
    return torch.allclose(one, other, rtol=1e-5, atol=1e-5)
