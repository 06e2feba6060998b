"""A property that is computed when it is first asked for, and kept: without a lock.

`functools.cached_property` holds one for all objects of a class up to Python 3.11: threads that work on different
objects would wait for each other. Here two threads may at worst compute the same thing twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 it is written as `property` is
    """Decorates a method without arguments of a class whose objects have a `__dict__`."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.__doc__, self.name = compute, compute.__doc__, compute.__name__

    @overload
    def __get__(self, owner: None, kind: type) -> once[T]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> once[T] | T:
        if owner is None:
            return self
        # What is in the object's own dictionary is found before this is asked again.
        made: T = owner.__dict__.setdefault(self.name, self.compute(owner))
        return made
