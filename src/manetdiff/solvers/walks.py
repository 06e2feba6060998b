"""Walks over the links of a search state: who is joined with whom, and in how many parts the network is."""

from __future__ import annotations

from manetdiff.compiled import NOBODY, kernel

# Place in SearchState.sizes: number of walks made so far. A node is seen by a walk if it carries the walk's number.
WALKS = 0
# Rows of SearchState.walk.
ORDER, SEEN = 0, 1
# Plane of SearchState.ints: links on each antenna, one column an antenna.
LOAD = 2


@kernel
def joined(state, i, j):  # type: ignore[no-untyped-def]
    """Whether a path leads from i to j."""
    stamp = _new_walk(state, i)
    head, tail = 0, 1
    while head < tail:
        at = state.walk[ORDER, head]
        head += 1
        for a in range(state.peers.shape[1]):
            for m in range(state.ints[LOAD, at, a]):
                peer = state.peers[at, a, m]
                if peer == j:
                    return True
                if state.walk[SEEN, peer] != stamp:
                    state.walk[SEEN, peer] = stamp
                    state.walk[ORDER, tail] = peer
                    tail += 1
    return False


@kernel
def count_parts(state):  # type: ignore[no-untyped-def]
    """Number of connected components."""
    before = state.sizes[WALKS]
    count = 0
    for start in range(len(state.parity)):
        if state.walk[SEEN, start] <= before:
            joined(state, start, NOBODY)
            count += 1
    return count


@kernel
def label_components(state, label):  # type: ignore[no-untyped-def]
    """Write each node's component (its smallest node) into label (n,); return how many there are."""
    label[:] = -1
    count = 0
    for start in range(len(label)):
        if label[start] < 0:
            count += 1
            joined(state, start, NOBODY)
            for k in range(start, len(label)):
                if state.walk[SEEN, k] == state.sizes[WALKS]:
                    label[k] = start
    return count


@kernel
def _new_walk(state, start):  # type: ignore[no-untyped-def]
    state.sizes[WALKS] += 1
    state.walk[SEEN, start] = state.sizes[WALKS]
    state.walk[ORDER, 0] = start
    return state.sizes[WALKS]
