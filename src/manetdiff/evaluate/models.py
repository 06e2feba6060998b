"""Trained models on the benchmark sets: raw samples, without correction or polish, scored as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from manetdiff.data import BENCHMARKS, DEFAULT_SETS
from manetdiff.data.sizes import sizes_of
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import CheckpointError
from manetdiff.evaluate.bundles import raw_rows
from manetdiff.evaluate.scores import has_radios
from manetdiff.measure.measures import OF_LAYOUTS
from manetdiff.measure.rows import Rows
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways.samples import sampled
from manetdiff.training.variants import VARIANTS

# The models of the table of ablations, with three seeds and with one.
THREE_SEEDS = ("acam", "cam", "ddpm-gt")
ONE_SEED = ("none", "one-token", "cross-entropy", "ddpm-gt-plain", "components", "gt-vae", "graph-vae")

# Of the card of a network for any radio, and what means something over several radios.
ANY_RADIO_SETS = (*DEFAULT_SETS, "bench64", "radios")
OF_RADIOS = ("links", "antenna_saturation", "node_saturation", "connected", "parity", "valid")


# Of weights that PyTorch samples from.
model_rows = partial(raw_rows, sampled)


def with_card(store: RowStore, weights: Weights, commit: str, layouts: int | None = None) -> Weights:
    """The weights as they are shipped, in half precision, with what they score on the benchmark sets.

    - commit: of the code that trained them. Only sets of fleet sizes that they were trained on are scored. Where a set
      has several radios, the ratio is the mean of the layouts' own, and there is no T.
    """
    shipped = replace(weights, tensors={name: tensor.half() for name, tensor in weights.tensors.items()})
    try:
        trained_on = {nodes for source in weights.card.get("data", []) for nodes in sizes_of(source["nodes"])}
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"the card of these weights does not say what they were trained on: {error}") from None
    scores: dict[str, Any] = {}
    for name in ANY_RADIO_SETS if weights.any_radio else DEFAULT_SETS:
        if trained_on.issuperset(BENCHMARKS[name].nodes):
            rows = model_rows(store, name, {"weights": shipped}, layouts=layouts)["weights"]
            means = rows.means(OF_LAYOUTS)
            if has_radios(name):
                means = {metric: means[metric] for metric in OF_RADIOS} | {"ratio": float(rows.ratios.mean())}
            scores[name] = {**means, "layouts": rows.layouts}
    return replace(shipped, card={**weights.card, "commit": commit, "benchmark": scores})


@dataclass(frozen=True)
class Ablation:
    """One variant over its seeds: mean and spread (the sample standard deviation) of each figure.

    - mean, spread: by the names of the metrics, and `ratio`. With one seed the spread is 0.
    """

    variant: str
    label: str
    seeds: int
    mean: dict[str, float]
    spread: dict[str, float]


def ablations(rows: Mapping[str, Rows]) -> list[Ablation]:
    """Rows of weights named variant-seed, pooled by variant, in the order of the variants."""
    gathered: dict[str, list[Rows]] = {}
    for name, made in rows.items():
        variant, _, seed = name.rpartition("-")
        if variant in VARIANTS and seed.isdigit():
            gathered.setdefault(variant, []).append(made)
    pooled = {variant: Rows.pooled(gathered[variant]) for variant in VARIANTS if variant in gathered}
    return [
        Ablation(
            variant,
            VARIANTS[variant].label,
            made.seeds,
            made.means(OF_LAYOUTS),
            {metric: made.spread(metric) for metric in OF_LAYOUTS},
        )
        for variant, made in pooled.items()
    ]


def ablation_weights() -> dict[str, Weights]:
    """The weights of the table of ablations, which come with the sources."""
    names = [f"{name}-{seed}" for name in THREE_SEEDS for seed in (123, 124, 125)] + [
        f"{name}-123" for name in ONE_SEED
    ]
    return {name: find_weights(name) for name in names}
