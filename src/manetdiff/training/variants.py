"""The models by name: NetDiff, its ablations, and the baselines of the paper's tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from manetdiff.errors import TrainingError
from manetdiff.model.config import ModelConfig
from manetdiff.model.losses import LossWeights


@dataclass(frozen=True)
class Variant:
    """A model and the losses it is trained with, and what to call it in a table."""

    label: str
    model: ModelConfig
    losses: LossWeights = field(default_factory=LossWeights)


VARIANTS = {
    "acam": Variant("NetDiff (ACAM)", ModelConfig()),
    "cam": Variant("NetDiff (CAM)", ModelConfig(modulation="cam")),
    "none": Variant("no modulation", ModelConfig(modulation="none")),
    "one-token": Variant("NetDiff (ACAM), 1 token", ModelConfig(tokens=1)),
    "cross-entropy": Variant("NetDiff (ACAM), cross-entropy only", ModelConfig(), LossWeights.cross_entropy_only()),
    "ddpm-gt": Variant("DDPM-GT with features", ModelConfig(modulation="statistics")),
    "ddpm-gt-plain": Variant("DDPM-GT", ModelConfig(modulation="statistics", domain_features=False)),
    # Whether tokens make up for what the features tell of the geometry.
    "acam-plain": Variant("NetDiff (ACAM) without features", ModelConfig(domain_features=False)),
    "cam-plain": Variant("NetDiff (CAM) without features", ModelConfig(modulation="cam", domain_features=False)),
    "none-plain": Variant("no modulation, no features", ModelConfig(modulation="none", domain_features=False)),
    "components": Variant("NetDiff (ACAM), told of components", ModelConfig(components=True)),
    "sparse": Variant("NetDiff on candidate links", ModelConfig(kind="sparse"), LossWeights(cosine=0.0)),
    "gt-vae": Variant("GT-VAE", ModelConfig(kind="gt-vae")),
    "graph-vae": Variant("GraphVAE", ModelConfig(kind="graph-vae")),
}


def variant(name: str) -> Variant:
    """A variant by name."""
    if name not in VARIANTS:
        raise TrainingError(f"unknown model {name!r}; known are {', '.join(VARIANTS)}")
    return VARIANTS[name]
