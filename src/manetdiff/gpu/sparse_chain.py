"""The whole chain of a sparse network on one device, on layouts of any sizes: captured as one CUDA graph for each room.

Layouts come as long rows, each of them once. They are packed on the device, as often as graphs are sampled on them, and
that is captured, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from manetdiff.diffusion.sparse import SparseGenerator, drawn_from, noise_shares, posterior_of
from manetdiff.gpu.recorded import Inputs, Recorder
from manetdiff.gpu.uniform import HALF, uniform_places
from manetdiff.model.arc_tensors import ArcGraphs
from manetdiff.model.packing import ArcTensorRows, PackedLayouts, Room, packed_layouts
from manetdiff.model.sparse_denoiser import EmbeddedArcs
from manetdiff.sampling import SamplerConfig, time_pairs


class SparseChain:
    """Samples graphs on batches of layouts. On a CPU nothing is compiled or captured: for tests, and to see what it
    does."""

    def __init__(self, generator: SparseGenerator, device: torch.device, *, half: bool | None = None) -> None:
        self.generator = generator.to(device).eval()
        for parameter in self.generator.parameters():
            parameter.requires_grad_(False)
        self.device = device
        self.on_gpu = device.type == "cuda"
        self.half = self.on_gpu if half is None else half
        self._step: Callable[..., ArcGraphs] = torch.compile(self._one_step) if self.on_gpu else self._one_step
        self._recorder: Recorder[ArcGraphs] = Recorder()

    @torch.no_grad()
    def sample(
        self, rows: ArcTensorRows, chosen: Tensor, seeds: Tensor, room: Room, sampling: SamplerConfig
    ) -> ArcGraphs:
        """A graph on each of the layouts chosen, (g,), -1 for none: links and parity in a row, one graph after the
        other; overwritten by the next call like this one. seeds: (g,) int64."""
        if not self.on_gpu:
            return self._chain(rows, chosen, seeds, room, sampling)

        def chain(held: Inputs) -> ArcGraphs:
            *of_rows, numbers, streams = (part for part in held if part is not None)
            return self._chain(ArcTensorRows(*of_rows), numbers, streams, room, sampling)

        return self._recorder.replayed((sampling, room), (*rows, chosen, seeds), chain)

    def _chain(
        self, rows: ArcTensorRows, chosen: Tensor, seeds: Tensor, room: Room, sampling: SamplerConfig
    ) -> ArcGraphs:
        packed = packed_layouts(rows, chosen, room)
        embedded = self.generator.denoiser.embed(packed.layouts)
        noise = noise_shares(self.generator.process, packed.layouts)
        first = torch.zeros((), dtype=torch.int64, device=self.device)
        state = drawn_from(noise, _uniform(packed, seeds, first))
        pairs = time_pairs(sampling.steps, sampling.grid)
        for k, (t, s) in enumerate(pairs, start=1):
            # Made on the device: nothing may be copied to it while a chain is captured.
            time = torch.full((room.graphs,), t, device=self.device)
            earlier = torch.full((1,), s, device=self.device)
            round_ = torch.full((), k, dtype=torch.int64, device=self.device)
            decide = torch.full((), sampling.decide and k == len(pairs), dtype=torch.bool, device=self.device)
            if self.on_gpu:
                _free_sizes((packed, embedded, noise, state, time, seeds))
            state = self._step(packed, embedded, noise, state, time, earlier, round_, decide, seeds, sampling)
        return state

    def _one_step(
        self,
        packed: PackedLayouts,
        embedded: EmbeddedArcs,
        noise: ArcGraphs,
        state: ArcGraphs,
        time: Tensor,
        earlier: Tensor,
        round_: Tensor,
        decide: Tensor,
        seeds: Tensor,
        sampling: SamplerConfig,
    ) -> ArcGraphs:
        """time: (g,), earlier: (1,). round_: of the random numbers. decide: whether the likelier state is taken instead
        of a drawn one."""
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.half):
            prediction = self.generator.denoiser.predict(packed.layouts, embedded, state, time)
        shares = posterior_of(self.generator.process, prediction, state, noise, (time[:1], earlier), sampling)
        draws = _uniform(packed, seeds, round_)
        return drawn_from(shares, ArcGraphs(*(torch.where(decide, HALF, part) for part in draws)))


def _uniform(packed: PackedLayouts, seeds: Tensor, round_: Tensor) -> ArcGraphs:
    """By the place of a link or node within its graph, wherever in the batch that is."""
    links, nodes = packed.links, packed.nodes
    return ArcGraphs(
        uniform_places(seeds, round_, links.graph, links.within),
        # Below 0, where no link is.
        uniform_places(seeds, round_, nodes.graph, -1 - nodes.within),
    )


def _free_sizes(given: tuple[Any, ...]) -> None:
    """Compile one step for all rooms: only how many members a group has room for is a case of its own."""
    for part in given:
        if isinstance(part, Tensor):
            torch._dynamo.maybe_mark_dynamic(part, 0)
        elif part is not None:
            _free_sizes(part)
