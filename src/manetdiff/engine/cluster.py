"""A Ray cluster: tasks go to whichever core of it is free, and again to another where a worker or a machine is lost."""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from manetdiff.engine.processes import AHEAD, ONE_THREAD
from manetdiff.errors import EngineError

Task = TypeVar("Task")
Result = TypeVar("Result")

# Bytes that machines keep of results until they are fetched: those of a few tasks each, which are small.
OBJECT_STORE = 200 * 2**20
# Times that a task is begun again where its worker or its machine was lost.
RETRIES = 10
ANSWER_S = 10.0


class RayEngine:
    """So many tasks at a time on a cluster.

    - address: of a cluster that is there, such as `ray://host:10001` or `auto`; None: one of this machine alone, which
      is there as long as results are taken. What this package needs must be installed on every machine.
    """

    def __init__(self, workers: int, address: str | None = None) -> None:
        self.workers, self.address = workers, address
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # before it is loaded: nothing leaves the machine
        try:
            import ray
        except ModuleNotFoundError as error:
            if error.name != "ray":
                raise
            raise EngineError("--engine ray needs Ray: pip install 'manetdiff[cluster]'") from None
        self._ray: Any = ray

    def in_order(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """As of `Engine`."""
        ray = self._ray
        self._join()
        try:
            called = ray.remote(num_cpus=1, max_retries=RETRIES)(function)
            pending: deque[Any] = deque()
            for task in tasks:
                pending.append(called.remote(task))
                if len(pending) >= AHEAD * self.workers:
                    yield self._fetched(pending.popleft())
            while pending:
                yield self._fetched(pending.popleft())
        finally:
            ray.shutdown()

    def _join(self) -> None:
        environment = {"env_vars": ONE_THREAD}
        asked: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "runtime_env": environment}
        if self.address is None:
            own = {"num_cpus": self.workers, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
            asked |= {"address": "local", **own}
        else:
            _check_there(self.address)
            asked["address"] = self.address
        try:
            self._ray.init(**asked)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(f"the cluster cannot be joined: {error}") from None

    def _fetched(self, reference: Any) -> Any:
        """The result; what the function raised is raised as it was."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except self._ray.exceptions.RayError as error:
            raise EngineError(f"a task was lost {RETRIES} times: {type(error).__name__}") from None


def _check_there(address: str) -> None:
    """Raise where nobody listens: Ray would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():  # 'auto': Ray looks for one on this machine
        return
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise EngineError(f"the cluster cannot be joined: {address}: {error}") from None
