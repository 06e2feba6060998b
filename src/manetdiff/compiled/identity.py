"""What compiled code depends on: the program that it is made from, and what it is made by and for.

numba compiles a function's bytecode, with the values of the globals that it names as constants. So that is what a
program is here, with those of all functions that it calls: an edit of one function leaves the code of the others
standing, and an edit of a comment leaves all of it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import types
from collections.abc import Callable, Iterator
from types import NoneType
from typing import Any

import numpy as np

# Raised when what is stored, or how, changes.
LAYOUT = 1
# Of numba's settings in the environment, those that change nothing in the code.
IRRELEVANT = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")


def digest(*parts: str) -> str:
    """Short, the same for the same parts, and for no others."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def program_of(function: Callable[..., Any]) -> str:
    """A digest of a function and of all compiled functions that it calls, directly or not."""
    seen: dict[str, str] = {}
    _collect(function, seen)
    return digest(*(part for named in sorted(seen.items()) for part in named))


def platform_tag(digits: int | None = None) -> str:
    """System, processor family and versions: code from elsewhere does not fit.

    - digits: of the versions of numba and LLVM; None: all of them.
    """
    import llvmlite
    import numba

    of_numba, of_llvm = (".".join(one.__version__.split(".")[:digits]) for one in (numba, llvmlite))
    made_by = f"numba-{of_numba}-llvmlite-{of_llvm}"
    return f"{platform.system()}-{platform.machine()}-{sys.implementation.cache_tag}-{made_by}".lower()


def settings() -> str:
    """Numba's settings in the environment that change what it makes."""
    found = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_") and name not in IRRELEVANT}
    return " ".join(f"{name}={value}" for name, value in sorted(found.items()))


def processor() -> str:
    """What numba compiles for here: the very processor, unless it is told otherwise."""
    import llvmlite.binding as llvm
    from numba import config as known

    # As read by numba itself; the features say what the name does not, as where a virtual machine hides some.
    config: Any = known
    name, features = config.CPU_NAME or llvm.get_host_cpu_name(), config.CPU_FEATURES
    return f"{name} {llvm.get_host_cpu_features().flatten() if features is None else features}"


def _collect(function: Callable[..., Any], seen: dict[str, str]) -> None:
    name = f"{function.__module__}.{function.__qualname__}"
    if name in seen:
        return
    seen[name] = ""  # a function may call itself
    code = function.__code__
    described = [repr(function.__defaults__), *_described(code, function.__doc__)]
    for used in sorted(_global_names(code)):
        if used not in function.__globals__:
            continue  # of Python itself, or an attribute
        value = function.__globals__[used]
        called = getattr(value, "function", None)
        if isinstance(called, types.FunctionType):
            described.append(f"{used} calls {called.__module__}.{called.__qualname__} {sorted(value.options.items())}")
            _collect(called, seen)
        else:
            described.append(f"{used} = {_value(value)}")
    seen[name] = digest(*described)


def _described(code: types.CodeType, docstring: str | None = None) -> Iterator[str]:
    """Everything that a code object does, without where it stands and what is said about it."""
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames), repr(code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _described(constant)
        elif constant is None or constant != docstring:
            yield f"{type(constant).__name__} {constant!r}"
        else:
            yield "docstring"


def _global_names(code: types.CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_global_names, inner))


def _value(value: object) -> str:
    """A global as compiled code sees it: a number by its value, anything else by its name."""
    if isinstance(value, bool | int | float | str | tuple | np.generic | NoneType):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__qualname__
