"""Networks on all pairs: layouts of one size go together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from torch import Tensor

from manetdiff.fleet import Fleet
from manetdiff.gpu.captured import BatchChain
from manetdiff.gpu.network import Copied, rounded_up, sent
from manetdiff.gpu.pieces import Piece, filled, pieces_of
from manetdiff.layout import PaddedFeatures, pad
from manetdiff.model.tensors import Layouts
from manetdiff.radio import Radio
from manetdiff.runtime.dense import every_pair
from manetdiff.sampling import SamplerConfig
from manetdiff.solvers.stack_refinement import StackSamples

# Graphs that are sampled together at most.
MOST_TOGETHER = 4096


class DenseNetwork:
    """See `Network`."""

    def __init__(self, chain: BatchChain) -> None:
        self.chain, self.device = chain, chain.device
        self._above = cache(self._places_above)

    def batches(self, fleets: Sequence[Fleet], radio: Radio, samples: int) -> list[list[Piece]]:
        """Of one size each."""
        most = max(1, MOST_TOGETHER // samples)
        pieces = pieces_of(fleets, radio, most)
        return [
            batch
            for n in sorted({piece.nodes for piece in pieces})
            for batch in filled([piece for piece in pieces if piece.nodes == n], lambda fleets, _: fleets <= most)
        ]

    def read(self, piece: Piece) -> PaddedFeatures:
        """Features of all layouts."""
        parts = [] if piece.stack is None else [piece.stack.features]
        if piece.alone:
            parts.append(pad([layout.features for layout in piece.alone]))
        return parts[0] if len(parts) == 1 else PaddedFeatures(*map(np.concatenate, zip(*parts, strict=True)))

    def sampled(
        self,
        pieces: Sequence[Piece],
        read: Sequence[PaddedFeatures],
        streams: Sequence[int],
        sampling: SamplerConfig,
    ) -> PendingDense:
        """Filled up to a power of two."""
        n, count, each = pieces[0].nodes, sum(map(len, pieces)), len(streams)
        whole = rounded_up(count)
        node, pair, sector, _ = (np.concatenate(parts) for parts in zip(*read, strict=True))
        mask = torch.ones((whole, n), dtype=torch.bool, device=self.device)
        on_device = [sent(array, whole, self.device) for array in (node, pair, sector)]
        layouts = Layouts._make([*on_device, mask])
        parts = []
        for first in range(0, each, MOST_TOGETHER):
            some = np.array(streams[first : first + MOST_TOGETHER], dtype=np.int64)
            seeds = sent(np.tile(some, whole), whole * len(some), self.device)
            made = self.chain.sample(layouts, seeds, sampling)
            linked, parity = made.edges.flatten(1)[:, self._above(n)] > 0.5, made.parity > 0.5
            # Copies: what the chain has made is overwritten by the next call.
            parts.append([one.to(torch.uint8).view(whole, len(some), -1)[:count] for one in (linked, parity)])
        whole_parts = [torch.cat(some, dim=1) for some in zip(*parts, strict=True)]
        return PendingDense(pieces, Copied(whole_parts))

    def _places_above(self, n: int) -> Tensor:
        """(c,) of every pair in a matrix as one row, above the diagonal."""
        i, j = every_pair(n).T
        return torch.from_numpy(i * n + j).to(self.device)


class PendingDense:
    """See `Pending`."""

    def __init__(self, pieces: Sequence[Piece], copied: Copied) -> None:
        self.pieces, self.copied = pieces, copied

    @property
    def under_way(self) -> bool:
        """See `Pending`."""
        return self.copied.under_way

    def result(self) -> list[StackSamples]:
        """See `Pending`."""
        linked, parity = self.copied.arrays()  # (b, s, c) and (b, s, n)
        pairs = every_pair(self.pieces[0].nodes)
        c, made, first = len(pairs), [], 0
        for piece in self.pieces:
            b, own = len(piece), slice(first, first + len(piece))
            none, all_ = np.zeros(b, dtype=np.int64), np.full(b, c, dtype=np.int64)
            at = np.arange(b, dtype=np.int64) * linked[0].size
            made.append(StackSamples(pairs, none, all_, linked[own].ravel(), at, parity[own]))
            first += b
        return made
