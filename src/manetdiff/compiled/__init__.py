"""How the project compiles its inner loops, and where compiled code is kept.

`kernel` is for functions that allocate nothing, `builder` for functions that make arrays; Python calls both, and so do
they each other. Code is looked for in what is packaged for this platform, then in the user's cache folder; only what
neither has is compiled.
"""

from manetdiff.compiled.functions import NOBODY, builder, compiling, every_function, kernel, nothing_left
from manetdiff.compiled.store import where

__all__ = ["NOBODY", "builder", "compiling", "every_function", "kernel", "nothing_left", "where"]
