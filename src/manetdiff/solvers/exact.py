"""Full enumeration: every parity, every set of candidate links. The yardstick of all other solvers.

It shares nothing with them but the physics: each topology is scored from scratch.
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import builder
from manetdiff.errors import SolverError
from manetdiff.layout import Layout
from manetdiff.radio.rates import throughput_kernel
from manetdiff.solvers.result import Found, found
from manetdiff.topology.components import label_components

LARGEST = 8


def enumerate_all(layout: Layout) -> Found:
    """The topology with the fewest components and, among those, the highest T."""
    if len(layout) > LARGEST:
        raise SolverError(
            f"method 'exact' enumerates every topology and takes up to {LARGEST} nodes, not {len(layout)}; "
            "use 'reference'"
        )
    place = layout.placement
    allowed = place.linkable(place.every_pair)
    if len(layout.banned):
        allowed &= ~layout.banned
    links, parity, scored = _enumerate(place.every_pair, place.every_gain, place.constants, allowed)
    return found(layout, links, parity, "exact").with_report(topologies=int(scored))


@builder
def _enumerate(every, every_gain, constants, candidate):  # type: ignore[no-untyped-def]
    n = len(candidate)
    best_links = np.empty((0, 2), dtype=np.int64)
    best_parity = np.zeros(n, dtype=np.int64)
    best_components, best_total = n + 1, -1.0
    label = np.empty(n, dtype=np.int64)
    scored = 0
    # The last node keeps parity 0: turning all of them changes nothing.
    for colours in range(1 << (n - 1)):
        parity = np.empty(n, dtype=np.int64)
        for i in range(n):
            parity[i] = (colours >> i) & 1
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
                    links[size, 0], links[size, 1] = pairs[m, 0], pairs[m, 1]
                    size += 1
            components = label_components(links[:size], label)
            if components <= best_components:
                scored += 1
                total = throughput_kernel(every, every_gain, constants, links[:size], parity)
                if components < best_components or total > best_total:
                    best_components, best_total = components, total
                    best_links, best_parity = links[:size].copy(), parity
    return best_links, best_parity, scored
