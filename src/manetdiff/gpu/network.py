"""What `generate` asks of a network on a device, dense or sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from manetdiff.fleet import Fleet
from manetdiff.gpu.pieces import Piece
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig
from manetdiff.solvers.stack_refinement import StackSamples

Read = TypeVar("Read")


class Pending(Protocol):
    """Graphs that the device is making."""

    @property
    def under_way(self) -> bool:
        """Whether the device may still be at work on them."""
        ...

    def result(self) -> list[StackSamples]:
        """Those of each piece, when they are there."""
        ...


class Network(Protocol[Read]):
    """Samples graphs on pieces. Which graph a layout gets depends on the layout and on the seed alone."""

    def batches(self, fleets: Sequence[Fleet], radio: Radio, samples: int) -> list[list[Piece]]:
        """All fleets in pieces, and the pieces that go together where so many graphs of each fleet are sampled."""
        ...

    def read(self, piece: Piece) -> Read:
        """What the network reads of the piece's layouts; called by several threads at once."""
        ...

    def sampled(
        self, pieces: Sequence[Piece], read: Sequence[Read], streams: Sequence[int], sampling: SamplerConfig
    ) -> Pending:
        """A graph for each stream on each layout; the device goes on with it while Python does something else."""
        ...


class Copied:
    """Tensors on their way from the device, in memory that it can write to while Python goes on."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self._event: torch.cuda.Event | None = None
        if tensors[0].is_cuda:
            self._host = [torch.empty(one.shape, dtype=one.dtype, pin_memory=True) for one in tensors]
            for mine, one in zip(self._host, tensors, strict=True):
                mine.copy_(one, non_blocking=True)
            self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._event.record()
        else:
            self._host = list(tensors)

    @property
    def under_way(self) -> bool:
        """Whether there is anything to wait for."""
        return self._event is not None

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """As arrays, when they are there."""
        if self._event is not None:
            self._event.synchronize()
        return [one.numpy() for one in self._host]


def sent(array: np.ndarray[Any, Any], size: int, device: torch.device) -> Tensor:
    """An array on the device, filled up with zeros to a size along its first axis, by a copy that nobody waits for."""
    pinned = device.type == "cuda"
    host = torch.empty((size, *array.shape[1:]), dtype=torch.from_numpy(array[:0]).dtype, pin_memory=pinned)
    there = host.numpy()
    there[: len(array)] = array
    there[len(array) :] = 0
    return host.to(device, non_blocking=True) if pinned else host


def rounded_up(size: int) -> int:
    """To a power of two, so that few shapes are ever compiled and captured."""
    return 1 << max(0, size - 1).bit_length()
