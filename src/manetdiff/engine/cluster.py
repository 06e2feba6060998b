"""A Ray cluster: tasks go to whichever core of it is free, and again to another where a worker or a machine is lost."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, Self, TypeVar

from manetdiff import __version__
from manetdiff.cores import usable_cores
from manetdiff.engine.outcomes import Outcome, raised
from manetdiff.engine.processes import AHEAD, ONE_THREAD
from manetdiff.errors import EngineError

Task = TypeVar("Task")
Result = TypeVar("Result")

# Bytes that this machine keeps of results until they are fetched: those of the tasks that may be ahead of the one that
# is due. Most are a few kilobytes, a flight with its animation some megabytes; what is more goes to disk.
STORE_A_WORKER, LEAST_STORE, MOST_STORE = 64 * 2**20, 200 * 2**20, 2 * 2**30
# Times that a task is begun again where its worker or its machine was lost.
RETRIES = 10
ANSWER_S = 10.0


class OtherVersionError(EngineError):
    """A machine of the cluster has another version of this package: nothing that it makes can be used."""


class RayEngine:
    """So many tasks at a time on a cluster.

    - workers: None: as many as the cluster has cores.
    - address: of a cluster that is there, such as `host:6379` or `auto`; None: one of this machine alone, which is
      there as long as results are taken. What this package needs must be installed on every machine.
    """

    def __init__(self, workers: int | None, address: str | None = None) -> None:
        self.workers = usable_cores() if workers is None and address is None else workers
        self.address = address
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before it is loaded: nothing leaves the machine
        try:
            import ray
        except ModuleNotFoundError as error:
            if error.name != "ray":
                raise
            raise EngineError("--engine ray needs Ray: pip install 'manetdiff[cluster]'") from None
        self._ray: Any = ray
        self._users = 0
        self._joined_here = False

    def in_order(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """As of `Engine`."""
        return raised(self.outcomes(function, tasks))

    def outcomes(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Generator[Outcome[Result], None, None]:
        """As of `Engine`."""
        ray = self._ray
        with self:
            at_a_time, ahead = self._limits()
            called = ray.remote(num_cpus=1, max_retries=RETRIES)(_called)
            coming = iter(tasks)
            due: deque[Any] = deque()
            running: list[Any] = []
            finished: set[Any] = set()
            more = True
            while True:
                while more and len(running) < at_a_time and len(due) < ahead:
                    try:
                        task = next(coming)
                    except StopIteration:
                        more = False
                        break
                    reference = called.remote(__version__, function, task)
                    due.append(reference)
                    running.append(reference)
                if not due:
                    return
                if due[0] in finished:
                    finished.remove(due[0])
                    yield self._fetched(due.popleft())
                    continue
                ready, running = ray.wait(running, num_returns=1)
                finished.update(ready)

    def __enter__(self) -> Self:
        if not self._users:
            self._join()
        self._users += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._users -= 1
        if not self._users and self._joined_here:
            self._ray.shutdown()

    def _limits(self) -> tuple[int, int]:
        """Tasks that the cluster is given at a time, and ahead of the one that is due."""
        if self.address is None:  # which has as many cores as workers
            return AHEAD * (self.workers or 1), AHEAD * (self.workers or 1)
        if self.workers is None:
            cores = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
            return AHEAD * cores, AHEAD * cores
        return self.workers, AHEAD * self.workers

    def _join(self) -> None:
        # A program that has joined a cluster by itself stays there.
        self._joined_here = not self._ray.is_initialized()
        if not self._joined_here:
            return
        asked: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if self.address is None:
            store = min(MOST_STORE, max(LEAST_STORE, STORE_A_WORKER * (self.workers or 1)))
            own = {"num_cpus": self.workers, "object_store_memory": store, "include_dashboard": False}
            # As of local processes: what can be imported here can be there.
            path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            asked |= {"address": "local", "runtime_env": {"env_vars": {**ONE_THREAD, **path}}, **own}
        else:
            _check_there(self.address)
            asked |= {"address": self.address, "runtime_env": {"env_vars": ONE_THREAD}}
        try:
            self._ray.init(**asked)
        except (ConnectionError, RuntimeError, ValueError) as error:
            hint = "" if self.address is None else " (if it asks for a token: RAY_AUTH_MODE and RAY_AUTH_TOKEN_PATH)"
            raise EngineError(f"the cluster cannot be joined: {error}{hint}") from None

    def _fetched(self, reference: Any) -> Outcome[Any]:
        """The result, or what the function raised, as it was."""
        failed: Exception
        try:
            return Outcome(self._ray.get(reference))
        except self._ray.exceptions.RayTaskError as error:
            failed = error.cause if isinstance(error.cause, Exception) else error
        except (self._ray.exceptions.LocalRayletDiedError, self._ray.exceptions.RaySystemError) as error:
            # Not this task's doing: no other would fare better.
            told = f"the cluster is gone ({type(error).__name__}): run the same command again to continue"
            raise EngineError(told) from None
        except self._ray.exceptions.UnserializableException:
            failed = EngineError("a task failed with an error that could not be sent from its worker")
        except self._ray.exceptions.RayError as error:
            failed = EngineError(f"a task was lost {RETRIES} times (out of memory?): {type(error).__name__}")
        if isinstance(failed, OtherVersionError):
            raise failed from None
        return Outcome(error=failed)


def _called(version: str, function: Callable[[Task], Result], task: Task) -> Result:
    """On a machine of the cluster."""
    if version != __version__:
        raise OtherVersionError(
            f"{socket.gethostname()} has version {__version__} of manetdiff, and this machine {version}: install the "
            "same one on every machine of the cluster"
        )
    return function(task)


def _check_there(address: str) -> None:
    """Raise where nobody listens: Ray would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():  # 'auto': Ray looks for one on this machine
        return
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise EngineError(f"the cluster cannot be joined: {address}: {error}") from None
