"""Trained models on the benchmark sets: raw samples, without correction or polish, scored as they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manetdiff.data import BENCHMARKS, benchmark_dataset, load_benchmark
from manetdiff.data.settings import first_difference
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import CheckpointError
from manetdiff.evaluate.baselines import TARGET
from manetdiff.evaluate.scores import Score, first_of, stored
from manetdiff.training.validation import judge, make_trials, sample_topologies
from manetdiff.training.variants import VARIANTS

# The models of the table of ablations, with three seeds and with one.
THREE_SEEDS = ("acam", "cam", "ddpm-gt")
ONE_SEED = ("none", "one-token", "cross-entropy", "ddpm-gt-plain", "components", "gt-vae", "graph-vae")


def model_scores(
    benchmark: str,
    weights: Mapping[str, Weights],
    *,
    sampling: Mapping[str, Any] | None = None,
    layouts: int | None = None,
    seed: int = 0,
    report: Callable[[str], None] = lambda label: None,
) -> list[Score]:
    """The set's own topologies, then one raw sample of each model on each layout.

    sampling: values to sample with instead of each model's own, by the names of SamplerConfig.
    """
    chosen = first_of(load_benchmark(benchmark), layouts)
    rows = [stored(TARGET, chosen)]
    for name, loaded in weights.items():
        report(f"{benchmark}: {name}")
        difference = first_difference(loaded.radio.to_dict(), benchmark_dataset(benchmark).settings.radio.to_dict())
        if difference:
            field, trained, solved = difference
            raise CheckpointError(
                f"{name}: trained for a radio with {field} = {trained!r}; {benchmark} was solved with {solved!r}"
            )
        trials = make_trials(chosen, loaded.radio)
        generator = loaded.build()
        start = time.perf_counter()
        chosen_sampling = replace(loaded.sampling, **(sampling or {}))
        topologies = sample_topologies(generator, trials, chosen_sampling, seed, "cpu")
        seconds = (time.perf_counter() - start) / len(chosen)
        means = judge(topologies, trials)
        rows.append(Score(name, len(chosen), means, means.pop("ratio"), seconds))
    return rows


def with_card(
    weights: Weights, commit: str, layouts: int | None = None, report: Callable[[str], None] = lambda label: None
) -> Weights:
    """The weights as they are shipped, in half precision, with what they score on the benchmark sets.

    commit: of the code that trained them. Only sets of fleet sizes that they were trained on are scored.
    """
    shipped = replace(weights, tensors={name: tensor.half() for name, tensor in weights.tensors.items()})
    trained_on = {nodes for source in weights.card.get("data", []) for nodes in source["nodes"]}
    scores: dict[str, Any] = {}
    for name, benchmark in BENCHMARKS.items():
        if benchmark.nodes in trained_on:
            row = model_scores(name, {"weights": shipped}, layouts=layouts, report=report)[1]
            scores[name] = {**row.metrics, "ratio": row.ratio, "layouts": row.layouts}
    return replace(shipped, card={**weights.card, "commit": commit, "benchmark": scores})


@dataclass(frozen=True)
class Ablation:
    """One variant over its seeds: mean and spread (the sample standard deviation) of each figure.

    mean, spread: by the names of the metrics, and `ratio`. With one seed the spread is 0.
    """

    variant: str
    label: str
    seeds: int
    mean: dict[str, float]
    spread: dict[str, float]


def ablations(scores: Sequence[Score]) -> list[Ablation]:
    """Scores of weights named variant-seed, gathered by variant, in the order of the variants."""
    gathered: dict[str, list[Score]] = {}
    for score in scores:
        variant, _, seed = score.method.rpartition("-")
        if variant in VARIANTS and seed.isdigit():
            gathered.setdefault(variant, []).append(score)
    return [_ablation(variant, gathered[variant]) for variant in VARIANTS if variant in gathered]


def ablation_weights() -> dict[str, Weights]:
    """The weights of the table of ablations, which come with the sources."""
    names = [f"{name}-{seed}" for name in THREE_SEEDS for seed in (123, 124, 125)] + [
        f"{name}-123" for name in ONE_SEED
    ]
    return {name: find_weights(name) for name in names}


def _ablation(variant: str, scores: Sequence[Score]) -> Ablation:
    figures = [{**score.metrics, "ratio": score.ratio} for score in scores]
    mean = {name: float(np.mean([figure[name] for figure in figures])) for name in figures[0]}
    spread = {
        name: float(np.std([figure[name] for figure in figures], ddof=1)) if len(figures) > 1 else 0.0 for name in mean
    }
    return Ablation(variant, VARIANTS[variant].label, len(scores), mean, spread)
