"""Compiled code is loaded, or compiled, when a process first uses it: that is done before a clock starts, not on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from manetdiff.fleet import Fleet
from manetdiff.layout import Layout

# Small enough to be solved at once by every method.
TOY = Fleet([(0, 0), (1, 0), (0, 1), (1, 2)], [0, 0, 0, 0])


@cache
def warm_up(run: Callable[[Layout], object]) -> None:
    """Run it once on a toy fleet, the first time that it is asked for in this process."""
    run(Layout(TOY))
