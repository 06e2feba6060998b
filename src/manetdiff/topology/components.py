"""Connected components of a set of links."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import kernel

IntArray = npt.NDArray[np.int64]


def component_labels(links: IntArray, n: int) -> IntArray:
    """(n,) label of each node's connected component: the smallest node index in it."""
    label = np.empty(n, dtype=np.int64)
    # A copy, because numba would compile the kernel anew for links that are read-only or ordered otherwise.
    label_components(np.array(links, order="C"), label)
    return label


def count_components(links: IntArray, n: int) -> int:
    """Number of connected components."""
    return int(label_components(np.array(links, order="C"), np.empty(n, dtype=np.int64)))


@kernel
def label_components(links, label):  # type: ignore[no-untyped-def]
    """Write each node's component, its smallest node, into label (n,); return how many there are."""
    count = len(label)
    for i in range(count):
        label[i] = i
    for m in range(len(links)):
        a, b = links[m, 0], links[m, 1]
        while label[a] != a:
            a = label[a]
        while label[b] != b:
            b = label[b]
        if a != b:
            label[max(a, b)] = min(a, b)
            count -= 1
    # What a label points at is smaller, and final already.
    for i in range(len(label)):
        label[i] = label[label[i]]
    return count
