"""Walks over the links of a search state: who is joined with whom, and in how many parts the network is."""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import kernel
from manetdiff.layout.tables import ANTENNAS, FEWEST_PARTS, OWNER, PEER
from manetdiff.radio.pairs import SECTORS
from manetdiff.solvers.state import LINKED, OFF, ON, PARTS, WALKS

# Rows 0 and 1 of SearchState.walk: nodes in the order reached, from either end; 2 and 3: the walk that last saw each
# node; and this: the smallest node of each node's part when the parts were last looked at.
PART_OF = 4


@kernel
def joined(tables, state, i, j):  # type: ignore[no-untyped-def]
    """Whether a path leads from i to j, looked for from both ends in turn: near nodes are found near, and a small part
    is soon walked through, whatever the size of the network."""
    if i == j:
        return True
    state.sizes[WALKS] += 1
    stamp = state.sizes[WALKS]
    state.walk[2, i] = stamp
    state.walk[3, j] = stamp
    state.walk[0, 0] = i
    state.walk[1, 0] = j
    head_i, tail_i, head_j, tail_j = 0, 1, 0, 1
    while head_i < tail_i and head_j < tail_j:
        if tail_i - head_i <= tail_j - head_j:
            tail_i = _step(tables, state, 0, head_i, tail_i, stamp)
            head_i += 1
            met = tail_i < 0
        else:
            tail_j = _step(tables, state, 1, head_j, tail_j, stamp)
            head_j += 1
            met = tail_j < 0
        if met:
            return True
    return False


@kernel
def _step(tables, state, walker, head, tail, stamp):  # type: ignore[no-untyped-def]
    """Look at the peers of the next node of one of two walkers; its new tail, or -1 where it meets the other."""
    sectors = int(tables.constants[SECTORS])
    at = state.walk[walker, head]
    for antenna in range(at * sectors, (at + 1) * sectors):
        begin = tables.starts[ANTENNAS, antenna]
        for place in range(begin, begin + state.load[antenna]):
            peer = tables.ints[PEER, state.ints[LINKED, place]]
            if state.walk[3 - walker, peer] == stamp:
                return -1
            if state.walk[2 + walker, peer] != stamp:
                state.walk[2 + walker, peer] = stamp
                state.walk[walker, tail] = peer
                tail += 1
    return tail


@kernel
def label_parts(tables, state, label):  # type: ignore[no-untyped-def]
    """Write each node's part, its smallest node, into label (n,); return how many there are."""
    label[:] = -1
    count = 0
    sectors = int(tables.constants[SECTORS])
    for start in range(len(label)):
        if label[start] < 0:
            count += 1
            label[start] = start
            state.walk[0, 0] = start
            head, tail = 0, 1
            while head < tail:
                at = state.walk[0, head]
                head += 1
                for antenna in range(at * sectors, (at + 1) * sectors):
                    begin = tables.starts[ANTENNAS, antenna]
                    for place in range(begin, begin + state.load[antenna]):
                        peer = tables.ints[PEER, state.ints[LINKED, place]]
                        if label[peer] < 0:
                            label[peer] = start
                            state.walk[0, tail] = peer
                            tail += 1
    return count


@kernel
def count_parts(tables, state):  # type: ignore[no-untyped-def]
    """Number of connected components."""
    return label_parts(tables, state, state.walk[1])


@kernel
def know_parts(tables, state):  # type: ignore[no-untyped-def]
    """Remember the parts of the network as it is."""
    state.sizes[PARTS] = label_parts(tables, state, state.walk[PART_OF])


@kernel
def parts_after(tables, state, enough):  # type: ignore[no-untyped-def]
    """How many parts the network is in with what is planned, since `know_parts`; of more than enough, any number.

    Parts are only counted where there may be more or fewer of them: where the ends of a link that goes are no longer
    joined, or a new one joins two parts.
    """
    parts = state.sizes[PARTS]
    changed = False
    if parts > tables.constants[FEWEST_PARTS]:
        for m in range(state.sizes[ON]):
            slot = state.plan[ON, m]
            i, j = tables.ints[OWNER, slot], tables.ints[PEER, slot]
            changed = changed or state.walk[PART_OF, i] != state.walk[PART_OF, j]
    if not changed:
        for m in range(state.sizes[OFF]):
            slot = state.plan[OFF, m]
            if not joined(tables, state, np.int64(tables.ints[OWNER, slot]), np.int64(tables.ints[PEER, slot])):
                changed = True
                if parts + 1 > enough:
                    return parts + 1
                break
    return count_parts(tables, state) if changed else parts
