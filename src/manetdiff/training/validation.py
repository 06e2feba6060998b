"""Validation: topologies sampled on layouts that were held out, scored by the project's metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from manetdiff.diffusion.generator import Generator
from manetdiff.diffusion.sparse import SparseGenerator
from manetdiff.layout import Layout, pad
from manetdiff.model.arc_tensors import ArcGraphs
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.sampling import SamplerConfig
from manetdiff.topology import METRICS, Topology, metrics

# Graphs sampled at a time, for layouts of 16 nodes; fewer where they are larger. On a CPU, what stays in its caches:
# 128 at a time took three times as long for each as 32.
CPU_CHUNK, GPU_CHUNK = 32, 1024
# Layouts of any size that a sparse network samples together.
TOGETHER = 64


def sample_topologies(
    generator: Generator | SparseGenerator,
    layouts: Sequence[Layout],
    sampling: SamplerConfig,
    seed: int,
    device: torch.device | str,
) -> list[Topology]:
    """A raw topology for each layout; layout k draws from the stream (seed, k)."""
    if isinstance(generator, SparseGenerator):
        return _sparse_topologies(generator, layouts, sampling, seed)
    topologies: list[Topology] = []
    whole = CPU_CHUNK if torch.device(device).type == "cpu" else GPU_CHUNK
    chunk = max(1, whole * 16**2 // max(map(len, layouts)) ** 2)
    for start in range(0, len(layouts), chunk):
        part = layouts[start : start + chunk]
        tensors = Layouts.from_numpy(pad([layout.features for layout in part]), device)
        seeds = [(seed, start + k) for k in range(len(part))]
        topologies += to_topologies(generator.sample(tensors, seeds, sampling), part)
    return topologies


def _sparse_topologies(
    generator: SparseGenerator, layouts: Sequence[Layout], sampling: SamplerConfig, seed: int
) -> list[Topology]:
    topologies: list[Topology] = []
    for start in range(0, len(layouts), TOGETHER):
        part = layouts[start : start + TOGETHER]
        seeds = [(seed, start + k) for k in range(len(part))]
        topologies += on_candidates(generator.sample(part, seeds, sampling), part)
    return topologies


def on_candidates(graphs: Sequence[ArcGraphs], layouts: Sequence[Layout]) -> list[Topology]:
    """Links among the candidates as topologies of their layouts."""
    return [
        Topology(layout.arcs.links[graph.links.cpu().numpy() > 0.5], graph.parity.cpu().numpy() > 0.5, layout=layout)
        for graph, layout in zip(graphs, layouts, strict=True)
    ]


def to_topologies(graphs: Graphs, layouts: Sequence[Layout]) -> list[Topology]:
    """Tensors as topologies of their layouts, without the padding."""
    edges, parity = graphs.edges.cpu().numpy() > 0.5, graphs.parity.cpu().numpy() > 0.5
    return [
        Topology(
            np.argwhere(np.triu(edges[row, : len(layout), : len(layout)], 1)), parity[row, : len(layout)], layout=layout
        )
        for row, layout in enumerate(layouts)
    ]


def judge(topologies: Sequence[Topology], targets: Sequence[float], *, one_by_one: bool = False) -> dict[str, float]:
    """Means of all metrics, and `ratio`: mean T over the mean of the targets.

    - one_by_one: `ratio` is the mean of each layout's own instead. Under different radios T differs by factors of
      thousands, and the few with most bandwidth would decide alone.
    """
    scores = [metrics(topology) for topology in topologies]
    means = {name: float(np.mean([score[name] for score in scores])) for name in METRICS}
    if one_by_one:
        ratios = [score["throughput"] / target for score, target in zip(scores, targets, strict=True) if target > 0]
        return {**means, "ratio": float(np.mean(ratios)) if ratios else 0.0}
    return {**means, "ratio": means["throughput"] / float(np.mean(targets))}
