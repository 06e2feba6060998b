"""The paper's heuristic baselines: MST with greedy additions (for omnidirectional radios, too), Huang-style sectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import NOBODY, kernel
from manetdiff.layout import Layout
from manetdiff.radio.tables import CANDIDATE, SECTOR
from manetdiff.solvers.gains import gain_of_free_link
from manetdiff.solvers.spanning import spanning_forest
from manetdiff.solvers.state import (
    add_link,
    begin,
    linked,
    new_state,
    read_links,
    rollback,
    settle,
    total,
)
from manetdiff.solvers.walks import LOAD

IntArray = npt.NDArray[np.int64]


def mst_greedy_links(layout: Layout, share_antennas: bool = False) -> tuple[IntArray, IntArray]:
    """The shortest spanning forest, its parity, and then the links that raise T most, one by one, while any does.

    - share_antennas: also add links to antennas in use (the airtime that this costs is part of T).
    """
    links, parity = spanning_forest(layout)
    state = new_state(layout.tables, links, parity)
    _add_greedily(layout.tables, state, share_antennas)
    return read_links(state), parity


def huang_links(layout: Layout) -> tuple[IntArray, IntArray]:
    """Sector-wise nearest-neighbour topology control, Huang-style (after Huang et al. 2002).

    Each node asks for the nearest neighbour in each of its sectors; a pair is linked if either end asks for it. The
    scheme knows no slots: parity is that of the shortest spanning forest of the pairs, and pairs inside one parity
    are dropped.
    """
    n, tables = len(layout), layout.tables
    asked = np.zeros((n, n), dtype=np.bool_)
    for a in range(layout.radio.sectors):
        inside = np.where(tables.candidate & (tables.sector == a), tables.distance, np.inf)
        nearest = inside.argmin(axis=1)
        some = np.isfinite(inside[np.arange(n), nearest])
        asked[np.flatnonzero(some), nearest[some]] = True
    asked |= asked.T
    _, parity = spanning_forest(layout, asked)
    kept = asked & (parity[:, None] != parity[None, :])
    return np.ascontiguousarray(np.argwhere(np.triu(kept))), parity


@kernel
def _add_greedily(tables, state, share_antennas):  # type: ignore[no-untyped-def]
    """Add the link that raises T most, again and again, until none does."""
    n = len(state.parity)
    while True:
        best_gain, best_i, best_j = 1e-9, NOBODY, NOBODY
        for i in range(n):
            for j in range(i + 1, n):
                if state.parity[i] == state.parity[j] or not tables.ints[CANDIDATE, i, j] or linked(state, i, j):
                    continue
                a, b = tables.ints[SECTOR, i, j], tables.ints[SECTOR, j, i]
                gain = -np.inf
                if state.ints[LOAD, i, a] == 0 and state.ints[LOAD, j, b] == 0:
                    gain = gain_of_free_link(tables, state, i, j)
                elif share_antennas:
                    before = total(state)
                    begin(state)
                    add_link(tables, state, i, j)
                    settle(tables, state)
                    gain = total(state) - before
                    rollback(state, before)
                if gain > best_gain:
                    best_gain, best_i, best_j = gain, np.int64(i), np.int64(j)
        if best_i < 0:
            return
        add_link(tables, state, best_i, best_j)
        settle(tables, state)
        begin(state)
