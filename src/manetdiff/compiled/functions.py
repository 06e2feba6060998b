"""The two decorators, and functions that are compiled when they are first called.

numba is imported, and code loaded or compiled, only then: what computes nothing does not wait for it.

A function that Python calls has all that it needs linked into it. So only those are kept, whole, and only those get the
wrappers that take Python's arguments apart, which cost a quarter of the time of compiling.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from manetdiff.compiled.identity import program_of
from manetdiff.compiled.keeping import Keeper

Function = Callable[..., Any]
Progress = Callable[[int, int], None]

# 'No node' as an argument of compiled functions. A plain -1 has a type of its own for numba, which would compile every
# function that it is handed to a second time.
NOBODY = np.int64(-1)

_functions: list[Compiled] = []
_lock = threading.RLock()
_listeners: list[Progress] = []


class Compiled:
    """A function that is compiled when it is first used: called from Python, or needed by another such function."""

    def __init__(self, function: Function, **options: bool) -> None:
        functools.update_wrapper(self, function)
        self.function, self.options = function, options
        self.name = f"{function.__module__.partition('.')[2]}.{function.__qualname__}"
        self.has_been_compiled = False
        self._for_python: Function | None = None
        self._for_others: Any = None
        _functions.append(self)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        called = self._for_python or self._made_for_python()
        return called(*arguments)

    @property
    def _numba_type_(self) -> Any:
        """What numba takes this object for where another compiled function calls it."""
        with _lock:
            if self._for_others is None:
                made = _jit(self, no_cpython_wrapper=True, no_cfunc_wrapper=True)
                made._cache = Keeper(None, self.note)
                self._for_others = made
            return self._for_others._numba_type_

    def note(self) -> None:
        """It has been compiled: tell whoever wants to know how far that is."""
        self.has_been_compiled = True
        _tell(sum(function.has_been_compiled for function in _functions))

    def _made_for_python(self) -> Function:
        with _lock:
            if self._for_python is None:
                made = _jit(self)
                # Numba's own attribute. Without it (another numba, or one that is told to compile nothing) all works as
                # before, and nothing is kept.
                if hasattr(made, "_cache"):
                    made._cache = Keeper((self.name, program_of(self.function)), self.note)
                self._for_python = made
            return self._for_python


def kernel(function: Function) -> Compiled:
    """Compile a function that allocates nothing.

    numba then leaves out the counting of array references, which otherwise costs more than the arithmetic in functions
    of a hundred nanoseconds that take their arrays in tuples.
    """
    return Compiled(function, _nrt=False)


def builder(function: Function) -> Compiled:
    """Compile a function that makes arrays."""
    return Compiled(function)


def every_function() -> tuple[Compiled, ...]:
    """All functions of the modules imported so far."""
    return tuple(_functions)


@contextmanager
def compiling(progress: Progress) -> Iterator[None]:
    """While this goes on, tell how many functions have been compiled, of how many, each time that one is.

    Where some were loaded, it may be all of them at once in the end.
    """
    _listeners.append(progress)
    try:
        yield
    finally:
        _listeners.remove(progress)


def nothing_left() -> None:
    """Tell whoever was told of something compiled that there is no more to come."""
    if any(function.has_been_compiled for function in _functions):
        _tell(len(_functions))


def _tell(done: int) -> None:
    for listener in _listeners:
        listener(done, len(_functions))


def _jit(compiled: Compiled, **more: bool) -> Any:
    import numba

    # Two of the options are not in numba's typed interface.
    njit: Any = numba.njit
    return njit(nogil=True, error_model="numpy", **compiled.options, **more)(compiled.function)
