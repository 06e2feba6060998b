"""A sampler's random numbers as tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from manetdiff.model.tensors import Graphs
from manetdiff.sampling import padded_draws


def layout_draws(
    seeds: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    steps: int,
    n: int | None = None,
    device: torch.device | str = "cpu",
    *,
    decide: bool = False,
) -> list[Graphs]:
    """steps + 1 rounds of draws for b layouts: one for the pure noise, one for each step.

    - seeds: what each layout's stream is made from; sizes: the nodes of each; n: nodes that all are padded to, by
      default those of the largest. decide: whether the last step takes the likelier state instead of drawing one.
    """
    drawn = padded_draws(seeds, sizes, max(sizes) if n is None else n, steps + 1, decide=decide)
    edges, parity = (torch.from_numpy(numbers).to(device) for numbers in drawn)
    return [Graphs(*both) for both in zip(edges, parity, strict=True)]
