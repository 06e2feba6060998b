"""Compiled code between numba and the store: taken out of what numba has made, and made into what numba can call.

This is the only file that knows numba from within. Whatever is not as it expects (another numba, a damaged file) counts
as 'not kept': the function is compiled, which is always right.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from manetdiff.compiled import store
from manetdiff.compiled.identity import digest


class Keeper:
    """Stands where numba has a cache of its own, one for each function.

    - what: the function's name and its program; None if its code is not to be kept. compiled: called after compiling.
    """

    cache_path = None

    def __init__(self, what: tuple[str, str] | None, compiled: Callable[[], None]) -> None:
        self._what, self._compiled = what, compiled

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What numba calls before it compiles: the compiled function for these types of arguments, or None."""
        name = self._name(signature)
        if name is None:
            return None
        for kept in store.kept(name):
            with suppress(Exception):  # of a pickle, or of LLVM: there is no end to what damaged code may raise
                return _rebuilt(kept, target)
        return None

    def save_overload(self, signature: Any, made: Any) -> None:
        """What numba calls after it has compiled."""
        self._compiled()
        name = self._name(signature)
        if name is not None and store.keeps():
            with suppress(Exception):  # numba's own, if it is another than we know
                store.keep(name, _reduced(made))

    def enable(self) -> None:
        """Of numba's interface."""

    def disable(self) -> None:
        """Of numba's interface."""

    def flush(self) -> None:
        """Of numba's interface."""

    def _name(self, signature: Any) -> str | None:
        """Under which the code is kept: for people to read, and for nothing else to have."""
        if self._what is None:
            return None
        function, program = self._what
        # numba calls the type of a named tuple by what is in it; the order of its fields is compiled in, too.
        fields = [getattr(kind, "fields", ()) for kind in getattr(signature, "args", signature)]
        return f"{function}-{digest(program, str(signature), repr(fields))}"


def _reduced(made: Any) -> bytes:
    """Machine code and what is needed to call it."""
    from numba.core.serialize import dumps

    (name, kind, (machine_code, _)), *parts = made._reduce()
    parts[_ANNOTATION] = ""
    packed: bytes = dumps(((name, kind, (machine_code, _names(made.fndesc))), *parts))  # type: ignore[no-untyped-call]
    return packed


# Where numba's description of the types, for people, stands among the parts.
_ANNOTATION = 5


def _names(described: Any) -> bytes:
    """The names that machine code defines. numba looks for them where it has the bitcode, which takes two thirds of the
    space and is only needed to link a function into others."""
    import llvmlite.binding as llvm

    defined = (described.mangled_name, described.llvm_cpython_wrapper_name, described.llvm_cfunc_wrapper_name)
    module = llvm.parse_assembly("".join(f'define void @"{name}"() {{ ret void }}\n' for name in defined))
    return bytes(module.as_bitcode())


def _rebuilt(kept: bytes, target: Any) -> Any:
    from numba.core.compiler import CompileResult

    target.refresh()
    return CompileResult._rebuild(target, *pickle.loads(kept))  # type: ignore[no-untyped-call]
