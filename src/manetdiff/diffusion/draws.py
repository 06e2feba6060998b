"""Uniform random numbers for sampling: a layout gets the same ones whatever batch it is in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from manetdiff.model.graphs import Graphs


def layout_draws(
    seeds: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    steps: int,
    n: int | None = None,
    device: torch.device | str = "cpu",
) -> list[Graphs]:
    """steps + 1 rounds of draws for b layouts: one for the pure noise, one for each step.

    seeds: what each layout's stream is made from; sizes: the nodes of each; n: nodes that all are padded to, by default
    those of the largest.
    """
    most = max(sizes) if n is None else n
    edges = np.ones((steps + 1, len(sizes), most, most), dtype=np.float32)
    parity = np.ones((steps + 1, len(sizes), most), dtype=np.float32)
    for row, (seed, size) in enumerate(zip(seeds, sizes, strict=True)):
        rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))
        above = np.triu_indices(size, 1)
        numbers = rng.random((steps + 1, len(above[0]) + size), dtype=np.float32)
        edges[:, row, above[0], above[1]] = numbers[:, : len(above[0])]
        parity[:, row, :size] = numbers[:, len(above[0]) :]
    return [
        Graphs(torch.from_numpy(edges[k]).to(device), torch.from_numpy(parity[k]).to(device)) for k in range(steps + 1)
    ]
