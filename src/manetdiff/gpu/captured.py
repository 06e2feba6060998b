"""The whole chain on one device: a step compiled, and all steps of a chain captured as one CUDA graph for each shape.

A step of this network is some hundred kernels of a few microseconds; launched from Python one by one, launching is all
that a small batch waits for. Replayed as one graph, fifty steps are one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.step import denoising_step
from manetdiff.gpu.recorded import Inputs, Recorder
from manetdiff.gpu.uniform import HALF, uniform_round
from manetdiff.model.embedding import EmbeddedLayouts
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.sampling import SamplerConfig, StepSettings, time_pairs


class BatchChain:
    """Samples graphs on batches of layouts of one size, none of them padded.

    On a CPU nothing is compiled or captured: for tests, and to see what it does.
    """

    def __init__(self, generator: DiffusionGenerator, device: torch.device, *, half: bool | None = None) -> None:
        self.generator = generator.to(device).eval()
        for parameter in self.generator.parameters():
            parameter.requires_grad_(False)
        self.device = device
        self.on_gpu = device.type == "cuda"
        self.half = self.on_gpu if half is None else half
        self._step: Callable[..., Graphs] = torch.compile(self._one_step) if self.on_gpu else self._one_step
        self._recorder: Recorder[Graphs] = Recorder()

    @torch.no_grad()
    def sample(
        self, layouts: Layouts, seeds: Tensor, sampling: SamplerConfig, settings: StepSettings[Tensor] | None = None
    ) -> Graphs:
        """A graph for each seed, on the layouts in turn, as many for each; what comes back is overwritten by the next
        call like this one.

        - settings: of every step, on the device; by default those of the sampling.
        """
        settings = settings or self.settings_for(sampling)
        if not self.on_gpu:
            return self._chain(layouts, seeds, sampling, settings)
        parts = len(layouts)

        def chain(held: Inputs) -> Graphs:
            given = [part for part in held[: parts + 1] if part is not None]
            return self._chain(Layouts(*given[:parts]), given[parts], sampling, StepSettings(*held[parts + 1 :]))  # type: ignore[arg-type]

        return self._recorder.replayed(sampling, (*layouts, seeds, *settings), chain)

    def settings_for(self, sampling: SamplerConfig) -> StepSettings[Tensor]:
        """No guide, and the odds of every link raised by the same factor."""
        numbers = sampling.temperature, math.log(sampling.redundancy)
        return StepSettings(*(torch.full((), number, device=self.device) for number in numbers))

    def _chain(
        self, layouts: Layouts, seeds: Tensor, sampling: SamplerConfig, settings: StepSettings[Tensor]
    ) -> Graphs:
        b, n = len(seeds), layouts.mask.shape[1]
        embedded = self.generator.denoiser.embed_layouts(layouts)
        pace = self.generator.process.pace(layouts, self.generator.config.sectors)
        # A layout that several graphs are sampled on is read once.
        each = b // len(layouts.mask)
        if each > 1:
            embedded = EmbeddedLayouts(*(part.repeat_interleave(each, 0) for part in embedded))
            pace = None if pace is None else pace.repeat_interleave(each, 0)
        first = torch.zeros((), dtype=torch.int64, device=self.device)
        state = self.generator.process.pure_noise(uniform_round(seeds, first, n), embedded.mask)
        pairs = time_pairs(sampling.steps, sampling.grid)
        for k, (t, s) in enumerate(pairs, start=1):
            # What tells one step from another is made on the device, so that one compiled step serves for all, and
            # because nothing may be copied to it while a chain is captured.
            time, earlier = (torch.full((b,), moment, device=self.device) for moment in (t, s))
            round_ = torch.full((), k, dtype=torch.int64, device=self.device)
            decide = torch.full((), sampling.decide and k == len(pairs), dtype=torch.bool, device=self.device)
            if self.on_gpu:
                _free_batch(b, (*embedded, *state, time, earlier, seeds, pace, *settings))
            state = self._step(embedded, state, time, earlier, round_, decide, seeds, pace, settings)
        return state

    def _one_step(
        self,
        embedded: EmbeddedLayouts,
        state: Graphs,
        time: Tensor,
        earlier: Tensor,
        round_: Tensor,
        decide: Tensor,
        seeds: Tensor,
        pace: Tensor | None,
        settings: StepSettings[Tensor],
    ) -> Graphs:
        """time, earlier: (b,). round_: of the random numbers. decide: whether the likelier state is taken instead of a
        drawn one."""
        mask, process = embedded.mask, self.generator.process
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.half):
            prediction = self.generator.denoiser.predict(embedded, state, time)
        draws = uniform_round(seeds, round_, mask.shape[1])
        draws = Graphs(*(torch.where(decide, HALF, part) for part in draws))
        noise, strides = process.noise_shares(mask), process.strides(time, earlier)
        return denoising_step(prediction, state, noise, strides, draws, mask, settings, pace).state


def _free_batch(b: int, tensors: tuple[Tensor | None, ...]) -> None:
    """Compile one step for all batches; a batch of one is a case of its own."""
    if b > 1:
        for tensor in tensors:
            if tensor is not None and tensor.ndim and len(tensor) == b:
                torch._dynamo.maybe_mark_dynamic(tensor, 0)
