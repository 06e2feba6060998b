"""Worker processes of this machine: started once, used again and again, replaced where they die."""

from __future__ import annotations

import hmac
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Self, TypeVar

from manetdiff.engine.framing import SECRET_BYTES, exactly, receive, send
from manetdiff.engine.outcomes import Outcome, raised
from manetdiff.errors import EngineError

Task = TypeVar("Task")
Result = TypeVar("Result")

# Tasks that may be worked on ahead of the one whose result is due, for each worker: a slow one holds up few others.
AHEAD = 4
# Workers that one task may cost before it is given up.
DEATHS = 3
START_S = 120.0
# Each worker is one core's worth: libraries that would start threads of their own are told so.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Processes:
    """So many workers. What they load for a task they keep for the next one.

    - turn: for threads that share them, each of which takes all its results while it holds it.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._there: list[_Worker] = []
        self.turn = threading.Lock()
        self._under_way = False
        weakref.finalize(self, _end_all, self._there)

    def in_order(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """The results in the order of the tasks.

        - function: of a module that can be imported. It must do no harm if it is called again for the same task: where
          a worker dies, another one does its work. What it raises is raised here.
        """
        return raised(self.outcomes(function, tasks))

    def outcomes(
        self, function: Callable[[Task], Result], tasks: Iterable[Task]
    ) -> Generator[Outcome[Result], None, None]:
        """The same, but a task that fails, or that no worker survives, ends nothing: its outcome says so."""
        if self._under_way:  # two would read each other's results
            raise EngineError("these workers are at another call, whose results are not all taken yet")
        self._start()
        self._under_way = True
        coming = enumerate(tasks)
        now = _Round(list(self._there))
        due = handed = 0
        try:
            while True:
                while now.idle and handed < due + AHEAD * self.workers:
                    following = next(coming, None)
                    if following is None:
                        break
                    handed += 1
                    self._hand(now.idle.pop(), function, _Work(*following), now)
                if due in now.done:
                    yield now.done.pop(due)
                    due += 1
                    continue
                if not now.busy:
                    return
                for worker in _readable(now.busy):
                    work = now.busy.pop(worker)
                    try:
                        well, made = receive(worker.connection)
                    except EOFError:
                        self._replace(worker, function, work, now)
                        continue
                    now.done[work.index] = Outcome(made) if well else Outcome(error=made)
                    now.idle.append(worker)
        finally:
            # Nobody waits for what is under way: workers that are at it would answer the next caller with it.
            for worker in now.busy:
                worker.end()
            self._there[:] = [worker for worker in self._there if worker not in now.busy]
            self._under_way = False

    def close(self) -> None:
        """End them all."""
        _end_all(self._there)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        missing = self.workers - len(self._there)
        if missing > 0:
            self._there += _started(missing)

    def _hand(self, worker: _Worker, function: Any, work: _Work, now: _Round) -> None:
        try:
            send(worker.connection, (function, work.task))
        except ConnectionError:
            self._replace(worker, function, work, now)
        else:
            now.busy[worker] = work

    def _replace(self, worker: _Worker, function: Any, work: _Work, now: _Round) -> None:
        """Give the work of a worker that has died to a new one, or give it up."""
        worker.end()
        self._there.remove(worker)
        (another,) = _started(1)
        self._there.append(another)
        work.deaths += 1
        if work.deaths < DEATHS:
            self._hand(another, function, work, now)
            return
        now.idle.append(another)
        told = (
            f"{DEATHS} worker processes died at the same task (out of memory?): run the same command again to "
            "continue, maybe with fewer workers"
        )
        now.done[work.index] = Outcome(error=EngineError(told))


def _end_all(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().end()


class _Work:
    """A task, and how many workers it has cost."""

    def __init__(self, index: int, task: Any) -> None:
        self.index, self.task, self.deaths = index, task, 0


class _Round:
    """One call: who has nothing to do, who has what, and what is done but not due yet, by its place."""

    def __init__(self, idle: list[_Worker]) -> None:
        self.idle = idle
        self.busy: dict[_Worker, _Work] = {}
        self.done: dict[int, Outcome[Any]] = {}


class _Worker:
    """A process, and the connection to it."""

    def __init__(self, process: subprocess.Popen[str], connection: socket.socket) -> None:
        self.process, self.connection = process, connection

    def end(self) -> None:
        """At once."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


def _started(count: int) -> list[_Worker]:
    """So many new workers, each of which has shown the secret that it was given."""
    with socket.create_server(("127.0.0.1", 0), backlog=count) as listening:
        listening.settimeout(1.0)
        by_secret = dict(_begun(listening.getsockname()[1]) for _ in range(count))
        waiting = dict(by_secret)
        workers = []
        until = time.monotonic() + START_S
        try:
            while waiting:
                dead = next((one for one in waiting.values() if one.poll() is not None), None)
                if dead is not None or time.monotonic() > until:
                    why = "in time" if dead is None else f"(exit code {dead.returncode})"
                    raise EngineError(f"a worker process did not start {why}")
                try:
                    connection, _ = listening.accept()
                except TimeoutError:
                    continue
                process = _known(connection, waiting)
                if process is not None:
                    workers.append(_Worker(process, connection))
        except BaseException:
            for process in by_secret.values():
                process.kill()
            raise
    return workers


def _begun(port: int) -> tuple[bytes, subprocess.Popen[str]]:
    secret = secrets.token_bytes(SECRET_BYTES)
    told = {"port": port, "secret": secret.hex(), "parent": os.getpid(), "path": sys.path}
    process = subprocess.Popen(
        [sys.executable, "-m", "manetdiff.engine.worker"],
        stdin=subprocess.PIPE,
        stdout=sys.stderr.fileno() if _has_file(sys.stderr) else subprocess.DEVNULL,
        text=True,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(told) + "\n")
    process.stdin.close()
    return secret, process


def _known(connection: socket.socket, waiting: dict[bytes, subprocess.Popen[str]]) -> subprocess.Popen[str] | None:
    """The worker that has connected; None for a stranger, to whom nothing is said."""
    connection.settimeout(5.0)
    try:
        said = bytes(exactly(connection, SECRET_BYTES))
    except (EOFError, OSError):
        said = b""
    for secret in waiting:
        if hmac.compare_digest(secret, said):
            connection.settimeout(None)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return waiting.pop(secret)
    connection.close()
    return None


def _readable(busy: Iterable[_Worker]) -> Iterator[_Worker]:
    """Those that have something to say; waits for the first."""
    by_connection = {worker.connection: worker for worker in busy}
    ready, _, _ = select.select(list(by_connection), [], [])
    return (by_connection[connection] for connection in ready)


def _has_file(stream: Any) -> bool:
    try:
        stream.fileno()
    except (AttributeError, OSError, ValueError):
        return False
    return True
