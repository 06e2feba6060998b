"""A PostgreSQL server of the test's own; it is no test of ours where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from own_postgres import NoPostgresError, own_postgres


@contextmanager
def postgres() -> Iterator[str]:
    """The address of a database that is empty."""
    opened = own_postgres()
    try:
        address = opened.__enter__()
    except NoPostgresError as error:
        pytest.skip(str(error))
    try:
        yield address
    finally:
        opened.__exit__(None, None, None)
