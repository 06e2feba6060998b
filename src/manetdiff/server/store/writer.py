"""One thread that writes: what comes in while it is busy is committed together, and answered when it is on disk."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from sqlalchemy import Connection, Engine

Job = Callable[[Connection], Any]

MOST_TOGETHER = 128


class Writer:
    """Runs jobs in one transaction after another; a job's future has its result once that is committed.

    - prepare: called with every connection that it opens, before anything is written over it; it may refuse by raising.
    """

    def __init__(self, engine: Engine, prepare: Callable[[Connection], None] = lambda _: None) -> None:
        self._engine, self._prepare = engine, prepare
        self._connection: Connection | None = None
        self._opened()
        self._jobs: queue.SimpleQueue[tuple[Job, Future[Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def write(self, job: Job) -> Future[Any]:
        """The result of the job, once it is on disk."""
        done: Future[Any] = Future()
        self._jobs.put((job, done))
        return done

    def close(self) -> None:
        """Write what is waiting, and stop."""
        self._jobs.put(None)
        self._thread.join()
        self._let_go()

    def _run(self) -> None:
        while True:
            waiting = [self._jobs.get()]
            while len(waiting) < MOST_TOGETHER and waiting[-1] is not None:
                try:
                    waiting.append(self._jobs.get_nowait())
                except queue.Empty:
                    break
            # Those that nobody waits for any more are left out; the others can no longer be called off.
            jobs = [one for one in waiting if one is not None and one[1].set_running_or_notify_cancel()]
            if len(jobs) == 1 or not self._commit(jobs):
                for one in jobs:  # one that fails must not take the others with it
                    self._commit([one], last=True)
            if waiting[-1] is None:
                return

    def _opened(self) -> Connection:
        """The one connection that is written over, which is kept."""
        if self._connection is None:
            connection = self._engine.connect()
            connection.detach()  # from the pool: locks that it holds end with it
            try:
                self._prepare(connection)
                connection.commit()
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _commit(self, jobs: list[tuple[Job, Future[Any]]], *, last: bool = False) -> bool:
        """Whether they were committed; where they were not and this is the last try, their futures say why."""
        try:
            connection = self._opened()
            with connection.begin():
                results = [job(connection) for job, _ in jobs]
        except BaseException as error:
            if self._connection is not None and self._connection.invalidated:
                self._let_go()  # the database went away, and may come back
            if last:
                for _, done in jobs:
                    done.set_exception(error)
            return False
        for (_, done), result in zip(jobs, results, strict=True):
            done.set_result(result)
        return True
