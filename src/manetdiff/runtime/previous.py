"""What a previous topology says about a fleet that has moved since, and may have gained and lost nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manetdiff.errors import TopologyError
from manetdiff.fleet import Fleet, displacement, same_places
from manetdiff.layout import Layout
from manetdiff.runtime.chain import Noise, States
from manetdiff.topology import Topology, carried_over, check_related, places_in, warn_of_lost_heights

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PreviousLinks:
    """The previous topology on the fleet's present nodes.

    - topology: its links among nodes that are still there, and parity, 0 where a node is new. known: (n,) whether the
      node was there before.
    - moved: how far the nodes that stayed have moved in the normalised frame; None where that is not known.
    - unmoved: whether everybody is still where everybody was: nobody has joined, left, moved or turned.
    """

    topology: Topology
    known: BoolArray
    moved: float | None
    unmoved: bool = False

    def linked(self, pairs: IntArray) -> BoolArray:
        """Which of the pairs (c, 2), i < j, were linked."""
        n, links = len(self.topology), self.topology.links
        return np.isin(pairs[:, 0] * n + pairs[:, 1], links[:, 0] * n + links[:, 1])

    def both_known(self, pairs: IntArray) -> BoolArray:
        """Which of the pairs (c, 2) are of two nodes that were there before."""
        return np.asarray(self.known[pairs].all(axis=1))

    def new(self, pairs: IntArray) -> BoolArray:
        """Which of the pairs (c, 2) were not linked, though they might have been: of nodes that were there."""
        return self.both_known(pairs) & ~self.linked(pairs)

    def states(self, pairs: IntArray) -> States:
        """As a batch of one."""
        links, parity = self.linked(pairs), self.topology.parity
        return States(links[None].astype(np.float32), parity[None].astype(np.float32))

    def as_noise(self, noise: Noise, pairs: IntArray) -> Noise:
        """The previous topology in place of pure noise; for nodes that are new, the noise as it was."""
        links = np.where(self.both_known(pairs), self.linked(pairs), noise.links[0])
        parity = np.where(self.known, self.topology.parity, noise.parity[0])
        return Noise(links[None].astype(np.float32), parity[None].astype(np.float32))


def previous_links(topology: Topology, before: Fleet | None, after: Fleet) -> PreviousLinks:
    """Match the nodes by id. before: the fleet of the previous topology; without it the nodes must be the same."""
    if before is None:
        if len(topology) != len(after):
            raise TopologyError(
                f"the previous topology has {len(topology)} nodes, the fleet {len(after)}: "
                "give the fleet that it was made for, too, so that nodes can be matched by id"
            )
        return PreviousLinks(topology, np.ones(len(after), dtype=np.bool_), None)
    carried = carried_over(topology, Layout(after), before)
    check_related(before, after)
    warn_of_lost_heights(before, after, stacklevel=3)
    was = places_in(before, after)
    known = was >= 0
    nobody_new_or_gone = bool(known.all()) and len(before) == len(after)
    unmoved = nobody_new_or_gone and same_places(before.part(was), after)
    return PreviousLinks(carried, known, _moved(before, after, was), unmoved)


def _moved(before: Fleet, after: Fleet, was: IntArray) -> float | None:
    # Nodes far out, before or now, would set the scale: whatever the others do would then be no movement at all.
    now = np.flatnonzero((was >= 0) & ~before.far_out[was] & ~after.far_out)
    if len(now) < 2:
        return None
    return displacement(before.part(was[now]), after.part(now))
