"""Trained models on the benchmark sets: raw samples, without correction or polish, scored as they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manetdiff.data import benchmark_dataset, load_benchmark
from manetdiff.data.settings import first_difference
from manetdiff.diffusion.weights import SUFFIX, Weights, packaged_names, packaged_weights, read_weights
from manetdiff.errors import CheckpointError
from manetdiff.evaluate.baselines import TARGET
from manetdiff.evaluate.scores import Score, first_of, stored
from manetdiff.training.validation import judge, make_trials, sample_topologies
from manetdiff.training.variants import VARIANTS


def find_weights(name: str) -> Weights:
    """Weights by the name of a packaged file, or by path."""
    if name in packaged_names():
        return packaged_weights(name)
    if name.endswith(SUFFIX) or Path(name).exists():
        return read_weights(name)
    raise CheckpointError(f"{name}: neither a file nor packaged weights; packaged are {', '.join(packaged_names())}")


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
    """All packaged weights that are named variant-seed."""
    names = [name for name in packaged_names() if name.rpartition("-")[0] in VARIANTS]
    if not names:
        raise CheckpointError("no ablations are packaged with this version")
    return {name: packaged_weights(name) for name in names}


def _ablation(variant: str, scores: Sequence[Score]) -> Ablation:
    figures = [{**score.metrics, "ratio": score.ratio} for score in scores]
    mean = {name: float(np.mean([figure[name] for figure in figures])) for name in figures[0]}
    spread = {
        name: float(np.std([figure[name] for figure in figures], ddof=1)) if len(figures) > 1 else 0.0 for name in mean
    }
    return Ablation(variant, VARIANTS[variant].label, len(scores), mean, spread)
