"""A PostgreSQL server of one's own, in a temporary folder, where its programs are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from served import free_port

PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


class NoPostgresError(Exception):
    """It cannot be started here; the message says why."""


@contextmanager
def own_postgres() -> Iterator[str]:
    """The address of a database that is empty."""
    programs = next((place for place in PLACES if (place / "initdb").exists()), None)
    if programs is None:
        raise NoPostgresError("PostgreSQL is not installed")
    user = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="manetdiff-pg-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        initdb = [str(programs / "initdb"), "-D", str(data), "-U", "tester", "-A", "trust", "--no-sync"]
        subprocess.run(initdb, check=True, capture_output=True, user=user)
        port = free_port()
        options = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}", "-p", str(port)]
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, *options],
            user=user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(programs, port)
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            server.terminate()
            server.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged() -> str | None:
    """Who the server runs as where we are root, which it refuses to be."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise NoPostgresError("PostgreSQL does not run as root, and there is nobody else")


def _wait_for(programs: Path, port: int) -> None:
    for _ in range(300):
        asked = subprocess.run([programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)], check=False)
        if asked.returncode == 0:
            return
        time.sleep(0.1)
    raise TimeoutError("PostgreSQL did not start")
