"""Dense networks: what the runtime has as lists over pairs, (b, c), their functions take and give as symmetric
matrices, (b, n, n), with a place for every pair of nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.runtime.form import TOGETHER

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

# What the functions call what they take and give as matrices.
TAKEN = {
    "links": "edges",
    "noise_links": "noise_edges",
    "drawn_links": "drawn_edges",
    "link_bias": "edge_bias",
    "guide": "guide",
    "guide_weight": "guide_weight",
}
GIVEN = {"noise_edges": "noise_links", "edges_after": "links_after", "edge_shares": "link_shares"}


class DenseForm:
    """See `Form`."""

    def read(self, layout: Layout) -> dict[str, npt.NDArray[Any]]:
        """What the function `layout` takes."""
        node, pair, sector = layout.features
        return {"node": node[None], "pair": pair[None], "sector": sector[None]}

    def pairs(self, layout: Layout) -> IntArray:
        """Every pair."""
        return every_pair(len(layout))

    def together(self, c: int) -> int:
        """As many as may be, however large."""
        return TOGETHER

    def taken(self, lists: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Lists as the functions take them."""
        return {TAKEN.get(name, name): as_matrices(array) if name in TAKEN else array for name, array in lists.items()}

    def given(self, arrays: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """What functions gave, as lists."""
        return {GIVEN.get(name, name): as_lists(array) if name in GIVEN else array for name, array in arrays.items()}


def every_pair(n: int) -> IntArray:
    """(n (n - 1) / 2, 2) pairs i < j of n nodes, in the order of i, then j."""
    return np.column_stack(np.triu_indices(n, 1)).astype(np.int64)


def as_matrices(lists: FloatArray) -> FloatArray:
    """(b, n, n), 0 on the diagonal, from (b, n (n - 1) / 2)."""
    n = (1 + math.isqrt(1 + 8 * lists.shape[1])) // 2
    above, below = _places(n)
    matrices = np.zeros((len(lists), n * n), dtype=np.float32)
    matrices[:, above] = lists
    matrices[:, below] = lists
    return matrices.reshape(-1, n, n)


def as_lists(matrices: FloatArray) -> FloatArray:
    """The inverse: what is above the diagonal."""
    n = matrices.shape[-1]
    return matrices.reshape(-1, n * n)[:, _places(n)[0]]


@lru_cache(maxsize=64)
def _places(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Of every pair in a matrix as one row: above the diagonal, and below it."""
    i, j = np.triu_indices(n, 1)
    return i * n + j, j * n + i
