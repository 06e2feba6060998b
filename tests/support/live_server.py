"""`manetdiff serve` in a process of its own, as anyone would start it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from served import served

# What the extra 'serve' brings, and the core does not.
NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "structlog", "alembic")


def can_serve() -> bool:
    """Whether the extra 'serve' is installed."""
    return all(find_spec(package) is not None for package in NEEDED)


@contextmanager
def live_server(folder: Path, *options: str) -> Iterator[str]:
    """The address of a server that keeps its database in the folder. options: of the command, besides."""
    with served(folder, *options) as running:
        yield running.url
