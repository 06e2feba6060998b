"""Exported models on ONNX Runtime beside the same ones in PyTorch."""

from __future__ import annotations

import numpy as np

from manetdiff.layout import LayoutFeatures
from manetdiff.model.tensors import Layouts
from manetdiff.runtime.chain import Chain, States
from manetdiff.sampling import SamplerConfig, plain_settings, time_pairs
from support.graph_samples import scattered_layouts


def layout_pair(n: int, seed: int = 0) -> tuple[Layouts, LayoutFeatures]:
    """A layout for PyTorch, and the same for ONNX Runtime."""
    layouts = scattered_layouts([n], seed)
    return layouts, LayoutFeatures(layouts.node[0].numpy(), layouts.pair[0].numpy(), layouts.sector[0].numpy())


def repeated(layouts: Layouts, count: int) -> Layouts:
    """One layout so many times."""
    return Layouts(*(part.expand(count, *part.shape[1:]) for part in layouts))


def run_chain(chain: Chain, features: LayoutFeatures, seeds: list[tuple[int, int]], sampling: SamplerConfig) -> States:
    """A whole chain on ONNX Runtime, from pure noise."""
    layout, n = chain.embed(features), len(features.node)
    draws = chain.draws(seeds, n, sampling.steps + 1, decide=sampling.decide)
    nothing = States(np.zeros((1, n, n), np.float32), np.zeros((1, n), np.float32))
    first = chain.noised(layout, layout.noise, nothing, 1.0, draws)
    settings = plain_settings(n, sampling.temperature, sampling.redundancy)
    pairs = time_pairs(sampling.steps, sampling.grid)
    return chain.run(layout, layout.noise, first, pairs, draws.rounds(1), settings).states
