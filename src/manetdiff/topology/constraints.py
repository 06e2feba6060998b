"""The constraints one by one: connectivity, parity, sectors, range."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.radio import LinkTables
from manetdiff.topology.topology import Topology

IntArray = npt.NDArray[np.int64]


def component_labels(links: IntArray, n: int) -> IntArray:
    """(n,) label of each node's connected component: the smallest node index in it."""
    root = list(range(n))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for i, j in links.tolist():
        a, b = find(i), find(j)
        root[max(a, b)] = min(a, b)
    return np.array([find(i) for i in range(n)], dtype=np.int64)


def same_parity(topology: Topology) -> npt.NDArray[np.bool_]:
    """(m,) links that join two nodes of one parity: such a link can carry nothing."""
    return np.asarray(topology.parity[topology.links[:, 0]] == topology.parity[topology.links[:, 1]])


def antenna_loads(topology: Topology, tables: LinkTables) -> IntArray:
    """(n, Q) links on each antenna, violations included; more than one saturates it."""
    loads = np.zeros((len(topology), tables.sectors), dtype=np.int64)
    for i, j in (topology.links.T, topology.links.T[::-1]):
        np.add.at(loads, (i, tables.sector[i, j]), 1)
    return loads


def out_of_range(topology: Topology, tables: LinkTables) -> npt.NDArray[np.bool_]:
    """(m,) links longer than the radio's range."""
    return ~tables.candidate[topology.links[:, 0], topology.links[:, 1]]
