"""A bounded pool of threads for what takes a processor: it says beforehand when there is no time for more."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from manetdiff.server.errors import OverloadedError

Result = TypeVar("Result")

# Of the mean duration of a job, how much the last one counts.
LATEST = 0.1
ASSUMED_S = 0.02


class Pool:
    """workers: threads. longest_wait: seconds that a job may have to wait for its turn, as far as can be told."""

    def __init__(self, workers: int, longest_wait: float) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="update")
        self._workers, self._longest_wait = workers, longest_wait
        self._usual_s = ASSUMED_S
        self.waiting = 0  # jobs that are not done

    @property
    def wait_s(self) -> float:
        """Seconds until a job that came now would have its turn."""
        return max(0, self.waiting - self._workers + 1) * self._usual_s / self._workers

    def reserve(self) -> None:
        """Count a job that will come; `release` when it does."""
        self.waiting += 1

    def release(self) -> None:
        """It has come, or will not."""
        self.waiting -= 1

    def check_room(self) -> None:
        """Raise an OverloadedError where a job would have to wait too long."""
        if self.wait_s > self._longest_wait:
            raise OverloadedError(
                f"{self.waiting} jobs are waiting, which is more than {self._longest_wait:g} s of work", self.wait_s
            )

    async def run(self, job: Callable[[], Result]) -> Result:
        """The result of a job, whatever is waiting: who must not wait checks first."""

        def timed() -> tuple[Result, float]:
            began = time.perf_counter()
            return job(), time.perf_counter() - began

        self.waiting += 1
        try:
            result, spent = await asyncio.get_running_loop().run_in_executor(self._threads, timed)
        finally:
            self.waiting -= 1
        self._usual_s += LATEST * (spent - self._usual_s)
        return result

    def close(self) -> None:
        """Let what runs end, and drop what waits."""
        self._threads.shutdown(wait=True, cancel_futures=True)
