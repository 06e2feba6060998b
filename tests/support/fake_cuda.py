"""CUDA graphs and streams on a CPU, for tests of what is captured and when.

As on a GPU, a recording holds which kernels work on which memory, and runs none of them. A replay runs all of them on
what that memory holds by then. Numbers that were Python's at the recording, such as a weight decay, stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# A GPU refuses to record these too: they wait for a number, which nothing has computed yet.
WAITING = (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default)

Refusal = Literal["at the start", "midway", "at the end"]
# The kernel that is refused midway: of about 1,200 in a small step, one between its two backward passes.
MIDWAY = 600


class FakeStream:
    """A stream that writes down what it waits for."""

    def __init__(self, events: list[str], name: str = "side") -> None:
        self.events, self.name = events, name

    def wait_stream(self, other: FakeStream) -> None:
        self.events.append(f"{self.name} waits for {other.name}")


class FakeGraph:
    """The kernels that were recorded, as (kernel, arguments, what it made and at which place of its results)."""

    def __init__(self, events: list[str]) -> None:
        self.events = events
        self.calls: list[tuple[Callable[..., Any], Sequence[Any], dict[str, Any], list[tuple[int, Tensor]]]] = []

    @torch.no_grad()
    def replay(self) -> None:
        self.events.append("replay")
        for kernel, args, kwargs, fresh in self.calls:
            results = tree_leaves(kernel(*args, **kwargs))
            for place, made in fresh:
                made.copy_(results[place])


class _Recording(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records every kernel. On a CPU shapes are only known by running it, so that its effects are undone at the end."""

    def __init__(self, graph: FakeGraph, most: int | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.graph, self.most = graph, most
        self._before: list[tuple[Tensor, Tensor]] = []

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in WAITING:
            raise RuntimeError(f"{func} is not permitted when a stream is capturing")
        if self.most is not None and len(self.graph.calls) >= self.most:
            raise RuntimeError("the capture was refused")
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        changes = func._schema.is_mutable
        if changes:
            self._before += [(tensor, tensor.detach().clone()) for tensor in given]
        results = func(*args, **kwargs)
        known = {tensor.untyped_storage()._cdata for tensor in given}
        # A view is no kernel: it is the memory it looks at.
        fresh = [
            (place, made)
            for place, made in enumerate(tree_leaves(results))
            if isinstance(made, Tensor) and made.untyped_storage()._cdata not in known
        ]
        if changes or fresh:
            self.graph.calls.append((func, args, kwargs, fresh))
        return results

    @torch.no_grad()
    def undo(self) -> None:
        """Leave all memory as it was, and in new memory what nobody may read before a replay."""
        for tensor, before in reversed(self._before):
            tensor.copy_(before)
        for *_, fresh in self.graph.calls:
            for _, made in fresh:
                if made.is_floating_point():
                    made.fill_(torch.nan)


class FakeCuda:
    """Takes the place of what the training step uses of torch.cuda, and writes down what happens in `events`.

    refuse: a recording by its number, from 0, and when it fails.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[str] = []
        self.current = FakeStream(self.events, "main")
        self.recordings = 0
        self.refuse: tuple[int, Refusal] | None = None
        stubs: dict[str, Callable[..., Any]] = {
            "CUDAGraph": lambda: FakeGraph(self.events),
            "Stream": lambda: FakeStream(self.events),
            "current_stream": lambda: self.current,
            "synchronize": lambda: None,
            "stream": self._on,
            "graph": self._record,
        }
        for name, stub in stubs.items():
            monkeypatch.setattr(torch.cuda, name, stub)

    @contextmanager
    def _on(self, stream: FakeStream) -> Iterator[None]:
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def _record(self, graph: FakeGraph) -> AbstractContextManager[None]:
        when = self.refuse[1] if self.refuse and self.refuse[0] == self.recordings else None
        self.recordings += 1
        return self._recording(graph, when)

    @contextmanager
    def _recording(self, graph: FakeGraph, refused: Refusal | None) -> Iterator[None]:
        if refused == "at the start":
            raise RuntimeError("the capture was refused")
        recording = _Recording(graph, most=MIDWAY if refused == "midway" else None)
        try:
            with self._on(FakeStream(self.events, "capture")), recording:
                yield
        finally:
            recording.undo()
        if refused == "at the end":
            raise RuntimeError("the capture was refused")
