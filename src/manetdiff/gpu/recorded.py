"""A function of tensors captured as a CUDA graph, once for each of its kinds, and replayed from then on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

# Calls that are run kernel by kernel before one is captured: they compile it and settle the memory.
BEFORE_CAPTURE = 3
# Each has device memory of its own; the one that was not used for longest goes first.
MOST_HELD = 16

# Shapes that a step is compiled for at most; of PyTorch's usual eight, sizes and rooms would soon be more.
MOST_SHAPES = 64

Made = TypeVar("Made")
Inputs = Sequence[Tensor | None]


@dataclass
class _Recording(Generic[Made]):
    """A captured call: what it reads, what it writes, and the graph between them."""

    inputs: list[Tensor | None]
    made: Made
    graph: torch.cuda.CUDAGraph


class Recorder(Generic[Made]):
    """Holds what was captured, by key: whatever a call depends on beside the numbers in its inputs."""

    def __init__(self) -> None:
        self._recordings: dict[Hashable, _Recording[Made]] = {}

    def replayed(self, key: Hashable, inputs: Inputs, call: Callable[[Inputs], Made]) -> Made:
        """What the call makes of inputs on the device; overwritten by the next one with this key and these shapes."""
        whole = key, tuple(None if part is None else (part.shape, part.dtype) for part in inputs)
        held = self._recordings.pop(whole, None)
        if held is None:
            if len(self._recordings) >= MOST_HELD:
                torch.cuda.synchronize()  # it may still be at work
                del self._recordings[next(iter(self._recordings))]
            held = _record(inputs, call)
        self._recordings[whole] = held  # the one that was used last comes last
        for mine, new in zip(held.inputs, inputs, strict=True):
            if mine is not None and new is not None:
                mine.copy_(new)
        held.graph.replay()
        return held.made


def _record(inputs: Inputs, call: Callable[[Inputs], Made]) -> _Recording[Made]:
    held = [None if part is None else part.clone() for part in inputs]
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    # Compiled anew for each fleet size, whose kernels are faster for knowing it.
    settings: dict[str, Any] = {"automatic_dynamic_shapes": False, "recompile_limit": MOST_SHAPES}
    with torch.cuda.stream(stream), torch._dynamo.config.patch(settings):
        for _ in range(BEFORE_CAPTURE):
            call(held)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch._dynamo.config.patch(settings), torch.cuda.graph(graph):
        made = call(held)
    return _Recording(held, made, graph)
