"""Where work is done: by this process, by several on this machine, or by a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from types import TracebackType
from typing import Literal, Protocol, Self, TypeVar, get_args

from manetdiff.cores import usable_cores
from manetdiff.engine.outcomes import Outcome, raised
from manetdiff.engine.processes import Processes
from manetdiff.errors import EngineError

Task = TypeVar("Task")
Result = TypeVar("Result")

EngineName = Literal["local", "ray"]


class Engine(Protocol):
    """workers: tasks that are worked on at a time; None: as many as there are cores.

    Workers are there as long as results are taken; inside a `with` of the engine they stay for the next call, with all
    that they have loaded.
    """

    workers: int | None

    def in_order(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """The results in the order of the tasks. function: see `Processes.in_order`."""

    def outcomes(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Generator[Outcome[Result], None, None]:
        """The same, but a task that fails ends nothing: its outcome says so."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class LocalEngine:
    """So many processes of this machine; 1: this one."""

    def __init__(self, workers: int | None = 1) -> None:
        self.workers: int | None = usable_cores() if workers is None else workers
        self._processes = Processes(self.workers)
        self._users = 0

    def in_order(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """As of `Engine`."""
        return raised(self.outcomes(function, tasks))

    def outcomes(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Generator[Outcome[Result], None, None]:
        """As of `Engine`."""
        if self.workers == 1:
            yield from (_outcome(function, task) for task in tasks)
            return
        with self:
            yield from self._processes.outcomes(function, tasks)

    def __enter__(self) -> Self:
        self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        if not self._users:
            self._processes.close()


def opened_engine(name: str, workers: int | None, address: str | None = None) -> Engine:
    """The engine of this name. address: of a Ray cluster that is there; None: one of this machine is started."""
    if name == "local":
        if address is not None:
            raise EngineError("an address is of a cluster: give --engine ray")
        return LocalEngine(workers)
    if name == "ray":
        from manetdiff.engine.cluster import RayEngine

        return RayEngine(workers, address)
    raise EngineError(f"the engine must be one of {', '.join(get_args(EngineName))}, not {name!r}")


def _outcome(function: Callable[[Task], Result], task: Task) -> Outcome[Result]:
    try:
        return Outcome(function(task))
    except Exception as error:
        return Outcome(error=error)
