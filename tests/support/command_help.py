"""The command line, called by tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


def refused(ran: Ran) -> str:
    """What the command line says of a mistake: one line on standard error, and nothing else."""
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1), ran
    assert ran.err.startswith("manetdiff: ")
    return ran.err
