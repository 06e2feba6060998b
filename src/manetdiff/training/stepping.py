"""One training step, and the same step captured as a CUDA graph.

A network of 0.2 M parameters is bound by the launching of its kernels, not by their work: launched one by one from
Python, a step took eight times as long as its kernels ran. Captured once, all of them are launched by one call.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from lightning.fabric import Fabric
from lightning.fabric.wrappers import _FabricModule, _FabricOptimizer
from torch import Tensor

from manetdiff.training.optimisation import AveragedWeights, set_rates
from manetdiff.training.plan import Plan

# Steps that are taken one kernel at a time before one is captured: they compile it and settle the memory.
BEFORE_CAPTURE = 4


class Feed(Protocol):
    """What gives a run its batches. A step may take several, of which each has a share in the loss.

    - batch: graphs in a step, all processes together, on average. epoch_steps: steps in which about every layout is
      taken once. shares: of the batches of a step. described: what decides how layouts fall into steps, JSON-ready.
    """

    batch: float
    epoch_steps: int
    shares: Sequence[float]
    described: Any

    def drawn(self, step: int) -> list[tuple[Tensor, ...]]:
        """This process's part of a step: of each batch, which layouts and their random numbers, on the device."""
        ...

    def arguments(self, place: int, drawn: tuple[Tensor, ...]) -> tuple[Any, ...]:
        """What the loss takes of a batch."""
        ...


class Stepper:
    """Takes steps.

    - can_capture: whether steps are captured; set it to False to take them kernel by kernel.
    """

    def __init__(
        self,
        plan: Plan,
        feed: Feed,
        fabric: Fabric,
        module: _FabricModule,
        optimizer: _FabricOptimizer,
        average: AveragedWeights,
    ) -> None:
        self.plan, self.feed, self.fabric = plan, feed, fabric
        self.module, self.optimizer, self.average = module, optimizer, average
        self.can_capture = plan.recipe.compiled and fabric.device.type == "cuda" and fabric.world_size == 1
        self._taken = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._decay: float | None = None  # the weight decay that is in the captured graph
        self._inputs: list[tuple[Tensor, ...]] = []
        self._terms: dict[str, Tensor] = {}

    def take(self, step: int) -> dict[str, Tensor]:
        """Take step number `step`; returns the terms of the loss, which the next step may overwrite."""
        decay = set_rates(self.optimizer.optimizer, self.plan.recipe, step, self.feed.epoch_steps)
        self.average.set_step(step)
        inputs = self.feed.drawn(step)
        self._taken += 1
        if not self.can_capture:
            return self._body(inputs)
        if self._taken <= BEFORE_CAPTURE:
            return self._aside(inputs)
        if (self._graph is None or decay != self._decay) and not self._capture(inputs, decay):
            return self._body(inputs)
        assert self._graph is not None
        for held, new in zip(self._inputs, inputs, strict=True):
            for mine, theirs in zip(held, new, strict=True):
                mine.copy_(theirs)
        self._graph.replay()
        return self._terms

    def _body(self, inputs: list[tuple[Tensor, ...]]) -> dict[str, Tensor]:
        self.optimizer.zero_grad(set_to_none=True)
        told: dict[str, Tensor] = {}
        for place, (share, drawn) in enumerate(zip(self.feed.shares, inputs, strict=True)):
            arguments = self.feed.arguments(place, drawn)
            with self.fabric.no_backward_sync(self.module, enabled=place + 1 < len(inputs)):
                terms: dict[str, Tensor] = self.module(*arguments)
                self.fabric.backward(torch.stack(list(terms.values())).sum() * share)
            for name, value in terms.items():
                told[name] = share * value.detach() + told.get(name, 0)
        if self.plan.recipe.clip:
            self.fabric.clip_gradients(
                self.module, self.optimizer, max_norm=self.plan.recipe.clip, error_if_nonfinite=False
            )
        self.optimizer.step()
        self.average.update()
        return told

    def _aside(self, inputs: list[tuple[Tensor, ...]]) -> dict[str, Tensor]:
        """A step on a stream of its own, as the ones before a capture must be."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            terms = self._body(inputs)
        torch.cuda.current_stream().wait_stream(stream)
        return terms

    def _capture(self, inputs: list[tuple[Tensor, ...]], decay: float) -> bool:
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
