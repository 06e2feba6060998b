"""Loyalty: what it is worth to keep links that there were."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.layout.tables import OWNER, PEER, LinkTables

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Loyalty(NamedTuple):
    """links: (m, 2) that there were, i < j. known: (n,) nodes that there were. worth: of a link that is kept instead of
    being exchanged for another, in Mbit/s. Half of it is lost with a link that goes, and half is the price of one that
    comes between two nodes that there were."""

    links: IntArray
    known: npt.NDArray[np.bool_]
    worth: float

    def prices(self, tables: LinkTables) -> FloatArray:
        """(p,) what a link costs at each of its two slots: less than nothing for what there was."""
        n, ends = tables.nodes, np.sort(tables.ints[[OWNER, PEER]], axis=0).astype(np.int64)
        were = np.isin(ends[0] * n + ends[1], self.links[:, 0] * n + self.links[:, 1])
        possible = self.known[ends].all(axis=0)
        return np.asarray(np.where(were, -1, possible) * self.worth / 4)
