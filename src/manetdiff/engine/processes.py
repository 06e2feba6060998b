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
import time
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Self, TypeVar

from manetdiff.engine.framing import SECRET_BYTES, exactly, receive, send
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
    """So many workers. What they load for a task they keep for the next one."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._there: list[_Worker] = []
        weakref.finalize(self, _end_all, self._there)

    def in_order(self, function: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """The results in the order of the tasks.

        - function: of a module that can be imported. It must do no harm if it is called again for the same task: where
          a worker dies, another one does its work. What it raises is raised here.
        """
        self._start()
        coming = enumerate(tasks)
        idle, busy = list(self._there), {}
        done: dict[int, tuple[bool, Any]] = {}  # whether it went well, and the result or the error
        due = handed = 0
        try:
            while True:
                while idle and handed < due + AHEAD * self.workers:
                    following = next(coming, None)
                    if following is None:
                        break
                    handed += 1
                    worker = idle.pop()
                    busy[worker] = _Work(*following)
                    self._hand(worker, function, busy)
                if due in done:
                    well, result = done.pop(due)
                    if not well:
                        raise result
                    yield result
                    due += 1
                    continue
                if not busy:
                    return
                for worker in _readable(busy):
                    work = busy[worker]
                    try:
                        done[work.index] = receive(worker.connection)
                    except EOFError:
                        self._replace(worker, function, busy)
                        continue
                    del busy[worker]
                    idle.append(worker)
        finally:
            # Nobody waits for what is under way: workers that are at it would answer the next caller with it.
            for worker in busy:
                worker.end()
            self._there[:] = [worker for worker in self._there if worker not in busy]

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

    def _hand(self, worker: _Worker, function: Any, busy: dict[_Worker, _Work]) -> None:
        try:
            send(worker.connection, (function, busy[worker].task))
        except ConnectionError:
            self._replace(worker, function, busy)

    def _replace(self, worker: _Worker, function: Any, busy: dict[_Worker, _Work]) -> None:
        """Give the work of a worker that has died to a new one."""
        work = busy.pop(worker)
        worker.end()
        self._there.remove(worker)
        work.deaths += 1
        if work.deaths >= DEATHS:
            raise EngineError(
                f"{DEATHS} worker processes died at the same task (out of memory?): run the same command again to "
                "continue, maybe with fewer workers"
            )
        (another,) = _started(1)
        self._there.append(another)
        busy[another] = work
        self._hand(another, function, busy)


def _end_all(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().end()


class _Work:
    """A task, and how many workers it has cost."""

    def __init__(self, index: int, task: Any) -> None:
        self.index, self.task, self.deaths = index, task, 0


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
        env={**ONE_THREAD, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
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
