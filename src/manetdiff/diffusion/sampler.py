"""The sampler: from pure noise to a graph, with any denoiser."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from manetdiff.diffusion.process import Process, settled
from manetdiff.errors import ModelError
from manetdiff.model.graphs import Graphs, Prediction
from manetdiff.sampling import SamplerConfig, time_pairs

Denoise = Callable[[Graphs, Tensor], Prediction]
"""A denoiser with its layouts bound: (noisy graphs, times (b,)) -> predicted clean graphs."""


class Sampler:
    """The mathematics of sampling: what a step does with a prediction."""

    def __init__(self, process: Process, config: SamplerConfig | None = None) -> None:
        self.process = process
        self.config = config or SamplerConfig()

    def step(
        self,
        state: Graphs,
        prediction: Prediction,
        time: Tensor,
        earlier: Tensor,
        draws: Graphs,
        mask: Tensor,
        pace: Tensor | None = None,
    ) -> Graphs:
        """The state at the earlier time: a draw from the exact posterior, marginalised over the prediction.

        time, earlier: (b,); draws: uniform numbers; mask: (b, n); pace: of the noise on each pair, see Process. At time
        0 the prediction itself is left.
        """
        shares = predicted_shares(prediction, self.config.temperature, math.log(self.config.redundancy))
        stepped = self.process.stepped(state, shares, time, earlier, mask, pace)
        return settled(stepped.edges, stepped.parity, draws, mask)

    def sample(self, denoise: Denoise, mask: Tensor, draws: Sequence[Graphs], pace: Tensor | None = None) -> Graphs:
        """A graph for each layout. draws: one round for the noise and one for each step."""
        if len(draws) != self.config.steps + 1:
            raise ModelError(
                f"{self.config.steps} steps need {self.config.steps + 1} rounds of draws, not {len(draws)}"
            )
        state = self.process.pure_noise(draws[0], mask)
        for (t, s), drawn in zip(time_pairs(self.config.steps, self.config.grid), draws[1:], strict=True):
            time = torch.full((len(mask),), t, device=mask.device)
            earlier = torch.full((len(mask),), s, device=mask.device)
            state = self.step(state, denoise(state, time), time, earlier, drawn, mask, pace)
        return state


def predicted_shares(prediction: Prediction, heat: Tensor | float, favour: Tensor | float) -> Graphs:
    """Predicted shares of edges and of parity 1. heat: the temperature; favour: added to the log-odds of edges."""
    return Graphs(torch.sigmoid(prediction.edges / heat + favour), torch.sigmoid(prediction.parity / heat))
