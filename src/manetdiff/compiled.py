"""How the project compiles its inner loops with numba.

Both decorators cache what they compile and release the interpreter lock.

`kernel` is for functions that allocate nothing: numba then leaves out the counting of array references, which
otherwise costs more than the arithmetic in functions of a hundred nanoseconds that take their arrays in tuples.
`builder` is for functions that make arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba as nb
import numpy as np

Compile = Callable[[Callable[..., Any]], Callable[..., Any]]

# `_nrt` is not in numba's typed interface; its own containers are compiled with it.
kernel: Compile = nb.njit(cache=True, nogil=True, error_model="numpy", _nrt=False)  # type: ignore[call-overload]
builder: Compile = nb.njit(cache=True, nogil=True, error_model="numpy")

# 'No node' as an argument of compiled functions. A plain -1 has a type of its own for numba, which would compile every
# function that it is handed to a second time.
NOBODY = np.int64(-1)


# The rooms whose compiled functions others call; a test holds the list.
COMPILED_ROOMS = ("radio", "layout", "topology", "solvers")


def _drop_stale_caches() -> None:
    """Delete cached code older than the newest source file that compiled code is made from.

    numba checks only the file that a function stands in, not those of the functions that it calls: without this, an
    edit of one file would leave old machine code running behind another.
    """
    package = Path(__file__).parent
    sources = [Path(__file__), *(source for room in COMPILED_ROOMS for source in (package / room).glob("*.py"))]
    newest = max(source.stat().st_mtime for source in sources)
    for index in package.rglob("__pycache__/*.nbi"):
        try:
            if index.stat().st_mtime < newest:
                index.unlink()
        except OSError:
            # Another process was quicker, or the package is not ours to write to.
            continue


_drop_stale_caches()
