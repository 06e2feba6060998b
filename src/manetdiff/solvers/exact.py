"""Full enumeration: every parity, every set of candidate links. The yardstick of all other solvers.

It shares nothing with them but the physics: each topology is scored from scratch.
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import builder, kernel
from manetdiff.errors import SolverError
from manetdiff.radio import LinkTables
from manetdiff.radio.rates import throughput_kernel
from manetdiff.solvers.result import Found, found

LARGEST = 8


def enumerate_all(tables: LinkTables) -> Found:
    """The topology with the fewest components and, among those, the highest T."""
    if tables.nodes > LARGEST:
        raise SolverError(
            f"method 'exact' enumerates every topology and takes up to {LARGEST} nodes, not {tables.nodes}; "
            "use 'reference'"
        )
    links, parity, scored = _enumerate(tables, tables.candidate)
    return found(tables, links, parity, "exact").with_report(topologies=int(scored))


@builder
def _enumerate(tables, candidate):  # type: ignore[no-untyped-def]
    n = len(candidate)
    best_links = np.empty((0, 2), dtype=np.int64)
    best_parity = np.zeros(n, dtype=np.int64)
    best_components, best_total = n + 1, -1.0
    root = np.empty(n, dtype=np.int64)
    scored = 0
    # The last node keeps parity 0: turning all of them changes nothing.
    for colours in range(1 << (n - 1)):
        parity = np.array([(colours >> i) & 1 for i in range(n)])
        pairs = np.empty((n * n, 2), dtype=np.int64)
        count = 0
        for i in range(n):
            for j in range(i + 1, n):
                if candidate[i, j] and parity[i] != parity[j]:
                    pairs[count, 0] = i
                    pairs[count, 1] = j
                    count += 1
        for chosen in range(1 << count):
            links = np.empty((count, 2), dtype=np.int64)
            size = 0
            for m in range(count):
                if (chosen >> m) & 1:
                    links[size] = pairs[m]
                    size += 1
            components = _count_components(links[:size], root)
            if components <= best_components:
                scored += 1
                total = throughput_kernel(tables, links[:size], parity)
                if components < best_components or total > best_total:
                    best_components, best_total = components, total
                    best_links, best_parity = links[:size].copy(), parity
    return best_links, best_parity, scored


@kernel
def _count_components(links, root):  # type: ignore[no-untyped-def]
    count = len(root)
    for i in range(count):
        root[i] = i
    for m in range(len(links)):
        a, b = links[m, 0], links[m, 1]
        while root[a] != a:
            a = root[a]
        while root[b] != b:
            b = root[b]
        if a != b:
            root[max(a, b)] = min(a, b)
            count -= 1
    return count
