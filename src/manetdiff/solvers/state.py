"""A topology under search: links come and go, and only the rates that a change touches are computed again.

The state holds only links of opposite parity. Changes are made in place and written to a journal, so a move of any
number of changes is tried by making it, looking at the throughput, and taking it back if it is not wanted:

    begin(state)
    before = total(state)
    add_link(tables, state, i, j)
    settle(tables, state)
    if total(state) < before:
        rollback(state, before)

Taking back restores the old values themselves, so that rejected moves leave no rounding error behind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import kernel
from manetdiff.radio import LinkTables
from manetdiff.radio.rates import heard_noise, link_rate
from manetdiff.radio.tables import BEAM_START, BEAM_STOP, HEARS, HEARS_SECTOR, SECTOR
from manetdiff.solvers.walks import LOAD, count_parts

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Planes of SearchState.floats: airtime of the link i, j; what k sends astray towards j, at [j, k]; rate of i→j and the
# interference on it when that rate was computed; and room for changes of the interference that are only thought of.
AIRTIME, STRAY, RATE, NOISE, CHANGE = 0, 1, 2, 3, 4
# Planes of SearchState.ints: where j stands among the peers on i's antenna (-1: not linked); whether the rate of i→j
# waits to be computed; and LOAD.
PLACE, DIRTY = 0, 1
# Places in SearchState.sizes, beside WALKS.
JOURNAL, WAITING, PARTS = 1, 2, 3
# Kinds of journal entries. (Not plain numbers, for the reason given at NOBODY.)
_STRAY, _RATE, _NOISE, _AIRTIME, _ADDED, REMOVED, _FLIPPED = np.arange(7)


class SearchState(NamedTuple):
    """n nodes, Q sectors. Few arrays: compiled code that hands many of them on is slow to run and to compile.

    - parity: (n,). throughput: (1,) T. floats: (5, n, n), planes AIRTIME, STRAY, RATE, NOISE, CHANGE.
    - ints: (3, n, max(n, Q)), planes PLACE, DIRTY, LOAD. peers: (n, Q, n) the linked nodes on each antenna.
    - journal: (capacity,) kind, i and j in one word; journal_value: (capacity,) what stood there before.
    - queue: (n·n,) directed links, as i·n + j, whose rate waits to be computed.
    - walk: (2, n) for graph walks: nodes in the order reached, and the number of the last walk that saw each.
    - sizes: (4,) WALKS, JOURNAL, WAITING, and PARTS: components as counted when the last move was kept.
    """

    parity: IntArray
    throughput: FloatArray
    floats: FloatArray
    ints: IntArray
    peers: IntArray
    journal: IntArray
    journal_value: FloatArray
    queue: IntArray
    walk: IntArray
    sizes: IntArray


def new_state(tables: LinkTables, links: IntArray, parity: IntArray) -> SearchState:
    """The state of the links (m, 2), all of opposite parity (n,)."""
    n, sectors = tables.nodes, tables.sectors
    # A move of the searches changes a few dozen values. Moves on antennas with very many links can need more than this;
    # see _note.
    capacity = 64 * n * n + 4096
    state = SearchState(
        np.array(parity, dtype=np.int64),
        np.zeros(1),
        np.zeros((5, n, n)),
        np.zeros((3, n, max(n, sectors)), dtype=np.int64),
        np.zeros((n, sectors, n), dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.empty(capacity),
        np.empty(n * n, dtype=np.int64),
        np.zeros((2, n), dtype=np.int64),
        np.zeros(4, dtype=np.int64),
    )
    reset(tables, state, links, state.parity)
    return state


def read_links(state: SearchState) -> IntArray:
    """(m, 2) links of the state with i < j, sorted."""
    # Every link is on one antenna at each of its ends.
    links = np.empty((int(state.ints[LOAD].sum()) // 2, 2), dtype=np.int64)
    _list_links(state, links)
    return links


@kernel
def _list_links(state, links):  # type: ignore[no-untyped-def]
    n = len(state.parity)
    m = 0
    for i in range(n):
        for j in range(i + 1, n):
            if state.ints[PLACE, i, j] >= 0:
                links[m, 0] = i
                links[m, 1] = j
                m += 1


def reset(tables: LinkTables, state: SearchState, links: IntArray, parity: IntArray) -> None:
    """Make the state exactly this topology, computed from scratch: no rounding error of earlier moves survives."""
    state.parity[:] = parity
    state.throughput[:] = 0.0
    state.floats[:] = 0.0
    state.ints[:] = 0
    state.ints[PLACE] = -1
    state.sizes[:] = 0
    state.walk[:] = 0
    _add_all(tables, state, links)


@kernel
def _add_all(tables, state, links):  # type: ignore[no-untyped-def]
    for m in range(len(links)):
        add_link(tables, state, links[m, 0], links[m, 1])
        begin(state)
    settle(tables, state)
    begin(state)
    state.sizes[PARTS] = count_parts(state)


@kernel
def total(state):  # type: ignore[no-untyped-def]
    """T of the settled state."""
    return state.throughput[0]


@kernel
def linked(state, i, j):  # type: ignore[no-untyped-def]
    """Whether i and j are linked."""
    return state.ints[PLACE, i, j] >= 0


@kernel
def begin(state):  # type: ignore[no-untyped-def]
    """What follows can be taken back to here."""
    state.sizes[JOURNAL] = 0


@kernel
def rollback(state, before):  # type: ignore[no-untyped-def]
    """Take back everything since `begin`; `before` is T as it was then."""
    n = len(state.parity)
    for at in range(state.sizes[JOURNAL] - 1, -1, -1):
        kind, i, j = entry(state, at)
        if kind == _STRAY:
            state.floats[STRAY, i, j] = state.journal_value[at]
        elif kind == _RATE:
            state.floats[RATE, i, j] = state.journal_value[at]
        elif kind == _NOISE:
            state.floats[NOISE, i, j] = state.journal_value[at]
        elif kind == _AIRTIME:
            state.floats[AIRTIME, i, j] = state.journal_value[at]
            state.floats[AIRTIME, j, i] = state.journal_value[at]
        elif kind == _FLIPPED:
            state.parity[i] = 1 - state.parity[i]
        else:
            antennas = int(state.journal_value[at])
            if kind == _ADDED:
                _drop(state, i, antennas // 64, j)
                _drop(state, j, antennas % 64, i)
            else:
                _append(state, i, antennas // 64, j)
                _append(state, j, antennas % 64, i)
    for m in range(state.sizes[WAITING]):
        state.ints[DIRTY, state.queue[m] // n, state.queue[m] % n] = 0
    state.sizes[WAITING] = 0
    state.sizes[JOURNAL] = 0
    state.throughput[0] = before


@kernel
def add_link(tables, state, i, j):  # type: ignore[no-untyped-def]
    """Link i and j, which must be unlinked and of opposite parity. Rates are right after `settle`."""
    a, b = tables.ints[SECTOR, i, j], tables.ints[SECTOR, j, i]
    _append(state, i, a, j)
    _append(state, j, b, i)
    _note(state, _ADDED, i, j, 64.0 * a + b)
    # What stands at an unlinked pair means nothing; a new link starts silent.
    state.floats[AIRTIME, i, j] = 0.0
    state.floats[RATE, i, j] = 0.0
    state.floats[RATE, j, i] = 0.0
    if state.ints[LOAD, i, a] > 1:
        _share_antenna(tables, state, i, a, j)
    if state.ints[LOAD, j, b] > 1:
        _share_antenna(tables, state, j, b, i)
    _set_airtime(tables, state, i, j, 1.0 / max(state.ints[LOAD, i, a], state.ints[LOAD, j, b]))


@kernel
def remove_link(tables, state, i, j):  # type: ignore[no-untyped-def]
    """Unlink i and j. Rates are right after `settle`."""
    a, b = tables.ints[SECTOR, i, j], tables.ints[SECTOR, j, i]
    _set_airtime(tables, state, i, j, 0.0)
    state.throughput[0] -= state.floats[RATE, i, j] + state.floats[RATE, j, i]
    _note(state, _RATE, i, j, state.floats[RATE, i, j])
    _note(state, _RATE, j, i, state.floats[RATE, j, i])
    _drop(state, i, a, j)
    _drop(state, j, b, i)
    _note(state, REMOVED, i, j, 64.0 * a + b)
    # The rates of unlinked pairs are 0, so that their sum is T.
    state.floats[RATE, i, j] = 0.0
    state.floats[RATE, j, i] = 0.0
    if state.ints[LOAD, i, a] > 0:
        _share_antenna(tables, state, i, a, j)
    if state.ints[LOAD, j, b] > 0:
        _share_antenna(tables, state, j, b, i)


@kernel
def flip_parity(state, i):  # type: ignore[no-untyped-def]
    """Turn the parity of a node that has no links."""
    state.parity[i] = 1 - state.parity[i]
    _note(state, _FLIPPED, i, i, 0.0)


@kernel
def settle(tables, state):  # type: ignore[no-untyped-def]
    """Compute the rates that the changes have touched, and T with them."""
    n = len(state.parity)
    for m in range(state.sizes[WAITING]):
        i, j = state.queue[m] // n, state.queue[m] % n
        state.ints[DIRTY, i, j] = 0
        if state.ints[PLACE, i, j] >= 0:
            noise = heard_noise(tables, state.parity, state.floats[STRAY], i, j)
            rate = link_rate(tables, i, j, state.floats[AIRTIME, i, j], noise)
            _note(state, _RATE, i, j, state.floats[RATE, i, j])
            _note(state, _NOISE, i, j, state.floats[NOISE, i, j])
            state.floats[NOISE, i, j] = noise
            state.throughput[0] += rate - state.floats[RATE, i, j]
            state.floats[RATE, i, j] = rate
    state.sizes[WAITING] = 0


@kernel
def cut_since_begin(state):  # type: ignore[no-untyped-def]
    """Whether a link was removed since `begin`: only then can the network have fallen apart."""
    for at in range(state.sizes[JOURNAL]):
        kind, _, _ = entry(state, at)
        if kind == REMOVED:
            return True
    return False


@kernel
def _share_antenna(tables, state, i, a, other_than):  # type: ignore[no-untyped-def]
    """Give the links on antenna a of i, all but one, the airtime that the loads now leave them."""
    for m in range(state.ints[LOAD, i, a]):
        peer = state.peers[i, a, m]
        if peer != other_than:
            share = 1.0 / max(state.ints[LOAD, i, a], state.ints[LOAD, peer, tables.ints[SECTOR, peer, i]])
            if share != state.floats[AIRTIME, i, peer]:
                _set_airtime(tables, state, i, peer, share)


@kernel
def _set_airtime(tables, state, i, j, share):  # type: ignore[no-untyped-def]
    change = share - state.floats[AIRTIME, i, j]
    _note(state, _AIRTIME, i, j, state.floats[AIRTIME, i, j])
    state.floats[AIRTIME, i, j] = share
    state.floats[AIRTIME, j, i] = share
    radiate(tables, state, i, j, change)
    radiate(tables, state, j, i, change)
    _wait(state, i, j)
    _wait(state, j, i)


@kernel
def radiate(tables, state, k, aim, change):  # type: ignore[no-untyped-def]
    """The beam k→aim is on for `change` more of the slot: the links that hear it wait for a new rate."""
    sectored = tables.constants[HEARS] == HEARS_SECTOR
    side = state.parity[k]
    for at in range(tables.ints[BEAM_START, k, aim], tables.ints[BEAM_STOP, k, aim]):
        j = tables.beam_node[at]
        stray = state.floats[STRAY, j, k]
        _note(state, _STRAY, j, k, stray)
        state.floats[STRAY, j, k] = stray + change * tables.beam_power[at]
        if state.parity[j] != side:
            if sectored:
                _wait_all(state, j, tables.ints[SECTOR, j, k], k)
            else:
                for a in range(state.peers.shape[1]):
                    _wait_all(state, j, a, k)


@kernel
def _wait_all(state, j, a, but):  # type: ignore[no-untyped-def]
    """Whatever j receives over its antenna a, but from one node, waits for a new rate."""
    for m in range(state.ints[LOAD, j, a]):
        i = state.peers[j, a, m]
        if i != but:
            _wait(state, i, j)


@kernel
def _wait(state, i, j):  # type: ignore[no-untyped-def]
    if state.ints[DIRTY, i, j] == 0:
        state.ints[DIRTY, i, j] = 1
        state.queue[state.sizes[WAITING]] = i * len(state.parity) + j
        state.sizes[WAITING] += 1


@kernel
def _note(state, kind, i, j, value):  # type: ignore[no-untyped-def]
    at = state.sizes[JOURNAL]
    if at == len(state.journal):
        # Such a move cannot be taken back whole: the state stays sound, its T drifts. Results are scored from scratch.
        return
    state.journal[at] = (kind << 32) | (i << 16) | j
    state.journal_value[at] = value
    state.sizes[JOURNAL] = at + 1


@kernel
def entry(state, at):  # type: ignore[no-untyped-def]
    """Kind, i and j of a journal entry."""
    word = state.journal[at]
    return word >> 32, (word >> 16) & 0xFFFF, word & 0xFFFF


@kernel
def _append(state, i, a, j):  # type: ignore[no-untyped-def]
    load = state.ints[LOAD, i, a]
    state.ints[PLACE, i, j] = load
    state.peers[i, a, load] = j
    state.ints[LOAD, i, a] = load + 1


@kernel
def _drop(state, i, a, j):  # type: ignore[no-untyped-def]
    """Take j out of the peers on i's antenna a; the last of them moves into its place."""
    load = state.ints[LOAD, i, a] - 1
    last = state.peers[i, a, load]
    at = state.ints[PLACE, i, j]
    state.peers[i, a, at] = last
    state.ints[PLACE, i, last] = at
    state.ints[PLACE, i, j] = -1
    state.ints[LOAD, i, a] = load
