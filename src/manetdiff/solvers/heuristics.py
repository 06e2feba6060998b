"""The paper's heuristic baselines: MST with greedy additions (for omnidirectional radios, too), Huang-style sectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.layout.tables import BY_ANTENNA, FACING, OWNER, PEER
from manetdiff.solvers.additions import add_best
from manetdiff.solvers.spanning import forest_of, spanning_forest, two_colours
from manetdiff.solvers.workbench import Workbench

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# What counts as a gain, in Mbit/s.
LEAST_GAIN = 1e-9


def mst_greedy_links(layout: Layout, share_antennas: bool = False) -> tuple[IntArray, IntArray]:
    """The shortest spanning forest, its parity, and then the links that raise T most, one by one, while any does.

    - share_antennas: also add links to antennas in use (the airtime that this costs is part of T).
    """
    bench = Workbench(layout)
    put_mst_greedy(bench, share_antennas)
    return bench.links, bench.parity


def put_mst_greedy(bench: Workbench, share_antennas: bool = False) -> None:
    """The same, left on the bench."""
    bench.put(*spanning_forest(bench.layout))
    add_best(bench, LEAST_GAIN, joining=False, share_antennas=share_antennas)
    bench.look_afar()


def huang_links(layout: Layout) -> tuple[IntArray, IntArray]:
    """Sector-wise nearest-neighbour topology control, Huang-style (after Huang et al. 2002).

    Each node asks for the nearest neighbour in each of its sectors; a pair is linked if either end asks for it. The
    scheme knows no slots: parity is that of the shortest spanning forest of the pairs, and pairs inside one parity
    are dropped.
    """
    n, tables = len(layout), layout.tables
    begin, end = tables.starts[FACING, :-1], tables.starts[FACING, 1:]
    nearest = tables.lists[BY_ANTENNA, begin[end > begin]]
    pairs = np.sort(tables.ints[[OWNER, PEER]][:, nearest].T.astype(np.int64), axis=1)
    asked = np.unique(pairs, axis=0)
    parity = two_colours(forest_of(asked, layout.pairs(asked).distance[:, 0], n), n)
    return np.ascontiguousarray(asked[parity[asked[:, 0]] != parity[asked[:, 1]]]), parity
