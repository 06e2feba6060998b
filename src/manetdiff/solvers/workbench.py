"""A layout's search state and what goes with it, made once and used for one topology after another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.radio import LinkTables
from manetdiff.solvers.moves import nearest_first
from manetdiff.solvers.state import new_state, read_links, reset, total
from manetdiff.solvers.walks import count_parts

IntArray = npt.NDArray[np.int64]


class Workbench:
    """tables: of the layout. state: of the topology on the bench; near, near_start: see `nearest_first`.
    label: (n,) and load: (n, Q), room for components and for links on each antenna."""

    def __init__(self, tables: LinkTables) -> None:
        n = tables.nodes
        self.tables = tables
        self.near, self.near_start = nearest_first(tables)
        self.state = new_state(tables, np.empty((0, 2), dtype=np.int64), np.zeros(n, dtype=np.int64))
        self.label = np.empty(n, dtype=np.int64)
        self.load = np.zeros((n, tables.sectors), dtype=np.int64)

    def put(self, links: IntArray, parity: IntArray) -> None:
        """Put a topology on the bench: links (m, 2) of opposite parity (n,), within range."""
        reset(self.tables, self.state, links, parity)

    @property
    def links(self) -> IntArray:
        """Those of the topology on the bench."""
        return read_links(self.state)

    @property
    def parity(self) -> IntArray:
        """A copy of the parity on the bench."""
        return self.state.parity.copy()

    @property
    def throughput(self) -> float:
        """T of the topology on the bench."""
        return float(total(self.state))

    @property
    def parts(self) -> int:
        """Components of the topology on the bench."""
        return int(count_parts(self.state))
