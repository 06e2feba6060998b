"""The topology: which nodes are linked, and in which slot each node transmits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manetdiff.errors import TopologyError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.topology.report import Report

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Topology:
    """Undirected links and a parity per node.

    - links: (m, 2) node indices with i < j, sorted, each pair once.
    - parity: (n,) of 0 (transmits in slot A, receives in slot B) and 1 (the reverse).
    - report: how it was made. layout: the fleet and radio that it was made for, where that is known. Two topologies are
      equal if their links and parity are.
    """

    links: IntArray
    parity: IntArray
    report: Report
    layout: Layout | None

    def __init__(
        self,
        links: npt.ArrayLike,
        parity: npt.ArrayLike,
        report: Report | None = None,
        layout: Layout | None = None,
    ) -> None:
        checked_parity = _checked_parity(parity)
        checked_links = _checked_links(links, len(checked_parity))
        checked_links.flags.writeable = False
        checked_parity.flags.writeable = False
        object.__setattr__(self, "links", checked_links)
        object.__setattr__(self, "parity", checked_parity)
        object.__setattr__(self, "report", Report() if report is None else report)
        object.__setattr__(self, "layout", layout)
        if layout is not None:
            self.check_fits(len(layout))

    @classmethod
    def of_sound(cls, links: IntArray, parity: IntArray, report: Report, layout: Layout) -> Topology:
        """From arrays that are known to be as a topology has them, read-only ones: for those who make thousands a
        second, of which checking would take most of the time."""
        made = object.__new__(cls)
        made.__dict__.update(links=links, parity=parity, report=report, layout=layout)
        return made

    @classmethod
    def from_adjacency(cls, adjacency: npt.ArrayLike, parity: npt.ArrayLike) -> Topology:
        """From a symmetric (n, n) matrix of 0 and 1; the diagonal is ignored."""
        matrix = np.asarray(adjacency) != 0
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise TopologyError(f"an adjacency matrix must be square, not {matrix.shape}")
        if not np.array_equal(matrix, matrix.T):
            raise TopologyError("an adjacency matrix must be symmetric: links have no direction")
        return cls(np.argwhere(np.triu(matrix, 1)), parity)

    @property
    def adjacency(self) -> npt.NDArray[np.bool_]:
        """Symmetric (n, n) matrix of the links."""
        matrix = np.zeros((len(self), len(self)), dtype=np.bool_)
        matrix[self.links[:, 0], self.links[:, 1]] = True
        return matrix | matrix.T

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.parity)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Topology):
            return NotImplemented
        return np.array_equal(self.links, other.links) and np.array_equal(self.parity, other.parity)

    def __hash__(self) -> int:
        return hash((self.links.tobytes(), self.parity.tobytes()))

    def __repr__(self) -> str:
        return f"Topology(nodes={len(self)}, links={len(self.links)})"

    def on(self, where: Fleet | Layout | None = None, radio: Radio | None = None) -> Layout:
        """The layout to look at it on: its own, or that of another fleet, radio or both.

        A radio that is not given is the one that the topology was made for; the default where that is not known.
        """
        own = self.layout
        if where is None:
            if own is None:
                raise TopologyError("the topology does not know its fleet: say which one it belongs to")
            return Layout.of(own, radio)
        layout = Layout.of(
            where, own.radio if radio is None and own is not None and isinstance(where, Fleet) else radio
        )
        self.check_fits(len(layout))
        if own is not None and layout.fleet is own.fleet and layout.radio == own.radio:
            return own if isinstance(where, Fleet) else layout  # with what was computed for it already
        return layout

    def with_report(self, **entries: Any) -> Topology:
        """The same with other entries in its report."""
        return Topology(self.links, self.parity, self.report.replace(**entries), self.layout)

    def check_fits(self, n: int) -> None:
        """Raise unless this topology is one of n nodes."""
        if len(self) != n:
            raise TopologyError(f"the topology has {len(self)} nodes, the fleet {n}")


def _checked_parity(parity: npt.ArrayLike) -> IntArray:
    array = np.asarray(parity)
    if array.ndim != 1 or len(array) < 1:
        raise TopologyError(f"parity must have the shape (n,), not {array.shape}")
    for i in np.flatnonzero((array != 0) & (array != 1)):
        raise TopologyError(f"node {i}: parity must be 0 or 1, not {array[i]}")
    return array.astype(np.int64)


def _checked_links(links: npt.ArrayLike, n: int) -> IntArray:
    array = np.asarray(links)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise TopologyError(f"links must have the shape (m, 2), not {array.shape}")
    if not np.issubdtype(array.dtype, np.integer):
        raise TopologyError(f"links must be whole node indices, not {array.dtype}")
    pairs = np.sort(array.astype(np.int64), axis=1)
    for i, j in pairs[(pairs[:, 0] < 0) | (pairs[:, 1] >= n)]:
        raise TopologyError(f"link ({i}, {j}) names a node outside 0 … {n - 1}")
    for i, j in pairs[pairs[:, 0] == pairs[:, 1]]:
        raise TopologyError(f"link ({i}, {j}) joins a node to itself")
    unique = np.unique(pairs[:, 0] * n + pairs[:, 1])
    if len(unique) < len(pairs):
        raise TopologyError(f"{len(pairs) - len(unique)} links stand twice: a link is an undirected pair")
    return np.column_stack(np.divmod(unique, n))
