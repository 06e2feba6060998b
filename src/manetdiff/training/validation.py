"""Validation: topologies sampled on layouts that were held out, scored by the project's metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from manetdiff.diffusion.generator import Generator
from manetdiff.layout import Layout, LayoutFeatures, pad
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig
from manetdiff.topology import METRICS, Topology, metrics

if TYPE_CHECKING:  # sampling itself needs no search
    from manetdiff.data import SolvedLayout

# Graphs sampled at a time, for layouts of 16 nodes; fewer where they are larger. On a CPU, what stays in its caches:
# 128 at a time took three times as long for each as 32.
CPU_CHUNK, GPU_CHUNK = 32, 1024


@dataclass(frozen=True)
class Trial:
    """A layout to be judged by, its features, and the reference's T."""

    layout: Layout
    features: LayoutFeatures
    target: float


def make_trials(layouts: Sequence[SolvedLayout], radio: Radio) -> list[Trial]:
    """What judging these layouts needs, computed once."""
    trials = []
    for solved in layouts:
        layout = Layout.of(solved.layout, radio)
        trials.append(Trial(layout, layout.features, float(solved.metrics["throughput"])))
    return trials


def sample_topologies(
    generator: Generator, trials: Sequence[Trial], sampling: SamplerConfig, seed: int, device: torch.device | str
) -> list[Topology]:
    """A raw topology for each layout; layout k draws from the stream (seed, k)."""
    topologies: list[Topology] = []
    largest = max(len(trial.features.node) for trial in trials)
    whole = CPU_CHUNK if torch.device(device).type == "cpu" else GPU_CHUNK
    chunk = max(1, whole * 16**2 // largest**2)
    for start in range(0, len(trials), chunk):
        part = trials[start : start + chunk]
        layouts = Layouts.from_numpy(pad([trial.features for trial in part]), device)
        seeds = [(seed, start + k) for k in range(len(part))]
        topologies += to_topologies(generator.sample(layouts, seeds, sampling), [len(t.features.node) for t in part])
    return topologies


def to_topologies(graphs: Graphs, sizes: Sequence[int]) -> list[Topology]:
    """Tensors as topologies, without their padding."""
    edges, parity = graphs.edges.cpu().numpy() > 0.5, graphs.parity.cpu().numpy() > 0.5
    return [
        Topology.from_adjacency(edges[row, :n, :n], parity[row, :n].astype(np.int64)) for row, n in enumerate(sizes)
    ]


def judge(topologies: Sequence[Topology], trials: Sequence[Trial]) -> dict[str, float]:
    """Means of all metrics, and `ratio`: mean T over the reference's mean T."""
    scores = [metrics(topology, trial.layout) for topology, trial in zip(topologies, trials, strict=True)]
    means = {name: float(np.mean([score[name] for score in scores])) for name in METRICS}
    return {**means, "ratio": means["throughput"] / float(np.mean([trial.target for trial in trials]))}
