"""The networks of the paper's tables, by the names of their weights, and raw samples of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet
from manetdiff.measure.ways.samples import sampled
from manetdiff.reproduce.tables import Setting
from manetdiff.reproduce.weights import weights_of

SEEDS = (123, 124, 125)
# As the paper samples, as far as it says: predictions as they are, and every state drawn.
PLAIN_SAMPLING: dict[str, Any] = {"temperature": 1.0, "decide": False}


@dataclass(frozen=True)
class Network:
    """A variant, as weights are named: variant-seed."""

    variant: str
    seeds: Sequence[int] = SEEDS


NETWORKS = {
    "GraphVAE": Network("graph-vae", SEEDS[:1]),
    "GT-VAE": Network("gt-vae", SEEDS[:1]),
    "DDPM-GT": Network("ddpm-gt-plain"),
    "DDPM-GT with features": Network("ddpm-gt"),
    "NetDiff (CAM)": Network("cam"),
    "NetDiff (ACAM)": Network("acam"),
}


def raw_samples(setting: Setting, name: str, layouts: LayoutSet, **how: Any) -> Rows:
    """One raw sample of the weights of a name on each layout; how: as for sampled."""
    return sampled(setting.store, weights_of(name), layouts, name=name, **how)


def samples_of(setting: Setting, network: Network, layouts: LayoutSet, **how: Any) -> Rows:
    """Raw samples of a network of each training seed. A quick run takes the first seed alone."""
    seeds = network.seeds[:1] if setting.quick else network.seeds
    return Rows.pooled([raw_samples(setting, f"{network.variant}-{seed}", layouts, **how) for seed in seeds])
