"""One training step, and the same step captured as a CUDA graph.

A network of 0.2 M parameters is bound by the launching of its kernels, not by their work: launched one by one from
Python, a step took eight times as long as its kernels ran. Captured once, all of them are launched by one call.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch
from lightning.fabric import Fabric
from lightning.fabric.wrappers import _FabricModule, _FabricOptimizer
from torch import Tensor

from manetdiff.diffusion.generator import TrainingDraws
from manetdiff.model.tensors import Graphs
from manetdiff.training.corpus import Bucket
from manetdiff.training.mirror import mirrored
from manetdiff.training.optimisation import AveragedWeights, set_rates
from manetdiff.training.plan import Plan, Share, batch_draws, batch_rows

# Steps that are taken one kernel at a time before one is captured: they compile it and settle the memory.
BEFORE_CAPTURE = 4


@dataclass
class _Inputs:
    """What one step takes of one fleet size: which layouts, their random numbers, and which of them are mirrored."""

    rows: Tensor
    draws: TrainingDraws
    flipped: Tensor

    def copy_(self, other: _Inputs) -> None:
        for mine, new in zip(self._tensors(), other._tensors(), strict=True):
            mine.copy_(new)

    def _tensors(self) -> tuple[Tensor, ...]:
        draws = self.draws
        return self.rows, draws.time, draws.uniform.edges, draws.uniform.parity, draws.normal, self.flipped


class Stepper:
    """Takes steps. All sizes are in every step, each in a batch of its own, so that none is padded.

    - can_capture: whether steps are captured; set it to False to take them kernel by kernel.
    """

    def __init__(
        self,
        plan: Plan,
        buckets: dict[int, Bucket],
        split: list[Share],
        epoch_steps: int,
        fabric: Fabric,
        module: _FabricModule,
        optimizer: _FabricOptimizer,
        average: AveragedWeights,
    ) -> None:
        self.plan, self.buckets, self.split, self.epoch_steps = plan, buckets, split, epoch_steps
        self.fabric, self.module, self.optimizer, self.average = fabric, module, optimizer, average
        self.can_capture = plan.recipe.compiled and fabric.device.type == "cuda" and fabric.world_size == 1
        self._taken = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._decay: float | None = None  # the weight decay that is in the captured graph
        self._inputs: list[_Inputs] = []
        self._terms: dict[str, Tensor] = {}

    def take(self, step: int) -> dict[str, Tensor]:
        """Take step number `step`; returns the terms of the loss, which the next step may overwrite."""
        decay = set_rates(self.optimizer.optimizer, self.plan.recipe, step, self.epoch_steps)
        self.average.set_step(step)
        inputs = [self._draw(share, step) for share in self.split]
        self._taken += 1
        if not self.can_capture:
            return self._body(inputs)
        if self._taken <= BEFORE_CAPTURE:
            return self._aside(inputs)
        if (self._graph is None or decay != self._decay) and not self._capture(inputs, decay):
            return self._body(inputs)
        assert self._graph is not None
        for held, new in zip(self._inputs, inputs, strict=True):
            held.copy_(new)
        self._graph.replay()
        return self._terms

    def _body(self, inputs: list[_Inputs]) -> dict[str, Tensor]:
        self.optimizer.zero_grad(set_to_none=True)
        told: dict[str, Tensor] = {}
        whole = sum(share.batch for share in self.split)
        for place, (share, taken) in enumerate(zip(self.split, inputs, strict=True)):
            layouts, clean = self.buckets[share.nodes].rows(taken.rows)
            if self.plan.recipe.mirror:
                layouts = mirrored(layouts, taken.flipped, self.plan.model.sectors)
            part = share.batch / whole
            with self.fabric.no_backward_sync(self.module, enabled=place + 1 < len(self.split)):
                terms: dict[str, Tensor] = self.module(layouts, clean, taken.draws)
                self.fabric.backward(torch.stack(list(terms.values())).sum() * part)
            for name, value in terms.items():
                told[name] = part * value.detach() + told.get(name, 0)
        if self.plan.recipe.clip:
            self.fabric.clip_gradients(
                self.module, self.optimizer, max_norm=self.plan.recipe.clip, error_if_nonfinite=False
            )
        self.optimizer.step()
        self.average.update()
        return told

    def _draw(self, share: Share, step: int) -> _Inputs:
        """This process's part of what a step takes."""
        recipe, device = self.plan.recipe, self.fabric.device
        rows = batch_rows(share, step, recipe.seed)
        draws, flipped = batch_draws(share, step, recipe.seed, self.plan.model.latent, device)
        each = share.batch // self.fabric.world_size
        mine = slice(self.fabric.global_rank * each, (self.fabric.global_rank + 1) * each)
        uniform = Graphs(draws.uniform.edges[mine], draws.uniform.parity[mine])
        own = TrainingDraws(draws.time[mine], uniform, draws.normal[mine])
        return _Inputs(rows[mine].to(device, non_blocking=True), own, flipped[mine])

    def _aside(self, inputs: list[_Inputs]) -> dict[str, Tensor]:
        """A step on a stream of its own, as the ones before a capture must be."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            terms = self._body(inputs)
        torch.cuda.current_stream().wait_stream(stream)
        return terms

    def _capture(self, inputs: list[_Inputs], decay: float) -> bool:
        """Record a step; recording does not take it. Weight decay is a constant of the recording."""
        self._graph = None
        self._inputs = inputs
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        try:
            with torch.cuda.graph(graph):
                self._terms = self._body(inputs)
        except RuntimeError as error:
            # Slower, but right: the same step, kernel by kernel.
            warnings.warn(f"the step could not be captured as a CUDA graph: {error}", RuntimeWarning, stacklevel=2)
            self.can_capture = False
            return False
        self._graph, self._decay = graph, decay
        return True
