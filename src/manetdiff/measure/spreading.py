"""Ways whose rows other processes can measure: these call the same way again, for some of the layouts each."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.store import RowStore

Way = TypeVar("Way", bound="Callable[..., Rows]")
Made = TypeVar("Made")

# What makes a set again, and from what.
Recipe = tuple[Callable[..., Any], tuple[Any, ...]]

_made: dict[bytes, Any] = {}


def spreadable(way: Way) -> Way:
    """The same way, of which the store knows how it was called: it may have others call it. What it is given must be
    made of values and of functions that can be imported."""

    @wraps(way)
    def called(store: RowStore, *given: Any, **named: Any) -> Rows:
        with store.calling(called, given, named):
            return way(store, *given, **named)

    return cast(Way, called)


def made_once(function: Callable[..., Made], *given: Any) -> Made:
    """What a function makes, kept in this process: sets hold on to layouts that took long to solve, and every task
    comes with its set anew."""
    key = pickle.dumps((function, given))
    if key not in _made:
        _made[key] = function(*given)
    made: Made = _made[key]
    return made
