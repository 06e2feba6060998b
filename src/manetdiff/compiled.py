"""How the project compiles its inner loops with numba.

Both decorators cache what they compile and release the interpreter lock.

`kernel` is for functions that allocate nothing: numba then leaves out the counting of array references, which
otherwise costs more than the arithmetic in functions of a hundred nanoseconds that take their arrays in tuples.
`builder` is for functions that make arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]

kernel: Compile = nb.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
builder: Compile = nb.njit(cache=True, nogil=True, error_model="numpy")
