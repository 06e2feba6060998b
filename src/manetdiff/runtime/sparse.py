"""Sparse networks: they decide on a layout's candidate links, and take and give lists over them as the runtime has
them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.runtime.form import TOGETHER

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

# Arcs of all graphs that take a step together, unless one graph alone has more: it bounds the memory that a step takes
# on large fleets.
ARCS_TOGETHER = 2**14


class SparseForm:
    """See `Form`."""

    def read(self, layout: Layout) -> dict[str, npt.NDArray[Any]]:
        """What the function `layout` takes, and a step, too."""
        return {name: array for name, array in layout.arcs._asdict().items() if name != "links"}

    def pairs(self, layout: Layout) -> IntArray:
        """The candidates."""
        return layout.arcs.links

    def together(self, c: int) -> int:
        """So many as have no more than so many arcs, or one."""
        return min(TOGETHER, max(1, ARCS_TOGETHER // max(1, 2 * c)))

    def taken(self, lists: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
        """Lists as they are."""
        return lists

    def given(self, arrays: Mapping[str, FloatArray]) -> Mapping[str, FloatArray]:
        """Lists as they are."""
        return arrays
