"""Minimum spanning forests and the parity that comes with a tree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder
from manetdiff.layout import Layout

IntArray = npt.NDArray[np.int64]


def spanning_forest(layout: Layout, allowed: npt.NDArray[np.bool_] | None = None) -> tuple[IntArray, IntArray]:
    """Links (m, 2) of the shortest spanning forest of the candidate links, and its parity (n,).

    - allowed: (n, n) symmetric, pairs to take instead of the candidates.

    A tree has two colours: with its parity every link joins opposite nodes. This is how every fleet that is connected
    within range has a valid network.
    """
    links, parity = _prim(layout.tables.distance, layout.tables.candidate if allowed is None else allowed)
    return links, parity


@builder
def _prim(distance, allowed):  # type: ignore[no-untyped-def]
    n = len(distance)
    links = np.empty((n, 2), dtype=np.int64)
    parity = np.zeros(n, dtype=np.int64)
    shortest = np.full(n, np.inf)
    parent = np.full(n, -1, dtype=np.int64)
    done = np.zeros(n, dtype=np.bool_)
    size = 0
    for _ in range(n):
        at = -1
        for k in range(n):
            if not done[k] and (at < 0 or shortest[k] < shortest[at]):
                at = k
        done[at] = True
        if parent[at] >= 0:
            links[size, 0] = min(at, parent[at])
            links[size, 1] = max(at, parent[at])
            size += 1
            parity[at] = 1 - parity[parent[at]]
        for k in range(n):
            if not done[k] and allowed[at, k] and distance[at, k] < shortest[k]:
                shortest[k] = distance[at, k]
                parent[k] = at
    return links[:size].copy(), parity
