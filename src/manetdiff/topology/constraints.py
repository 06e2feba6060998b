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
    for i, j in (topology.links.T, topology.links.T[::-1]):
        np.add.at(loads, (i, layout.tables.sector[i, j]), 1)
    return loads


def out_of_range(topology: Topology, layout: Layout) -> npt.NDArray[np.bool_]:
    """(m,) links longer than the radio's range."""
    return ~layout.tables.candidate[topology.links[:, 0], topology.links[:, 1]]
