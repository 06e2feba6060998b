"""`manetdiff serve` in a process of its own, as anyone would start it."""

from __future__ import annotations

import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

ADDRESS = re.compile(r"https?://\S+")
START_S, END_S = 90.0, 20.0
# What the extra 'serve' brings, and the core does not.
NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "structlog", "alembic")


def can_serve() -> bool:
    """Whether the extra 'serve' is installed."""
    return all(find_spec(package) is not None for package in NEEDED)


@contextmanager
def live_server(folder: Path, *options: str) -> Iterator[str]:
    """The address of a server that keeps its database in the folder. options: of the command, besides."""
    database = f"sqlite:///{folder / 'live.db'}"
    command = [sys.executable, "-m", "manetdiff", "serve", "--port", "0", "--database", database, *options]
    with (folder / "live.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder)
    try:
        yield _address(process, folder / "live.log")
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _address(process: subprocess.Popen[str], log: Path) -> str:
    """What it prints once it listens."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    while line := lines.get(timeout=START_S):
        found = ADDRESS.search(line)
        if found:
            return found[0].rstrip("/")
    raise AssertionError(f"the server ended: {log.read_text(errors='replace')}")
