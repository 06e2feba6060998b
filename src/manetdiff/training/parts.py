"""Which part of a batch each of several processes has. The batch itself does not depend on how many they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from lightning.fabric import Fabric
from torch import Tensor

from manetdiff.model.packing import LINKS, NODES, Room

# Room that a process has for its part of a packed batch beyond an even share: parts are even in what they cost, but
# not in each of arcs, nodes, links and antennas.
SLACK = 1.25


@dataclass(frozen=True)
class Part:
    """So many in a row, from the first on."""

    first: int
    count: int

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.count)


def part_of_row(total: int, rank: int, processes: int) -> Part:
    """As even as it can be; where there are too few for all, some have 0 of them, which `first` names still."""
    first, end = (total * number // processes for number in (rank, rank + 1))
    return Part(first, end - first)


class PackedPart(NamedTuple):
    """What one process has of a packed batch. counts: (4,) arcs, nodes, links and antennas."""

    graphs: Part
    nodes: Part
    links: Part
    counts: tuple[int, int, int, int]

    def fits(self, room: Room) -> bool:
        """Whether there is room for it, with the last of each kind but arcs for what fills it up."""
        arcs, nodes, links, antennas = self.counts
        return (
            arcs <= room.arcs
            and nodes < room.nodes
            and links < room.links
            and antennas < room.antennas
            and self.graphs.count < room.graphs
        )


def parts_of_batch(
    begins: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64], room: Room, processes: int
) -> list[PackedPart]:
    """A packed batch in as many parts, of graphs that stand side by side, each with about the same to compute.

    - begins: see Rows. chosen: the layouts of the batch, -1 for none. room: of the batch.
    """
    real = chosen[chosen >= 0]
    counts = np.diff(begins)[:, real]
    cost = (counts / np.array([[room.arcs], [room.nodes], [room.links], [room.antennas]])).sum(0)
    middle = cost.cumsum() - cost / 2
    cuts = np.searchsorted(middle, cost.sum() * np.arange(processes + 1) / processes)
    before = np.concatenate([np.zeros((4, 1), dtype=np.int64), counts.cumsum(1)], axis=1)
    parts = []
    for first, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        of_kind = (before[:, end] - before[:, first]).tolist()
        nodes, links = (Part(int(before[kind, first]), of_kind[kind]) for kind in (NODES, LINKS))
        parts.append(PackedPart(Part(first, end - first), nodes, links, tuple(of_kind)))
    return parts


def part_room(room: Room, begins: npt.NDArray[np.int64], processes: int) -> Room:
    """Room for the part of one process, of nearly every batch; what exceeds it has the room of the whole batch."""
    if processes == 1:
        return room
    most = np.diff(begins).max(1).tolist()

    def some(whole: int, largest: int) -> int:
        return min(whole, math.ceil(SLACK * whole / processes) + largest + 1)

    whole = room.arcs, room.nodes, room.links, room.antennas
    arcs, nodes, links, antennas = (some(size, largest) for size, largest in zip(whole, most, strict=True))
    graphs = some(room.graphs, 1)
    # The number of graphs tells both rooms apart.
    return Room(arcs, nodes, links, antennas, graphs, room.longest) if graphs < room.graphs else room


def summed_over(fabric: Fabric) -> Callable[[Tensor], Tensor]:
    """Sums over all processes, of which each knows the gradient of its own.

    That gradient is multiplied by their number because gradients of weights are averaged over them, not added.
    """

    def summed(sums: Tensor) -> Tensor:
        whole = fabric.all_reduce(sums.detach().clone(), reduce_op="sum")
        assert isinstance(whole, Tensor)
        return whole + fabric.world_size * (sums - sums.detach())

    outside: Callable[[Tensor], Tensor] = torch.compiler.disable(summed)  # type: ignore[no-untyped-call]
    return outside
