"""A topology under search. A change is planned, scored, and then made or forgotten:

    unlink(tables, state, slot)
    link(tables, state, other)
    if gain(tables, state) > 0.0:
        make(tables, state)
    else:
        forget(tables, state)

What is planned is in the lists of links at once, so that what follows can look at it, but rates and interference stay
as they are until the change is made: forgetting it leaves no trace, not even a rounding error. Scores are in
`solvers/scoring.py`.

The state holds only links of opposite parity. A link {i, j} has the two slots (i, j) and (j, i) of the layout's tables;
what is received over it is kept at the receiver's slot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import NOBODY, builder, kernel
from manetdiff.layout.choosing import LINKABLE, PINNED
from manetdiff.layout.tables import ANTENNA, ANTENNAS, FACING, GRADE, OWNER, PEER, REVERSE, SLOTS, LinkTables
from manetdiff.radio.pairs import SECTORS

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Rows of SearchState.floats, by slot (i, j): airtime of the link; what j sends astray towards i; the rate from j to i
# and the interference on it when that rate was computed; changes of the interference that are only planned; and what i
# hears from afar while it listens to j, if j transmits with parity 0, and with parity 1 (see solvers/far_field.py); and
# what a beam from i at j costs nodes far away, if i transmits with parity 0, and with parity 1 (solvers/far_harm.py).
AIRTIME, STRAY, RATE, NOISE, CHANGE, FAR, HARM = 0, 1, 2, 3, 4, 5, 7
# Rows of SearchState.ints, by slot: where a link stands among those of its antenna (-1: not linked); MARK of a planned
# change; the links of each antenna, in the room that the tables' ANTENNAS give it.
PLACE, MARK, LINKED = 0, 1, 2
# Bits of MARK: its rate waits to be computed; it is new; its new share of the slot has been counted.
WAITS, NEW, SHARES = 1, 2, 4
# Rows of SearchState.plan.
OFF, ON, SHARED = 0, 1, 2
# Places in SearchState.sizes: how much is in each row of the plan, in the queue; the node whose parity turns, or -1;
# whether the plan does what it must not, with a pinned link or with nodes of another's; how many walks have been made;
# parts of the network when the last change was made.
WAITING, TURNED, REFUSED, WALKS, PARTS = 3, 4, 5, 6, 7


class SearchState(NamedTuple):
    """n nodes, Q antennas each, p slots. Few arrays: code that hands many of them on is slow to run and to compile.

    - parity: (n,). throughput: (1,) T. floats: (9, p), rows AIRTIME … HARM. ints: (3, p), rows PLACE, MARK, LINKED.
    - load: (n·Q,) links on each antenna, planned changes included. queue: (p,) slots whose rate waits.
    - plan: (3, p / 2 + 1) slots of links to take OFF, to put ON, and that get another share of an antenna.
    - walk: (5, n) for walks over the links; see solvers/walks.py.
    - sizes: (8,) the places above. mine: (n,) nodes whose links may change; others keep all of theirs.
    """

    parity: IntArray
    throughput: FloatArray
    floats: FloatArray
    ints: npt.NDArray[np.int32]
    load: IntArray
    queue: IntArray
    plan: IntArray
    walk: IntArray
    sizes: IntArray
    mine: npt.NDArray[np.bool_]


def empty_state(tables: LinkTables) -> SearchState:
    """Without links, all parities 0."""
    state: SearchState = new_state(tables.nodes, tables.slots, int(tables.constants[SECTORS]))
    return state


@builder
def new_state(n, p, sectors):  # type: ignore[no-untyped-def]
    """The same for n nodes of so many antennas, and p slots."""
    state = SearchState(
        np.zeros(n, dtype=np.int64),
        np.zeros(1),
        np.zeros((9, p)),
        np.zeros((3, p), dtype=np.int32),
        np.zeros(n * sectors, dtype=np.int64),
        np.empty(p + 1, dtype=np.int64),
        # Where antennas are crowded, one change can give almost every link another share.
        np.empty((3, p // 2 + 1), dtype=np.int64),
        np.zeros((5, n), dtype=np.int64),
        np.zeros(8, dtype=np.int64),
        np.ones(n, dtype=np.bool_),
    )
    state.ints[PLACE] = -1
    state.sizes[TURNED] = -1
    state.sizes[PARTS] = n
    return state


@kernel
def clear(state):  # type: ignore[no-untyped-def]
    """Take all links away; parities stay."""
    state.throughput[:] = 0.0
    state.floats[:] = 0.0
    state.load[:] = 0
    state.sizes[:] = 0
    state.walk[:] = 0
    state.ints[:] = 0
    state.ints[PLACE] = -1
    state.sizes[TURNED] = -1


@builder
def read_links(tables, state):  # type: ignore[no-untyped-def]
    """(m, 2) links of the state with i < j, sorted."""
    slots = linked_slots(tables, state)
    links = np.empty((len(slots), 2), dtype=np.int64)
    for m in range(len(slots)):
        # Slots come by their owner, but not by the peer where receivers hear a sector.
        i, j = tables.ints[OWNER, slots[m]], tables.ints[PEER, slots[m]]
        at = m
        while at > 0 and links[at - 1, 0] == i and links[at - 1, 1] > j:
            links[at, 0], links[at, 1] = links[at - 1, 0], links[at - 1, 1]
            at -= 1
        links[at, 0], links[at, 1] = i, j
    return links


@builder
def linked_slots(tables, state):  # type: ignore[no-untyped-def]
    """(m,) of the two slots of each link, the one whose owner is the lower node."""
    slots = np.empty(tables.ints.shape[1], dtype=np.int64)
    size = 0
    for slot in range(len(slots)):
        if state.ints[PLACE, slot] >= 0 and tables.ints[OWNER, slot] < tables.ints[PEER, slot]:
            slots[size] = slot
            size += 1
    return slots[:size].copy()


@builder
def linkable_slots(tables):  # type: ignore[no-untyped-def]
    """(m,) the same of each pair that may be linked."""
    slots = np.empty(tables.ints.shape[1], dtype=np.int64)
    size = 0
    for slot in range(len(slots)):
        if tables.ints[GRADE, slot] >= LINKABLE and tables.ints[OWNER, slot] < tables.ints[PEER, slot]:
            slots[size] = slot
            size += 1
    return slots[:size].copy()


@kernel
def find_slot(tables, i, j):  # type: ignore[no-untyped-def]
    """The slot (i, j), or -1 where the tables have none."""
    for slot in range(tables.starts[SLOTS, i], tables.starts[SLOTS, i + 1]):
        if tables.ints[PEER, slot] == j:
            return np.int64(slot)
    return NOBODY


@kernel
def find_slots(tables, links, slots):  # type: ignore[no-untyped-def]
    """Fill slots (m,) with those of links (m, 2) that may be linked, -1 for others."""
    for m in range(len(links)):
        slot = find_slot(tables, links[m, 0], links[m, 1])
        slots[m] = slot if slot >= 0 and tables.ints[GRADE, slot] >= LINKABLE else NOBODY


@kernel
def linked(state, slot):  # type: ignore[no-untyped-def]
    """Whether there is a link, planned changes included."""
    return state.ints[PLACE, slot] >= 0


@kernel
def total(state):  # type: ignore[no-untyped-def]
    """T, without what is only planned."""
    return state.throughput[0]


@kernel
def link(tables, state, slot):  # type: ignore[no-untyped-def]
    """Plan a link between two nodes that are unlinked and of opposite parity."""
    reverse = tables.ints[REVERSE, slot]
    _check_mine(tables, state, slot)
    append(tables, state, slot)
    append(tables, state, reverse)
    state.plan[ON, state.sizes[ON]] = slot
    state.sizes[ON] += 1


@kernel
def unlink(tables, state, slot):  # type: ignore[no-untyped-def]
    """Plan to take a link away."""
    reverse = tables.ints[REVERSE, slot]
    _check_mine(tables, state, slot)
    if tables.ints[GRADE, slot] == PINNED:
        state.sizes[REFUSED] = 1
    _drop(tables, state, slot)
    _drop(tables, state, reverse)
    state.plan[OFF, state.sizes[OFF]] = slot
    state.sizes[OFF] += 1


@kernel
def _check_mine(tables, state, slot):  # type: ignore[no-untyped-def]
    if not (state.mine[tables.ints[OWNER, slot]] and state.mine[tables.ints[PEER, slot]]):
        state.sizes[REFUSED] = 1


@kernel
def unlink_down_to(tables, state, antenna, keep):  # type: ignore[no-untyped-def]
    """Plan to take the newest links off an antenna until `keep` are left."""
    while state.load[antenna] > keep:
        unlink(tables, state, state.ints[LINKED, tables.starts[ANTENNAS, antenna] + state.load[antenna] - 1])


@kernel
def unlink_all(tables, state, i):  # type: ignore[no-untyped-def]
    """Plan to take all links of a node away."""
    sectors = int(tables.constants[SECTORS])
    for antenna in range(i * sectors, (i + 1) * sectors):
        unlink_down_to(tables, state, antenna, 0)


@kernel
def turn(state, i):  # type: ignore[no-untyped-def]
    """Plan to turn the parity of a node whose links have all been taken away; one in a plan."""
    state.parity[i] = 1 - state.parity[i]
    state.sizes[TURNED] = i


@kernel
def forget(tables, state):  # type: ignore[no-untyped-def]
    """Undo what is planned."""
    for m in range(state.sizes[ON]):
        slot = state.plan[ON, m]
        _drop(tables, state, slot)
        _drop(tables, state, tables.ints[REVERSE, slot])
    for m in range(state.sizes[OFF] - 1, -1, -1):
        slot = state.plan[OFF, m]
        append(tables, state, slot)
        append(tables, state, tables.ints[REVERSE, slot])
    if state.sizes[TURNED] >= 0:
        state.parity[state.sizes[TURNED]] = 1 - state.parity[state.sizes[TURNED]]
    clear_plan(state)


@kernel
def clear_plan(state):  # type: ignore[no-untyped-def]
    """Begin a new plan."""
    for m in range(state.sizes[WAITING]):
        state.ints[MARK, state.queue[m]] = 0
    state.sizes[OFF] = 0
    state.sizes[ON] = 0
    state.sizes[SHARED] = 0
    state.sizes[WAITING] = 0
    state.sizes[TURNED] = -1
    state.sizes[REFUSED] = 0


@kernel
def nearest_free(tables, state, antenna):  # type: ignore[no-untyped-def]
    """Of a free antenna, the slot of the nearest candidate of opposite parity whose own antenna is free; -1: none."""
    if state.load[antenna] == 0:
        for at in range(tables.starts[FACING, antenna], tables.starts[FACING, antenna + 1]):
            slot = tables.lists[1, at]
            if (
                state.parity[tables.ints[PEER, slot]] != state.parity[tables.ints[OWNER, slot]]
                and state.load[tables.ints[ANTENNA, tables.ints[REVERSE, slot]]] == 0
            ):
                return slot
    return NOBODY


@kernel
def append(tables, state, slot):  # type: ignore[no-untyped-def]
    """Put a link into the list of its owner's antenna."""
    antenna = tables.ints[ANTENNA, slot]
    place = state.load[antenna]
    state.ints[PLACE, slot] = place
    state.ints[LINKED, tables.starts[ANTENNAS, antenna] + place] = slot
    state.load[antenna] = place + 1


@kernel
def _drop(tables, state, slot):  # type: ignore[no-untyped-def]
    """Take a link out of the list of its owner's antenna; the last one moves into its place."""
    antenna = tables.ints[ANTENNA, slot]
    begin = tables.starts[ANTENNAS, antenna]
    count = state.load[antenna] - 1
    last = state.ints[LINKED, begin + count]
    place = state.ints[PLACE, slot]
    state.ints[LINKED, begin + place] = last
    state.ints[PLACE, last] = place
    state.ints[PLACE, slot] = -1
    state.load[antenna] = count
