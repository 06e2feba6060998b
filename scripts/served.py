"""`manetdiff serve` in a process of its own, as anyone would start it, for scripts and tests that try it."""

from __future__ import annotations

import queue
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ADDRESS = re.compile(r"https?://\S+")
START_S, END_S = 90.0, 20.0


class Served:
    """A running service. folder: where its log (`live.log`) is, and its database unless another is named.

    - options: of the command, besides. port: 0 is any free one.
    """

    def __init__(self, folder: Path, *options: str, database: str | None = None, port: int = 0) -> None:
        self.log = folder / "live.log"
        self.database = database or f"sqlite:///{folder / 'live.db'}"
        command = [sys.executable, "-m", "manetdiff", "serve", "--port", str(port), "--database", self.database]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *options], stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder
            )
        self.url = self._address()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        """As `kill -9` does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """As a service manager does."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _address(self) -> str:
        """What it prints once it listens."""
        lines: queue.Queue[str] = queue.Queue()

        def read() -> None:
            assert self.process.stdout is not None
            try:
                for line in self.process.stdout:
                    lines.put(line)
            except ValueError:  # closed by `_end`
                pass
            lines.put("")

        threading.Thread(target=read, daemon=True).start()
        while line := lines.get(timeout=START_S):
            found = ADDRESS.search(line)
            if found:
                return found[0].rstrip("/")
        raise RuntimeError(f"the service ended: {self.log.read_text(errors='replace')}")


@contextmanager
def served(folder: Path, *options: str, database: str | None = None) -> Iterator[Served]:
    """A service that is stopped at the end."""
    running = Served(folder, *options, database=database)
    try:
        yield running
    finally:
        running.stop()


def free_port() -> int:
    """One that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
