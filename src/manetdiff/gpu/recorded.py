"""A function of tensors captured as a CUDA graph, once for each of its kinds, and replayed from then on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

# Calls that are run kernel by kernel before one is captured: they compile it and settle the memory.
BEFORE_CAPTURE = 3

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
        whole = key, tuple(None if part is None else part.shape for part in inputs)
        if whole not in self._recordings:
            self._recordings[whole] = _record(inputs, call)
        held = self._recordings[whole]
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
