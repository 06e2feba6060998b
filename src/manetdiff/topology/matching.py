"""Two topologies whose fleets differ: nodes are matched by id, in whatever order, and may have joined and left."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from manetdiff.checks import some_of
from manetdiff.errors import TopologyError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.topology.topology import Topology

IntArray = npt.NDArray[np.int64]


def places_in(before: Fleet, after: Fleet) -> IntArray:
    """(n,) where each node of the fleet after stood in the one before; -1 for nodes that have joined."""
    places = {name: k for k, name in enumerate(before.ids)}
    return np.array([places.get(name, -1) for name in after.ids], dtype=np.int64)


def check_related(before: Fleet, after: Fleet) -> None:
    """Raise where the two have no node in common: nothing of the one then says anything about the other."""
    if not set(before.ids) & set(after.ids):
        raise TopologyError(
            f"the topology and the fleet share no node: it has {some_of(before.ids)}, the fleet {some_of(after.ids)} "
            "(nodes are matched by id)"
        )


def warn_of_lost_heights(before: Fleet, after: Fleet, stacklevel: int = 1) -> None:
    """Say it where nodes were higher and lower than each other and nothing says how high they are now.

    - stacklevel: as of warnings.warn, counted from the caller.
    """
    if np.ptp(before.heights) > 0 and not after.has_heights:
        told = "the topology's nodes have heights, the fleet's have none: they are taken to be equally high"
        warnings.warn(told, UserWarning, stacklevel + 1)


def carried_over(topology: Topology, layout: Layout, before: Fleet | None = None) -> Topology:
    """The same links among the nodes of another layout: those of nodes that left are gone, nodes that joined have none
    and parity 0.

    - before: the fleet that the topology was made for, by default the one that it knows.
    """
    own = topology.on().fleet if before is None else before
    topology.check_fits(len(own))
    was = places_in(own, layout.fleet)
    now = np.full(len(own), -1, dtype=np.int64)
    now[was[was >= 0]] = np.flatnonzero(was >= 0)
    links = now[topology.links]
    parity = np.where(was >= 0, topology.parity[was], 0)
    return Topology(links[(links >= 0).all(axis=1)], parity, layout=layout)


def matched_links(before: Topology, after: Topology) -> tuple[IntArray, IntArray]:
    """The links of both, (m, 2) each with i < j, numbered as one: by id where both know their fleets, else as they are.

    Nodes of the second that the first does not have get numbers beyond its own.
    """
    if before.layout is None or after.layout is None or before.layout.fleet.ids == after.layout.fleet.ids:
        return before.links, after.links
    was = places_in(before.layout.fleet, after.layout.fleet)
    number = np.where(was >= 0, was, len(before) + np.arange(len(after)))
    return before.links, np.sort(number[after.links], axis=1)
