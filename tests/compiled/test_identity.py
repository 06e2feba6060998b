"""The name of compiled code changes with everything that it is made from, and with nothing else."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import pytest

from manetdiff.compiled.functions import kernel
from manetdiff.compiled.identity import program_of

SOURCE = '''
LIMIT = 3
def inner(x):
    """Adds."""
    return x + LIMIT
inner = kernel(inner)
def outer(x, limit=2):
    """Calls."""
    # Twice.
    return sum([inner(k) for k in range(limit)]) * inner(x) + 0.5
'''


def program(source: str, decorator: Any = kernel) -> str:
    names: dict[str, Any] = {"kernel": decorator, "__name__": "somewhere"}
    exec(source, names)
    outer = names["outer"]
    assert isinstance(outer, FunctionType)
    return program_of(outer)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Twice.", "# Two times,\n    # that is."),
        ("Calls.", "Calls it, with\n    more words."),
        ("Adds.", "Adds up."),
        ("LIMIT = 3", "OTHER = 4\nLIMIT = 3"),
    ],
)
def test_comments_docstrings_and_what_is_not_used_change_nothing(old: str, new: str) -> None:
    assert old in SOURCE
    assert program(SOURCE.replace(old, new)) == program(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3", "LIMIT = 4"),  # a constant of a function that it calls
        ("LIMIT = 3", "LIMIT = 3.0"),  # its type
        ("x + LIMIT", "x - LIMIT"),  # a function that it calls
        ("+ 0.5", "+ 0.25"),
        ("* inner(x)", "/ inner(x)"),
        ("limit=2", "limit=3"),
        ("inner(k) for k", "inner(-k) for k"),  # inside a comprehension
    ],
)
def test_everything_that_it_computes_with_counts(old: str, new: str) -> None:
    assert old in SOURCE
    assert program(SOURCE.replace(old, new)) != program(SOURCE)


def test_a_function_that_calls_itself_has_a_name() -> None:
    source = "def outer(x):\n    return x if x < 1 else outer(x - 1)\n"
    assert program(source) == program(source) != program(source.replace("1", "2"))
