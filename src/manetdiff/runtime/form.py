"""What is particular to a kind of network: what it reads of a layout, and how its functions have links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout

Array = npt.NDArray[np.float32]

# Graphs that take a step together at most. More would fall out of the core's cache; fewer cost more calls.
TOGETHER = 8


class Form(Protocol):
    """The rest of the runtime has lists over pairs, (b, c), by their names in the contract of sparse networks."""

    def read(self, layout: Layout) -> Mapping[str, npt.NDArray[Any]]:
        """What the function `layout` takes."""

    def pairs(self, layout: Layout) -> npt.NDArray[np.int64]:
        """(c, 2) with i < j, the pairs that the network decides on."""

    def together(self, c: int) -> int:
        """Graphs with c pairs that take a step together. By the layout alone: on another machine, too, the same graphs
        must come out, and a batch of another size may round otherwise."""

    def taken(self, lists: Mapping[str, Array]) -> Mapping[str, Array]:
        """Lists as the functions take them."""

    def given(self, arrays: Mapping[str, Array]) -> Mapping[str, Array]:
        """What functions gave, as lists."""
