"""Networks on candidate links: layouts of all sizes go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from manetdiff.fleet import Fleet
from manetdiff.gpu.network import Copied, rounded_up, sent
from manetdiff.gpu.pieces import Piece, filled, pieces_of
from manetdiff.gpu.sparse_chain import SparseChain
from manetdiff.layout.arc_rows import ArcRows, joined_rows, rows_of, stacked_rows
from manetdiff.model.packing import ANTENNAS, ARCS, LINKS, NODES, ArcTensorRows, Room
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig
from manetdiff.solvers.stack_refinement import StackSamples

IntArray = npt.NDArray[np.int64]

# Nodes of all graphs that are sampled together, unless one graph alone has more.
NODES_TOGETHER = 2**16


class SparseNetwork:
    """See `Network`."""

    def __init__(self, chain: SparseChain) -> None:
        self.chain, self.device = chain, chain.device

    def batches(self, fleets: Sequence[Fleet], radio: Radio, samples: int) -> list[list[Piece]]:
        """Of all sizes."""
        most = max(1, NODES_TOGETHER // samples)
        # What tokens read is filled up to the largest of a batch.
        return filled(pieces_of(fleets, radio, most), lambda count, nodes: count * nodes <= most)

    def read(self, piece: Piece) -> ArcRows:
        """Arcs of all layouts."""
        parts = [] if piece.stack is None else [stacked_rows(piece.stack)]
        return joined_rows([*parts, *(rows_of(layout.arcs) for layout in piece.alone)])

    def sampled(
        self, pieces: Sequence[Piece], read: Sequence[ArcRows], streams: Sequence[int], sampling: SamplerConfig
    ) -> PendingSparse:
        """Filled up to powers of two."""
        rows = joined_rows(read)
        counts = rows.counts.sum(0)
        whole, sizes = rounded_up(len(rows.counts)), [rounded_up(count) for count in counts.tolist()]
        there = self._sent(rows, whole, sizes)
        together = max(1, NODES_TOGETHER // sizes[NODES])
        parts = []
        for first in range(0, len(streams), together):
            some = streams[first : first + together]
            room = _room(rows, whole, sizes, len(some))
            chosen = np.full(room.graphs, -1)
            chosen[: len(rows.counts) * len(some)] = np.repeat(np.arange(len(rows.counts)), len(some))
            seeds = np.zeros(room.graphs, dtype=np.int64)
            seeds[:-1] = np.tile(np.array(some, dtype=np.int64), whole)
            numbers, seeds_there = (sent(array, room.graphs, self.device) for array in (chosen, seeds))
            made = self.chain.sample(there, numbers, seeds_there, room, sampling)
            ends = int(counts[LINKS]) * len(some), int(counts[NODES]) * len(some)
            # Copies: what the chain has made is overwritten by the next call.
            parts.append([(one[:end] > 0.5).to(torch.uint8) for one, end in zip(made, ends, strict=True)])
        taken = [min(together, len(streams) - first) for first in range(0, len(streams), together)]
        return PendingSparse(pieces, rows, taken, [Copied(part) for part in parts])

    def _sent(self, rows: ArcRows, layouts: int, sizes: list[int]) -> ArcTensorRows:
        begins = np.zeros((layouts + 1, len(sizes)), dtype=np.int64)
        begins[1 : len(rows.counts) + 1] = rows.counts.cumsum(0)
        kinds = {"forward": LINKS, "arcs_of_node": NODES, "arcs_of_antenna": ANTENNAS}
        fields = (name for name in ArcTensorRows._fields if name != "begins")
        parts = [sent(getattr(rows, name), sizes[kinds.get(name, ARCS)], self.device) for name in fields]
        return ArcTensorRows._make([*parts, sent(begins, layouts + 1, self.device).T.contiguous()])


def _room(rows: ArcRows, layouts: int, sizes: list[int], each: int) -> Room:
    """For so many graphs of each layout, and what fills up."""
    longest = (rows.arcs_of_node.max(initial=1), rows.arcs_of_antenna.max(initial=1), rows.counts[:, NODES].max())
    arcs, nodes, links, antennas = (each * size + 1 for size in sizes)
    most = [rounded_up(int(one)) for one in longest]
    return Room(arcs, nodes, links, antennas, each * layouts + 1, (most[0], most[1], most[2]))


class _Own(NamedTuple):
    """Where the layouts of a piece begin: first: (b,) links of each among all; nodes: the first among all."""

    first: IntArray
    links: IntArray
    nodes: int


class PendingSparse:
    """See `Pending`. taken: graphs of each layout in each part that was sampled at once."""

    def __init__(self, pieces: Sequence[Piece], rows: ArcRows, taken: Sequence[int], copied: Sequence[Copied]) -> None:
        self.pieces, self.rows, self.taken, self.copied = pieces, rows, taken, copied

    @property
    def under_way(self) -> bool:
        """See `Pending`."""
        return self.copied[-1].under_way

    def result(self) -> list[StackSamples]:
        """See `Pending`."""
        made, layout, nodes = [], 0, 0
        counts = self.rows.counts[:, LINKS]
        ends = counts.cumsum()
        arrays = [one.arrays() for one in self.copied]
        for piece in self.pieces:
            own = slice(layout, layout + len(piece))
            where = _Own(ends[own] - counts[own], counts[own], nodes)
            made.append(self._of_piece(piece, where, arrays))
            layout, nodes = own.stop, nodes + len(piece) * piece.nodes
        return made

    def _of_piece(self, piece: Piece, where: _Own, arrays: list[list[npt.NDArray[np.uint8]]]) -> StackSamples:
        b, n = len(piece), piece.nodes
        parities = [
            parity[where.nodes * each : (where.nodes + b * n) * each].reshape(b, each, n)
            for (_, parity), each in zip(arrays, self.taken, strict=True)
        ]
        begin, end = where.first, where.first + where.links
        if len(arrays) == 1:
            linked, at = arrays[0][0], where.first * self.taken[0]
        else:
            # Of one layout after the other the graphs of all parts.
            of_parts = zip(arrays, self.taken, strict=True)
            cut = [[part[0][s * each : e * each] for s, e in zip(begin, end, strict=True)] for part, each in of_parts]
            linked = np.concatenate([one for layout in zip(*cut, strict=True) for one in layout])
            at = (where.links.cumsum() - where.links) * sum(self.taken)
        return StackSamples(self.rows.links, begin, end, linked, at, np.concatenate(parities, axis=1))
