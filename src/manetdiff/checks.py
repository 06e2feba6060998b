"""Checks of what callers hand in: each raises the error it is given, in one wording for the whole package."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral, Real
from typing import TypeVar

from manetdiff.errors import ManetDiffError
from manetdiff.messages import brief

LARGEST_SEED = 2**63 - 1
FEW = 3  # of many names

Value = TypeVar("Value", bound=Hashable)


def is_whole(value: object) -> bool:
    """Whether it is a whole number, numpy's included; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Whether it is a finite number, numpy's included; True and False are not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def check_whole(error: type[ManetDiffError], name: str, value: object, least: int = 0, most: float = math.inf) -> None:
    """Raise unless it is one of Python's own whole numbers (settings are written as JSON) within the bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
        raise error(f"{name} must be a whole number {bounds}, not {brief(value)}")


def check_at_least_0(error: type[ManetDiffError], name: str, value: object) -> None:
    """Raise unless it is a finite number of at least 0."""
    if not is_number(value) or value < 0:  # type: ignore[operator]
        raise error(f"{name} must be a finite number of at least 0, not {brief(value)}")


def check_above_0(error: type[ManetDiffError], name: str, value: object) -> None:
    """Raise unless it is a finite number above 0."""
    if not is_number(value) or value <= 0:  # type: ignore[operator]
        raise error(f"{name} must be a finite number above 0, not {brief(value)}")


def check_within(error: type[ManetDiffError], name: str, value: object, low: float, high: float) -> None:
    """Raise unless it is a number within the bounds."""
    if not is_number(value) or not low <= value <= high:  # type: ignore[operator]
        raise error(f"{name} must be a number from {low:g} to {high:g}, not {brief(value)}")


def check_flag(error: type[ManetDiffError], name: str, value: object) -> None:
    """Raise unless it is True or False."""
    if not isinstance(value, bool):
        raise error(f"{name} must be true or false, not {brief(value)}")


def check_choice(error: type[ManetDiffError], name: str, value: object, choices: Iterable[str]) -> None:
    """Raise unless it is one of the choices."""
    if value not in (known := tuple(choices)):
        raise error(f"{name} must be one of {', '.join(known)}, not {brief(value)}")


def check_seed(error: type[ManetDiffError], seed: object) -> None:
    """Raise unless it is a whole number that every random generator of ours takes."""
    if not is_whole(seed) or not 0 <= seed <= LARGEST_SEED:  # type: ignore[operator]
        raise error(f"seed must be a whole number from 0 to 2^63 - 1, not {brief(seed)}")


def first_repeated(values: Iterable[Value]) -> Value | None:
    """The first value that stands there a second time; None where all are distinct."""
    seen: set[Value] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def some_of(names: Sequence[str]) -> str:
    """A few names for a message, quoted, and how many more there are."""
    shown = [brief(name) for name in names[:FEW]]
    more = len(names) - len(shown)
    return f"{', '.join(shown)} and {more} more" if more else ", ".join(shown)
