"""Where work is done: by this process, by several on this machine, or by a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Literal, Protocol, TypeVar, get_args

from manetdiff.engine.processes import Processes
from manetdiff.errors import EngineError

Task = TypeVar("Task")
Result = TypeVar("Result")

EngineName = Literal["local", "ray"]


class Engine(Protocol):
    """workers: tasks that are worked on at a time."""

    workers: int

    def in_order(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """The results in the order of the tasks. function: see `Processes.in_order`."""


class LocalEngine:
    """So many processes of this machine; 1: this one."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers

    def in_order(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """As of `Engine`. Processes are there as long as the results are taken."""
        if self.workers == 1:
            yield from map(function, tasks)
            return
        with Processes(self.workers) as processes:
            yield from processes.in_order(function, tasks)


def opened_engine(name: str, workers: int, address: str | None = None) -> Engine:
    """The engine of this name. address: of a Ray cluster that is there; None: one of this machine is started."""
    if name == "local":
        if address is not None:
            raise EngineError("an address is of a cluster: give --engine ray")
        return LocalEngine(workers)
    if name == "ray":
        from manetdiff.engine.cluster import RayEngine

        return RayEngine(workers, address)
    raise EngineError(f"the engine must be one of {', '.join(get_args(EngineName))}, not {name!r}")
