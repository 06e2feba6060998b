"""Links added one by one, the one that raises T most first.

What a link would gain changes with every other that is added, mostly for the worse. So the gains are kept in a heap,
and only the one that comes up is computed again: where it still is the best, it is taken (lazy greedy).
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import NOBODY, builder, kernel
from manetdiff.layout.tables import ANTENNA, OWNER, PEER, REVERSE
from manetdiff.solvers.scoring import gain, heard_noise, make
from manetdiff.solvers.state import forget, link, linkable_slots, linked
from manetdiff.solvers.union import part_of, unite
from manetdiff.solvers.workbench import Workbench


def add_best(
    bench: Workbench, least: float, *, joining: bool, share_antennas: bool = False, tau: float = np.inf
) -> int:
    """Add links that gain more than `least`, the best first, while there are any; how many were added.

    - joining: only those that join two parts. share_antennas: also to antennas in use. tau: most interference on either
      direction of a link.
    """
    return int(add_best_links(bench.tables, bench.state, float(least), joining, share_antennas, float(tau)))


@builder
def add_best_links(tables, state, least, joining, share_antennas, tau):  # type: ignore[no-untyped-def]
    """The same on a state."""
    slots = linkable_slots(tables)
    heap, key, part = np.empty(len(slots), dtype=np.int64), np.empty(len(slots)), np.arange(len(state.parity))
    return _add_best(tables, state, slots, heap, key, part, least, joining, share_antennas, tau)


@kernel
def _add_best(  # type: ignore[no-untyped-def]
    tables, state, slots, heap, key, part, least, joining, share_antennas, tau
):
    if joining:
        for slot in range(tables.ints.shape[1]):
            if linked(state, slot):
                unite(part, tables.ints[OWNER, slot], tables.ints[PEER, slot])
    size = 0
    for slot in slots:
        if _admissible(tables, state, slot, part, joining, share_antennas):
            size = _push(heap, key, size, slot, _gain_of(tables, state, slot))
    added = 0
    while size > 0:
        slot = heap[0]
        size = _pop(heap, key, size)
        if not _admissible(tables, state, slot, part, joining, share_antennas):
            continue
        gained = _gain_of(tables, state, slot)
        if size > 0 and gained < key[0]:
            size = _push(heap, key, size, slot, gained)
        elif gained > least and interference(tables, state, slot) <= tau:
            link(tables, state, slot)
            gain(tables, state)
            make(tables, state)
            unite(part, tables.ints[OWNER, slot], tables.ints[PEER, slot])
            added += 1
    return added


@kernel
def _admissible(tables, state, slot, part, joining, share_antennas):  # type: ignore[no-untyped-def]
    i, j = tables.ints[OWNER, slot], tables.ints[PEER, slot]
    return (
        state.parity[i] != state.parity[j]
        and not linked(state, slot)
        and (share_antennas or both_free(tables, state, slot))
        and (not joining or part_of(part, i) != part_of(part, j))
    )


@kernel
def both_free(tables, state, slot):  # type: ignore[no-untyped-def]
    """Whether both antennas of a pair are free."""
    own, other = tables.ints[ANTENNA, slot], tables.ints[ANTENNA, tables.ints[REVERSE, slot]]
    return state.load[own] == 0 and state.load[other] == 0


@kernel
def interference(tables, state, slot):  # type: ignore[no-untyped-def]
    """The worse of the two directions' interference on a pair, linked or not."""
    here = heard_noise(tables, state, slot, NOBODY)
    return max(here, heard_noise(tables, state, np.int64(tables.ints[REVERSE, slot]), NOBODY))


@kernel
def _gain_of(tables, state, slot):  # type: ignore[no-untyped-def]
    link(tables, state, slot)
    gained = gain(tables, state)
    forget(tables, state)
    return gained


@kernel
def _push(heap, key, size, slot, value):  # type: ignore[no-untyped-def]
    """Put a slot into a heap, the largest value on top; its new size. Of equals the smaller slot is above."""
    at = size
    while at > 0:
        above = (at - 1) // 2
        if not _before(value, slot, key[above], heap[above]):
            break
        heap[at], key[at] = heap[above], key[above]
        at = above
    heap[at], key[at] = slot, value
    return size + 1


@kernel
def _pop(heap, key, size):  # type: ignore[no-untyped-def]
    """Take the top away; the new size."""
    size -= 1
    slot, value = heap[size], key[size]
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _before(key[below + 1], heap[below + 1], key[below], heap[below]):
            below += 1
        if not _before(key[below], heap[below], value, slot):
            break
        heap[at], key[at] = heap[below], key[below]
        at = below
    heap[at], key[at] = slot, value
    return size


@kernel
def _before(value, slot, other_value, other_slot):  # type: ignore[no-untyped-def]
    return value > other_value or (value == other_value and slot < other_slot)
