"""What a previous topology says about a fleet that has moved since, and may have gained and lost nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manetdiff.errors import TopologyError
from manetdiff.fleet import Fleet, displacement, same_places
from manetdiff.runtime.chain import Noise, States
from manetdiff.topology import Topology, check_related, places_in, warn_of_lost_heights

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PreviousLinks:
    """The previous topology on the fleet's present nodes.

    - edges: (n, n). parity: (n,), 0 where a node is new. known: (n,) whether the node was there before.
    - moved: how far the nodes that stayed have moved in the normalised frame; None where that is not known.
    - unmoved: whether everybody is still where everybody was: nobody has joined, left, moved or turned.
    """

    edges: BoolArray
    parity: IntArray
    known: BoolArray
    moved: float | None
    unmoved: bool = False

    @property
    def states(self) -> States:
        """As a batch of one."""
        return States(self.edges[None].astype(np.float32), self.parity[None].astype(np.float32))

    def as_noise(self, noise: Noise) -> Noise:
        """The previous topology in place of pure noise; for nodes that are new, the noise as it was."""
        edges = np.where(self.both_known, self.edges, noise.edges[0])
        parity = np.where(self.known, self.parity, noise.parity[0])
        return Noise(edges[None].astype(np.float32), parity[None].astype(np.float32))

    @property
    def topology(self) -> Topology:
        """As a topology of the present nodes."""
        return Topology.from_adjacency(self.edges, self.parity)

    @property
    def both_known(self) -> BoolArray:
        """(n, n) pairs of two nodes that were there before."""
        return self.known[:, None] & self.known[None, :]


def previous_links(topology: Topology, before: Fleet | None, after: Fleet) -> PreviousLinks:
    """Match the nodes by id. before: the fleet of the previous topology; without it the nodes must be the same."""
    if before is None:
        if len(topology) != len(after):
            raise TopologyError(
                f"the previous topology has {len(topology)} nodes, the fleet {len(after)}: "
                "give the fleet that it was made for, too, so that nodes can be matched by id"
            )
        return PreviousLinks(topology.adjacency, topology.parity.copy(), np.ones(len(after), dtype=np.bool_), None)
    topology.check_fits(len(before))
    check_related(before, after)
    warn_of_lost_heights(before, after, stacklevel=3)
    was = places_in(before, after)
    known = was >= 0
    edges = topology.adjacency[np.ix_(was, was)] & known[:, None] & known[None, :]
    parity = np.where(known, topology.parity[was], 0)
    nobody_new_or_gone = bool(known.all()) and len(before) == len(after)
    unmoved = nobody_new_or_gone and same_places(before.part(was), after)
    return PreviousLinks(edges, parity, known, _moved(before, after, was), unmoved)


def _moved(before: Fleet, after: Fleet, was: IntArray) -> float | None:
    # Nodes far out, before or now, would set the scale: whatever the others do would then be no movement at all.
    now = np.flatnonzero((was >= 0) & ~before.far_out[was] & ~after.far_out)
    if len(now) < 2:
        return None
    return displacement(before.part(was[now]), after.part(now))
