"""What T would be if some links of a topology were others, computed exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.radio import throughput
from manetdiff.topology import Topology

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


class WhatIf:
    """A topology with links put in and taken away.

    - layouts: that T is the mean over, of the same nodes. Antennas are those on the first of them.
    - links: (m, 2), parity: (n,), of the topology. antennas: (m, 2), as node · Q + sector. throughput: T, in Mbit/s.
    """

    def __init__(self, topology: Topology, layouts: Sequence[Layout]) -> None:
        self.layouts = layouts
        self.links, self.parity = topology.links, topology.parity
        self.antennas = self.antennas_of(self.links)
        self.throughput = self.throughput_of(self.links)

    def antennas_of(self, links: IntArray) -> IntArray:
        """(m, 2) the antennas that links (m, 2) leave from."""
        here = self.layouts[0]
        return np.asarray(links * here.radio.sectors + here.pairs(links).sector)

    def in_the_way(self, antennas: IntArray) -> BoolArray:
        """(m,) links of the topology that hold one of some antennas."""
        return np.asarray(np.isin(self.antennas, antennas).any(axis=1))

    def swapped(self, link: IntArray, gone: BoolArray) -> IntArray:
        """The links with one more (2,) and without those that are gone (m,)."""
        return np.concatenate([self.links[~gone], link[None]])

    def throughput_of(self, links: IntArray) -> float:
        """T of other links under the same parity."""
        return float(np.mean([throughput(layout.placement, links, self.parity) for layout in self.layouts]))
