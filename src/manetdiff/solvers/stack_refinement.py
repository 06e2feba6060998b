"""Samples of many layouts corrected and searched from in one compiled call, and the best of each layout kept.

The call holds no lock and knows no Python: threads share the layouts of a stack out. What comes out is what
`correct_onto` and `search_on` make of each sample, and of a layout's samples the one in fewest parts, of those the one
with most T, of those the first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder
from manetdiff.layout.stack import LayoutStack, stacked_tables
from manetdiff.layout.tables import FEWEST_PARTS
from manetdiff.radio.pairs import SECTORS
from manetdiff.solvers.correction import COUNTS, correct_state
from manetdiff.solvers.local_search import THOROUGH, Annealing
from manetdiff.solvers.state import new_state, read_links, total
from manetdiff.solvers.state_search import MOVES, put_topology, search_numbers, search_state
from manetdiff.solvers.walks import count_parts

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
MOST_SEED = np.int64(2**63 - 1)
Bytes = npt.NDArray[np.uint8]


class StackSamples(NamedTuple):
    """s samples of each of b layouts of n nodes.

    - pairs: (c, 2) with i < j, those that samples are about; of a layout those from `begin` to `end`, (b,).
    - linked: flat, 1 where a pair is linked: of a layout one sample after the other; at: (b,) where those begin.
    - parity: (b, s, n).
    """

    pairs: IntArray
    begin: IntArray
    end: IntArray
    linked: Bytes
    at: IntArray
    parity: Bytes

    def part(self, which: slice) -> StackSamples:
        """Those of some of the layouts."""
        return self._replace(begin=self.begin[which], end=self.end[which], at=self.at[which], parity=self.parity[which])


class StackBest(NamedTuple):
    """The best sample of each of b layouts, refined.

    - links: (b, m, 2), of which a layout's are the first `size`, (b,); parity: (b, n). kept: (b,) which sample it was.
    - components, fewest: (b,) parts that it is in, and that the range allows. throughput: (b,) T. counts: (b, 7), see
      `correction.COUNTS`. gain: (b,) T that the search has gained. improved: (b,) whether it has found anything.
    """

    links: IntArray
    size: IntArray
    parity: IntArray
    kept: IntArray
    components: IntArray
    fewest: IntArray
    throughput: FloatArray
    counts: IntArray
    gain: FloatArray
    improved: npt.NDArray[np.bool_]


def best_of_stack(
    stack: LayoutStack, samples: StackSamples, seed: int = 0, moves: int = 0, annealing: Annealing = THOROUGH
) -> StackBest:
    """Correct all samples, search from each, and keep the best of each layout.

    - seed: of the search on the first sample; those on the others have the next ones. moves: of each search.
    """
    b, n = len(stack), stack.nodes
    # No antenna has more than one link.
    most = min(n * stack.radio.sectors, n * (n - 1)) // 2
    kept, components, fewest, size = (np.zeros(b, dtype=np.int64) for _ in range(4))
    best = StackBest(
        np.empty((b, most, 2), dtype=np.int64),
        size,
        np.empty((b, n), dtype=np.int64),
        kept,
        components,
        fewest,
        np.empty(b),
        np.empty((b, len(COUNTS)), dtype=np.int64),
        np.zeros(b),
        np.zeros(b, dtype=np.bool_),
    )
    _best_of_stack(stack.arrays, samples, np.int64(seed), search_numbers(moves, annealing), best)
    return best


@builder
def _best_of_stack(arrays, samples, seed, search, best):  # type: ignore[no-untyped-def]
    counts = np.empty(best.counts.shape[1], dtype=np.int64)
    for b in range(len(arrays.positions)):
        tables = stacked_tables(arrays, b)
        best.fewest[b] = int(tables.constants[FEWEST_PARTS])
        state = new_state(arrays.positions.shape[1], tables.ints.shape[1], int(arrays.constants[SECTORS]))
        pairs = samples.pairs[samples.begin[b] : samples.end[b]]
        for k in range(samples.parity.shape[1]):
            at = samples.at[b] + k * len(pairs)
            links, size = np.empty_like(pairs), 0
            for m in range(len(pairs)):
                if samples.linked[at + m]:
                    links[size, 0], links[size, 1] = pairs[m, 0], pairs[m, 1]
                    size += 1
            correct_state(tables, state, links[:size], samples.parity[b, k].astype(np.int64), counts)
            corrected = throughput = total(state)
            if search[MOVES] > 0:
                put_topology(tables, state, read_links(tables, state), state.parity.copy())
                # Of 63 bits, whatever the sum.
                search_state(tables, state, (seed + k) & MOST_SEED, search)
                throughput = total(state)
            parts = count_parts(tables, state)
            if k == 0 or (parts, -throughput) < (best.components[b], -best.throughput[b]):
                best.kept[b], best.components[b], best.throughput[b] = k, parts, throughput
                best.gain[b], best.improved[b] = throughput - corrected, throughput > corrected
                best.counts[b], best.parity[b] = counts, state.parity
                found = read_links(tables, state)
                best.size[b] = len(found)
                best.links[b, : len(found)] = found
