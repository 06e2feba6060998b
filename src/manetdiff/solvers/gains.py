"""What a change would gain, found without making it."""

from __future__ import annotations

from manetdiff.compiled import kernel
from manetdiff.radio.rates import heard_noise, link_rate
from manetdiff.radio.tables import BEAM_START, BEAM_STOP, HEARS, HEARS_SECTOR, SECTOR
from manetdiff.solvers.state import AIRTIME, DIRTY, JOURNAL, LOAD, RATE, STRAY, WAITING, begin, entry, radiate


@kernel
def gain_of_free_link(tables, state, i, j):  # type: ignore[no-untyped-def]
    """By how much T would grow with the link i, j, where both its antennas are free; changes nothing."""
    return (
        own_rate(tables, state, i, j)
        + own_rate(tables, state, j, i)
        + _harm(tables, state, i, j, 1.0)
        + _harm(tables, state, j, i, 1.0)
    )


@kernel
def gain_of_dropping(tables, state, i, j):  # type: ignore[no-untyped-def]
    """By how much T would grow without the link i, j, which is alone on both its antennas; changes nothing."""
    return (
        _harm(tables, state, i, j, -1.0)
        + _harm(tables, state, j, i, -1.0)
        - state.reals[RATE, i, j]
        - state.reals[RATE, j, i]
    )


@kernel
def own_rate(tables, state, i, j):  # type: ignore[no-untyped-def]
    """Rate that i→j would have, with all the airtime, under the interference there is."""
    return link_rate(tables, i, j, 1.0, heard_noise(tables, state.parity, state.reals[STRAY], i, j))


@kernel
def _harm(tables, state, k, aim, change):  # type: ignore[no-untyped-def]
    """By how much the other links' rates change if the beam k→aim is on for `change` more of the slot.

    No link is counted twice when both directions are added up: their beams reach receivers of opposite parity.
    """
    gained = 0.0
    sectored = tables.constants[HEARS] == HEARS_SECTOR
    for at in range(tables.wholes[BEAM_START, k, aim], tables.wholes[BEAM_STOP, k, aim]):
        j = tables.beam_node[at]
        if state.parity[j] != state.parity[k]:
            first = tables.wholes[SECTOR, j, k] if sectored else 0
            last = first if sectored else state.peers.shape[1] - 1
            old = state.reals[STRAY, j, k]
            state.reals[STRAY, j, k] = old + change * tables.beam_power[at]
            for a in range(first, last + 1):
                for m in range(state.wholes[LOAD, j, a]):
                    i = state.peers[j, a, m]
                    if i != k:
                        noise = heard_noise(tables, state.parity, state.reals[STRAY], i, j)
                        rate = link_rate(tables, i, j, state.reals[AIRTIME, i, j], noise)
                        gained += rate - state.reals[RATE, i, j]
            state.reals[STRAY, j, k] = old
    return gained


@kernel
def gain_of_replacing(tables, state, i, j, left_i, left_j):  # type: ignore[no-untyped-def]
    """By how much T would grow with the link i, j in place of i's link with left_i and j's with left_j (-1: none).

    Every antenna concerned carries at most one link. Changes nothing in the end: what the beams send astray is
    switched while the rates that hear it are computed, and then put back.
    """
    n = len(state.parity)
    begin(state)
    gained = 0.0
    for beam in range(6):
        near, far = (i, j) if beam < 2 else (i, left_i) if beam < 4 else (j, left_j)
        if far >= 0:
            k, aim = (near, far) if beam % 2 == 0 else (far, near)
            if beam >= 2:
                gained -= state.reals[RATE, k, aim]
            radiate(tables, state, k, aim, 1.0 if beam < 2 else -1.0)
    for m in range(state.sizes[WAITING]):
        source, sink = state.queue[m] // n, state.queue[m] % n
        state.wholes[DIRTY, source, sink] = 0
        off_i = (source == i and sink == left_i) or (source == left_i and sink == i)
        off_j = (source == j and sink == left_j) or (source == left_j and sink == j)
        if not (off_i or off_j):
            noise = heard_noise(tables, state.parity, state.reals[STRAY], source, sink)
            gained += (
                link_rate(tables, source, sink, state.reals[AIRTIME, source, sink], noise)
                - state.reals[RATE, source, sink]
            )
    state.sizes[WAITING] = 0
    gained += own_rate(tables, state, i, j) + own_rate(tables, state, j, i)
    for at in range(state.sizes[JOURNAL] - 1, -1, -1):
        _, receiver, sender = entry(state, at)
        state.reals[STRAY, receiver, sender] = state.journal_value[at]
    state.sizes[JOURNAL] = 0
    return gained
