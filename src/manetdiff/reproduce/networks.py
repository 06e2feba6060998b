"""The networks of the paper's tables, by the names of their packaged weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manetdiff.data import SolvedLayout
from manetdiff.reproduce.measured import sampled
from manetdiff.reproduce.rows import Rows
from manetdiff.reproduce.study import Setting

SEEDS = (123, 124, 125)


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


def samples_of(setting: Setting, network: Network, layouts: Sequence[SolvedLayout], **how: Any) -> Rows:
    """Raw samples of a network of each training seed; how: as for sampled. A quick run takes the first seed alone."""
    seeds = network.seeds[:1] if setting.quick else network.seeds
    return Rows.pooled([sampled(setting, f"{network.variant}-{seed}", layouts, **how) for seed in seeds])
