"""The constraints one by one: parity, sectors, range."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.topology.topology import Topology

IntArray = npt.NDArray[np.int64]


def same_parity(topology: Topology) -> npt.NDArray[np.bool_]:
    """(m,) links that join two nodes of one parity: such a link can carry nothing."""
    return np.asarray(topology.parity[topology.links[:, 0]] == topology.parity[topology.links[:, 1]])


def antenna_loads(topology: Topology, layout: Layout) -> IntArray:
    """(n, Q) links on each antenna, violations included; more than one saturates it."""
    loads = np.zeros((len(topology), layout.radio.sectors), dtype=np.int64)
    np.add.at(loads, (topology.links, layout.pairs(topology.links).sector), 1)
    return loads


def out_of_range(topology: Topology, layout: Layout) -> npt.NDArray[np.bool_]:
    """(m,) links that cannot be: longer than the radio's range, or in a direction that is blocked."""
    return ~layout.linkable(topology.links)
