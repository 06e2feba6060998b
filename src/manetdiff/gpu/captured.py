"""The whole chain on one device: a step compiled, and all steps of a chain captured as one CUDA graph for each shape.

A step of this network is some hundred kernels of a few microseconds; launched from Python one by one, launching is all
that a small batch waits for. Replayed as one graph, fifty steps are one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from manetdiff.diffusion.generator import DiffusionGenerator
from manetdiff.diffusion.process import settled
from manetdiff.diffusion.sampler import predicted_shares
from manetdiff.gpu.uniform import uniform_round
from manetdiff.model.embedding import EmbeddedLayouts
from manetdiff.model.graphs import Graphs, Layouts
from manetdiff.sampling import SamplerConfig, time_pairs

# Chains that are run kernel by kernel before one is captured: they compile it and settle the memory.
BEFORE_CAPTURE = 3
HALF = 0.5


class Moment(NamedTuple):
    """What tells one step from another, as numbers on the device, so that one compiled step serves for all.

    time, earlier: (b,). round: of the random numbers. heat, favour: see predicted_shares. decide: whether the likelier
    state is taken instead of a drawn one.
    """

    time: Tensor
    earlier: Tensor
    round: Tensor
    heat: Tensor
    favour: Tensor
    decide: Tensor


@dataclass
class _Recording:
    """A captured chain: what it reads, what it writes, and the graph between them."""

    layouts: Layouts
    seeds: Tensor
    made: Graphs
    graph: torch.cuda.CUDAGraph


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
        self._recordings: dict[tuple[torch.Size, SamplerConfig], _Recording] = {}

    @torch.no_grad()
    def sample(self, layouts: Layouts, seeds: Tensor, sampling: SamplerConfig) -> Graphs:
        """A graph for each layout; what comes back is overwritten by the next call like this one."""
        if not self.on_gpu:
            return self._chain(layouts, seeds, sampling)
        key = layouts.mask.shape, sampling
        if key not in self._recordings:
            self._recordings[key] = self._record(layouts, seeds, sampling)
        held = self._recordings[key]
        for mine, new in zip((*held.layouts, held.seeds), (*layouts, seeds), strict=True):
            mine.copy_(new)
        held.graph.replay()
        return held.made

    def _chain(self, layouts: Layouts, seeds: Tensor, sampling: SamplerConfig) -> Graphs:
        b, n = layouts.mask.shape
        embedded = self.generator.denoiser.embed_layouts(layouts)
        pace = self.generator.process.pace(layouts, self.generator.config.sectors)
        first = torch.zeros((), dtype=torch.int64, device=self.device)
        state = self.generator.process.pure_noise(uniform_round(seeds, first, n), layouts.mask)
        pairs = time_pairs(sampling.steps, sampling.grid)
        for k, (time, earlier) in enumerate(pairs):
            # Made on the device: nothing may be copied to it while a chain is captured.
            moment = Moment(
                torch.full((b,), time, device=self.device),
                torch.full((b,), earlier, device=self.device),
                torch.full((), k + 1, dtype=torch.int64, device=self.device),
                torch.full((), sampling.temperature, device=self.device),
                torch.full((), math.log(sampling.redundancy), device=self.device),
                torch.full((), sampling.decide and k + 1 == len(pairs), dtype=torch.bool, device=self.device),
            )
            if self.on_gpu:
                _free_batch(b, (*embedded, *state, moment.time, moment.earlier, seeds, pace))
            state = self._step(embedded, state, moment, seeds, pace)
        return state

    def _one_step(
        self, embedded: EmbeddedLayouts, state: Graphs, moment: Moment, seeds: Tensor, pace: Tensor | None
    ) -> Graphs:
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.half):
            prediction = self.generator.denoiser.predict(embedded, state, moment.time)
        shares = predicted_shares(prediction, moment.heat, moment.favour)
        stepped = self.generator.process.stepped(state, shares, moment.time, moment.earlier, embedded.mask, pace)
        draws = uniform_round(seeds, moment.round, embedded.mask.shape[1])
        draws = Graphs(*(torch.where(moment.decide, HALF, part) for part in draws))
        return settled(stepped.edges, stepped.parity, draws, embedded.mask)

    def _record(self, layouts: Layouts, seeds: Tensor, sampling: SamplerConfig) -> _Recording:
        held = Layouts(*(part.clone() for part in layouts))
        held_seeds = seeds.clone()
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        # Compiled anew for each fleet size, whose kernels are faster for knowing it.
        with torch.cuda.stream(stream), torch._dynamo.config.patch(automatic_dynamic_shapes=False):
            for _ in range(BEFORE_CAPTURE):
                self._chain(held, held_seeds, sampling)
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch._dynamo.config.patch(automatic_dynamic_shapes=False), torch.cuda.graph(graph):
            made = self._chain(held, held_seeds, sampling)
        return _Recording(held, held_seeds, made, graph)


def _free_batch(b: int, tensors: tuple[Tensor | None, ...]) -> None:
    """Compile one step for all batches; a batch of one is a case of its own."""
    if b > 1:
        for tensor in tensors:
            if tensor is not None:
                torch._dynamo.maybe_mark_dynamic(tensor, 0)
