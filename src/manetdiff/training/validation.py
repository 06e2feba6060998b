"""Validation: topologies sampled on layouts that were held out, scored by the project's metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from manetdiff.diffusion.generator import Generator
from manetdiff.layout import Layout, pad
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.sampling import SamplerConfig
from manetdiff.topology import METRICS, Topology, metrics

# Graphs sampled at a time, for layouts of 16 nodes; fewer where they are larger. On a CPU, what stays in its caches:
# 128 at a time took three times as long for each as 32.
CPU_CHUNK, GPU_CHUNK = 32, 1024


def sample_topologies(
    generator: Generator, layouts: Sequence[Layout], sampling: SamplerConfig, seed: int, device: torch.device | str
) -> list[Topology]:
    """A raw topology for each layout; layout k draws from the stream (seed, k)."""
    topologies: list[Topology] = []
    whole = CPU_CHUNK if torch.device(device).type == "cpu" else GPU_CHUNK
    chunk = max(1, whole * 16**2 // max(map(len, layouts)) ** 2)
    for start in range(0, len(layouts), chunk):
        part = layouts[start : start + chunk]
        tensors = Layouts.from_numpy(pad([layout.features for layout in part]), device)
        seeds = [(seed, start + k) for k in range(len(part))]
        topologies += to_topologies(generator.sample(tensors, seeds, sampling), part)
    return topologies


def to_topologies(graphs: Graphs, layouts: Sequence[Layout]) -> list[Topology]:
    """Tensors as topologies of their layouts, without the padding."""
    edges, parity = graphs.edges.cpu().numpy() > 0.5, graphs.parity.cpu().numpy() > 0.5
    return [
        Topology(
            np.argwhere(np.triu(edges[row, : len(layout), : len(layout)], 1)), parity[row, : len(layout)], layout=layout
        )
        for row, layout in enumerate(layouts)
    ]


def judge(topologies: Sequence[Topology], targets: Sequence[float]) -> dict[str, float]:
    """Means of all metrics, and `ratio`: mean T over the mean of the targets."""
    scores = [metrics(topology) for topology in topologies]
    means = {name: float(np.mean([score[name] for score in scores])) for name in METRICS}
    return {**means, "ratio": means["throughput"] / float(np.mean(targets))}
