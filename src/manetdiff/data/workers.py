"""Work spread over processes, with results in order, and with no process left behind whatever becomes of this one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from manetdiff.errors import DataError

Task = TypeVar("Task")
Result = TypeVar("Result")

# Tasks handed out ahead for each worker: enough that a slow one does not leave the others idle.
AHEAD = 4
WATCH_S = 0.25


def in_order(function: Callable[[Task], Result], tasks: Iterable[Task], workers: int) -> Generator[Result, None, None]:
    """The results in the order of the tasks, worked out by so many processes (1: by this one)."""
    if workers == 1:
        yield from map(function, tasks)
        return
    # Spawned, not forked: a fork of a process with threads (pyarrow's, numba's) may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(os.getpid(),))
    pending: deque[Future[Result]] = deque()
    try:
        for task in tasks:
            with _without_interrupts():  # a worker that is starting would end in a traceback
                pending.append(pool.submit(function, task))
            if len(pending) >= AHEAD * workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenProcessPool:
        # Ctrl-C goes to all processes of a terminal: workers may have ended by it before this one has heard of it.
        time.sleep(WATCH_S)
        raise DataError(
            "a worker process died (out of memory?): run the same command again to continue, maybe with fewer workers"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Put Ctrl-C off until the end; processes that are started inside do not see it before they let themselves."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """Set a worker up: it ends at Ctrl-C without a word, and when its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(WATCH_S)
    os._exit(1)
