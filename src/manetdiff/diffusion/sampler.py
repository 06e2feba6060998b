"""The sampler: from pure noise to a graph, with any denoiser."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from manetdiff.diffusion.grid import Grid, time_pairs
from manetdiff.diffusion.process import Process, settled
from manetdiff.diffusion.schedule import STEPS
from manetdiff.errors import ModelError
from manetdiff.model.graphs import Graphs, Prediction

Denoise = Callable[[Graphs, Tensor], Prediction]
"""A denoiser with its layouts bound: (noisy graphs, times (b,)) -> predicted clean graphs."""


@dataclass(frozen=True)
class SamplerConfig:
    """How to sample; none of it needs another training.

    steps: denoising steps. grid: how their times are spaced. temperature: log-odds are divided by it; below 1 the
    predictions are sharpened. redundancy: factor on the odds of every predicted link, after that; above 1, more fleets
    come out connected, and more antennas with two links: a redundant link is easier to prune than a missing one is to
    create.
    decide: whether the last step takes the likelier state instead of drawing one.
    """

    steps: int = STEPS
    grid: Grid = "linear"
    temperature: float = 0.5
    redundancy: float = 1.0
    decide: bool = True

    def to_dict(self) -> dict[str, Any]:
        """All values, JSON-ready."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SamplerConfig:
        """The inverse of :meth:`to_dict`."""
        try:
            return cls(**values)
        except TypeError as error:
            raise ModelError(f"sampling: {error}") from None

    def __post_init__(self) -> None:
        time_pairs(self.steps, self.grid)
        for name in ("temperature", "redundancy"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ModelError(f"{name} must be a number above 0, not {value!r}")
        if not isinstance(self.decide, bool):
            raise ModelError(f"decide must be true or false, not {self.decide!r}")


class Sampler:
    """The mathematics of sampling: what a step does with a prediction."""

    def __init__(self, process: Process, config: SamplerConfig | None = None) -> None:
        self.process = process
        self.config = config or SamplerConfig()

    def shares(self, prediction: Prediction) -> Graphs:
        """Predicted shares of edges and of parity 1, at the sampler's temperature and redundancy."""
        heat, favour = self.config.temperature, math.log(self.config.redundancy)
        return Graphs(torch.sigmoid(prediction.edges / heat + favour), torch.sigmoid(prediction.parity / heat))

    def step(
        self, state: Graphs, prediction: Prediction, time: Tensor, earlier: Tensor, draws: Graphs, mask: Tensor
    ) -> Graphs:
        """The state at the earlier time: a draw from the exact posterior, marginalised over the prediction.

        time, earlier: (b,); draws: uniform numbers; mask: (b, n). At time 0 the prediction itself is left.
        """
        shares = self.process.stepped(state, self.shares(prediction), time, earlier, mask)
        if self.config.decide:
            last = earlier <= 0
            draws = Graphs(
                torch.where(last[:, None, None], torch.full_like(draws.edges, 0.5), draws.edges),
                torch.where(last[:, None], torch.full_like(draws.parity, 0.5), draws.parity),
            )
        return settled(shares.edges, shares.parity, draws, mask)

    def sample(self, denoise: Denoise, mask: Tensor, draws: Sequence[Graphs]) -> Graphs:
        """A graph for each layout. draws: one round for the noise and one for each step."""
        if len(draws) != self.config.steps + 1:
            raise ModelError(
                f"{self.config.steps} steps need {self.config.steps + 1} rounds of draws, not {len(draws)}"
            )
        state = self.process.pure_noise(draws[0], mask)
        for (t, s), drawn in zip(time_pairs(self.config.steps, self.config.grid), draws[1:], strict=True):
            time = torch.full((len(mask),), t, device=mask.device)
            earlier = torch.full((len(mask),), s, device=mask.device)
            state = self.step(state, denoise(state, time), time, earlier, drawn, mask)
        return state
