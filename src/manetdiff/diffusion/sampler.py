"""The sampler: from pure noise to a graph, with any denoiser."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from manetdiff.diffusion.process import Process
from manetdiff.diffusion.step import denoising_step
from manetdiff.errors import ModelError
from manetdiff.model.tensors import Graphs, Prediction
from manetdiff.sampling import SamplerConfig, StepSettings, time_pairs

Denoise = Callable[[Graphs, Tensor], Prediction]
"""A denoiser with its layouts bound: (noisy graphs, times (b,)) -> predicted clean graphs."""


class Sampler:
    """All steps of a chain, from pure noise; settings: see StepSettings, by default those of the configuration."""

    def __init__(self, process: Process, config: SamplerConfig | None = None) -> None:
        self.process = process
        self.config = config or SamplerConfig()

    @property
    def settings(self) -> StepSettings[float]:
        """Of every step, unless others are given."""
        return StepSettings(self.config.temperature, math.log(self.config.redundancy))

    def step(
        self,
        state: Graphs,
        prediction: Prediction,
        time: Tensor,
        earlier: Tensor,
        draws: Graphs,
        mask: Tensor,
        pace: Tensor | None = None,
        settings: StepSettings[Tensor] | None = None,
    ) -> Graphs:
        """The state at the earlier time, see denoising_step. time, earlier: (b,)."""
        noise, strides = self.process.noise_shares(mask), self.process.strides(time, earlier)
        return denoising_step(prediction, state, noise, strides, draws, mask, settings or self.settings, pace).state

    def sample(
        self,
        denoise: Denoise,
        mask: Tensor,
        draws: Sequence[Graphs],
        pace: Tensor | None = None,
        settings: StepSettings[Tensor] | None = None,
    ) -> Graphs:
        """A graph for each layout. draws: one round for the noise and one for each step."""
        if len(draws) != self.config.steps + 1:
            raise ModelError(
                f"{self.config.steps} steps need {self.config.steps + 1} rounds of draws, not {len(draws)}"
            )
        state = self.process.pure_noise(draws[0], mask)
        for (t, s), drawn in zip(time_pairs(self.config.steps, self.config.grid), draws[1:], strict=True):
            time = torch.full((len(mask),), t, device=mask.device)
            earlier = torch.full((len(mask),), s, device=mask.device)
            state = self.step(state, denoise(state, time), time, earlier, drawn, mask, pace, settings)
        return state
