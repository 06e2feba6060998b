"""Connections: SQLite with one writer and a log ahead of it, or PostgreSQL; the schema; and who owns the database."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from manetdiff.files import printable
from manetdiff.server.errors import ServiceError

if sys.platform != "win32":
    import fcntl

BUSY_S = 10.0
# Of PostgreSQL's advisory lock under which the schema is changed: any number, but always the same.
SCHEMA = 7_216_405_119
# So that a machine that is gone without a word is noticed: seconds of silence, and milliseconds of what is not taken.
KEPT_ALIVE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 5000}


def opened(address: str, readers: int = 4) -> Engine:
    """An engine for the address, such as sqlite:///topologies.db or postgresql://user@host/name.

    - readers: connections beside the writer's that are kept open.
    """
    url = _url(address)
    if url.get_backend_name() == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise ServiceError(f"--database {address}: name a file, as in sqlite:///topologies.db")
        folder = Path(str(url.database)).absolute().parent
        if not folder.is_dir():
            raise ServiceError(f"--database: the folder {printable(folder)} is not there")
        engine = create_engine(
            url, connect_args={"timeout": BUSY_S, "check_same_thread": False}, pool_size=readers + 1, max_overflow=0
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine
    options = {"connect_timeout": int(BUSY_S), **KEPT_ALIVE}
    return create_engine(url, connect_args=options, pool_size=readers + 1, max_overflow=0, pool_pre_ping=True)


def migrate(engine: Engine) -> None:
    """Bring the schema up to date; of several that start at once, one does."""
    config = Config()
    config.set_main_option("script_location", "manetdiff.server.store:migrations")
    try:
        with engine.begin() as connection:
            if is_shared(engine):
                connection.execute(text("select pg_advisory_xact_lock(:schema)"), {"schema": SCHEMA})
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except SQLAlchemyError as error:
        raise ServiceError(f"the database cannot be prepared: {cause(error)}") from None
    except CommandError as error:  # of a release to come, say
        raise ServiceError(f"the database is not one of this release: {error}") from None


def is_shared(engine: Engine) -> bool:
    """Whether several services may run on it."""
    return engine.dialect.name == "postgresql"


@contextmanager
def owned(engine: Engine) -> Iterator[None]:
    """Hold a SQLite file for this process alone: two that number versions would step on each other's.

    In PostgreSQL each network is somebody's: see `store.replicas`.
    """
    if is_shared(engine):
        yield
        return
    with _locked_file(Path(str(engine.url.database))):
        yield


def is_reachable(connection: Connection) -> bool:
    """Whether the database answers."""
    return bool(connection.scalar(text("select 1")) == 1)


def cause(error: SQLAlchemyError) -> str:
    """What the driver said, on one line, without what was sent."""
    return " ".join(str(getattr(error, "orig", None) or error).split())


def _url(address: str) -> URL:
    try:
        url = make_url(address)
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        backend = ""
    if backend not in ("sqlite", "postgresql"):
        # Without the address: it may hold a password.
        raise ServiceError("--database: give sqlite:///FILE or postgresql://USER@HOST/NAME")
    return url.set(drivername="postgresql+psycopg") if backend == "postgresql" else url.set(drivername="sqlite")


def _prepare_sqlite(connection: Any, _: object) -> None:
    # Python's driver would begin no transaction for changes of the schema: we begin them all ourselves.
    connection.isolation_level = None
    cursor = connection.cursor()
    for setting in (
        "journal_mode=WAL",  # readers do not wait for the writer
        "synchronous=FULL",  # what is acknowledged survives a loss of power, too
        "foreign_keys=ON",
        f"busy_timeout={int(1e3 * BUSY_S)}",
    ):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


@contextmanager
def _locked_file(path: Path) -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    # SQLite's own locks are of another kind and do not mind this one.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ServiceError(
                f"another service runs on {printable(path)}: stop it, or give this one its own"
            ) from None
        yield
    finally:
        os.close(descriptor)
