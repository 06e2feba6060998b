"""Spanning forests, and the parity that comes with a tree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder
from manetdiff.layout import Layout
from manetdiff.solvers.union import unite

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


def spanning_forest(layout: Layout) -> tuple[IntArray, IntArray]:
    """Links (m, 2) of the shortest spanning forest of all pairs that may be linked, and its parity (n,).

    A tree has two colours: with its parity every link joins opposite nodes. This is how every fleet that is connected
    within range has a valid network.
    """
    links = layout.choice.tree
    return links, two_colours(links, len(layout))


def forest_of(links: IntArray, length: FloatArray, n: int) -> IntArray:
    """Of links (m, 2) of so much length each those of the shortest spanning forest, by Kruskal."""
    ordered = links[np.argsort(length, kind="stable")]
    return np.asarray(ordered[_joins(np.ascontiguousarray(ordered), n)])


@builder
def _joins(links, n):  # type: ignore[no-untyped-def]
    """(m,) whether a link, after those before it, joins two parts."""
    part = np.arange(n)
    new = np.zeros(len(links), dtype=np.bool_)
    for m in range(len(links)):
        new[m] = unite(part, links[m, 0], links[m, 1])
    return new


@builder
def two_colours(links, n):  # type: ignore[no-untyped-def]
    """(n,) 0 or 1, so that every link of a forest (m, 2) joins the two; the smallest node of each tree has 0."""
    start = np.zeros(n + 1, dtype=np.int64)
    for m in range(len(links)):
        for end in range(2):
            start[links[m, end] + 1] += 1
    for i in range(n):
        start[i + 1] += start[i]
    peers, filled = np.empty(2 * len(links), dtype=np.int64), start[:n].copy()
    for m in range(len(links)):
        for end in range(2):
            i = links[m, end]
            peers[filled[i]] = links[m, 1 - end]
            filled[i] += 1
    colour = np.full(n, -1, dtype=np.int64)
    waiting = np.empty(n, dtype=np.int64)
    for root in range(n):
        if colour[root] < 0:
            colour[root], waiting[0] = 0, root
            head, tail = 0, 1
            while head < tail:
                at = waiting[head]
                head += 1
                for m in range(start[at], start[at + 1]):
                    if colour[peers[m]] < 0:
                        colour[peers[m]] = 1 - colour[at]
                        waiting[tail] = peers[m]
                        tail += 1
    return colour
