"""The moves of the searches: tried on the state, and kept or taken back.

Three kinds of moves reach every topology: drop a link; link two nodes of opposite parity, pushing off what is in the
way; turn a node's parity and link it anew. What is judged is T less a penalty for each part that the network is in:
a search may pass through networks in parts, because the way between two good trees often leads there.
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import NOBODY, kernel
from manetdiff.radio.tables import CANDIDATE, DISTANCE, FACING, FACING_START, PINNED, PINS, SECTOR
from manetdiff.solvers.gains import gain_of_dropping, gain_of_replacing
from manetdiff.solvers.rng import below, uniform
from manetdiff.solvers.state import (
    JOURNAL,
    PARTS,
    REMOVED,
    add_link,
    begin,
    cut_since_begin,
    entry,
    flip_parity,
    linked,
    remove_link,
    rollback,
    settle,
    total,
)
from manetdiff.solvers.walks import LOAD, count_parts

# What counts as a gain in a descent, in Mbit/s a MHz: above rounding error, so that it ends.
LEAST_GAIN = 1e-9


@kernel
def anneal(tables, state, rng, near, near_start, moves, hot, cold, limit, penalty):  # type: ignore[no-untyped-def]
    """Try `moves` random pairs while the temperature falls from hot to cold; the number of moves kept.

    - near, near_start: candidate peers of each node, nearest first, and where each node's begin; see `Layout.peers`.
    - limit: most links on an antenna. penalty: what each part beyond the first costs, in Mbit/s.
    """
    n = len(state.parity)
    kept = 0
    cooling = (cold / hot) ** (1.0 / max(1, moves))
    temperature = hot
    for _ in range(moves):
        temperature *= cooling
        i = below(rng, n)
        count = near_start[i + 1] - near_start[i]
        if count == 0:
            continue
        # Near peers are proposed more often than far ones, but every candidate can come up.
        draw = uniform(rng)
        j = near[near_start[i] + int(count * draw * draw)]
        # The least that T may change by: the rule min(1, exp(gain / temperature)), drawn before the move is scored.
        least = temperature * np.log(1.0 - uniform(rng))
        crowd = limit if limit > 1 and uniform(rng) < 0.1 else 1
        if try_pair(tables, state, i, j, least, crowd, penalty):
            kept += 1
    return kept


@kernel
def descend(tables, state, near, near_start, limit, penalty, least, most, cursor):  # type: ignore[no-untyped-def]
    """Try every candidate pair in turn, keeping what raises T, until a whole round finds nothing; moves tried.

    - least: what counts as a gain. most: moves after which to stop in any case. cursor: (2,) where the round stands and
      how many tries in a row have found nothing; a call goes on where the last one stopped, and two zeros begin anew.
    """
    round_of_all = len(near) * limit
    tried = 0
    i = 0
    while tried < most and cursor[1] < round_of_all:
        at, crowd = cursor[0] // limit, 1 + cursor[0] % limit
        # Whose pair it is: the nodes' pairs stand one after the other.
        while at < near_start[i]:
            i -= 1
        while at >= near_start[i + 1]:
            i += 1
        cursor[0] = (cursor[0] + 1) % round_of_all
        cursor[1] += 1
        tried += 1
        if try_pair(tables, state, i, near[at], least, crowd, penalty):
            cursor[1] = 0
    return tried


@kernel
def try_pair(tables, state, i, j, least, limit, penalty):  # type: ignore[no-untyped-def]
    """Try what there is to try about the pair i, j, and keep it if it gains `least` or more; whether it did.

    Linked: drop it. Opposite parity: link it, and push off what its antennas carry beyond `limit`. One parity: turn i,
    link the two, and let i and the nodes it leaves find new peers.
    """
    if linked(state, i, j):
        return _try_drop(tables, state, i, j, least, penalty)
    if state.parity[i] != state.parity[j]:
        return _try_link(tables, state, i, j, least, limit, penalty)
    return _try_flip(tables, state, i, j, least, penalty)


@kernel
def _try_drop(tables, state, i, j, least, penalty):  # type: ignore[no-untyped-def]
    a, b = tables.ints[SECTOR, i, j], tables.ints[SECTOR, j, i]
    alone = state.ints[LOAD, i, a] == 1 and state.ints[LOAD, j, b] == 1
    if alone and gain_of_dropping(tables, state, i, j) < least:
        return False
    before = total(state)
    begin(state)
    remove_link(tables, state, i, j)
    return _settle_or_take_back(tables, state, before, least, penalty)


@kernel
def _try_link(tables, state, i, j, least, limit, penalty):  # type: ignore[no-untyped-def]
    a, b = tables.ints[SECTOR, i, j], tables.ints[SECTOR, j, i]
    if limit == 1 and state.sizes[PARTS] == 1 and state.ints[LOAD, i, a] <= 1 and state.ints[LOAD, j, b] <= 1:
        left_i = state.peers[i, a, 0] if state.ints[LOAD, i, a] == 1 else NOBODY
        left_j = state.peers[j, b, 0] if state.ints[LOAD, j, b] == 1 else NOBODY
        # The common case is scored without making the move, and mostly refused.
        if (
            _alone(tables, state, left_i, i)
            and _alone(tables, state, left_j, j)
            and gain_of_replacing(tables, state, i, j, left_i, left_j) < least
        ):
            return False
    before = total(state)
    begin(state)
    _push_off(tables, state, i, a, limit - 1)
    _push_off(tables, state, j, b, limit - 1)
    add_link(tables, state, i, j)
    return _settle_or_take_back(tables, state, before, least, penalty)


@kernel
def _alone(tables, state, i, j):  # type: ignore[no-untyped-def]
    """Whether i's antenna towards j carries just one link; true if there is no i."""
    return i < 0 or state.ints[LOAD, i, tables.ints[SECTOR, i, j]] == 1


@kernel
def _try_flip(tables, state, i, j, least, penalty):  # type: ignore[no-untyped-def]
    before = total(state)
    begin(state)
    for a in range(state.peers.shape[1]):
        _push_off(tables, state, i, a, 0)
    cuts = state.sizes[JOURNAL]
    flip_parity(state, i)
    _push_off(tables, state, j, tables.ints[SECTOR, j, i], 0)
    _link_anew(tables, state, i, j, cuts)
    return _settle_or_take_back(tables, state, before, least, penalty)


@kernel
def _link_anew(tables, state, i, j, cuts):  # type: ignore[no-untyped-def]
    """Link i with j; then give each free antenna of i, and each that i has just left, its nearest free peer.

    The nodes that i has left are those of the removals among the first `cuts` journal entries.
    """
    sectors = state.peers.shape[1]
    for task in range(-sectors - 1, cuts):
        if task < -sectors:
            at, peer = i, j
        elif task < 0:
            at, peer = i, _nearest_free(tables, state, i, task + sectors)
        else:
            kind, _, at = entry(state, task)
            peer = _nearest_free(tables, state, at, tables.ints[SECTOR, at, i]) if kind == REMOVED else NOBODY
        if peer >= 0:
            add_link(tables, state, at, peer)


@kernel
def _settle_or_take_back(tables, state, before, least, penalty):  # type: ignore[no-untyped-def]
    """Keep the changes since `begin` if they gain `least` or more, parts counted in; whether it did."""
    settle(tables, state)
    if tables.constants[PINS] > 0 and _cuts_a_pin(tables, state):
        rollback(state, before)
        return False
    gain = total(state) - before
    parts = state.sizes[PARTS]
    # The parts are only counted where they can matter.
    if gain + penalty * (parts - 1) >= least:
        now = count_parts(state) if parts > 1 or cut_since_begin(state) else parts
        if gain + penalty * (parts - now) >= least:
            state.sizes[PARTS] = now
            return True
    rollback(state, before)
    return False


@kernel
def _cuts_a_pin(tables, state):  # type: ignore[no-untyped-def]
    """Whether a link that must stay is among those removed since `begin`, and not back."""
    for at in range(state.sizes[JOURNAL]):
        kind, i, j = entry(state, at)
        if kind == REMOVED and tables.ints[CANDIDATE, i, j] == PINNED and not linked(state, i, j):
            return True
    return False


@kernel
def _push_off(tables, state, i, a, keep):  # type: ignore[no-untyped-def]
    """Drop the newest links on antenna a of i until `keep` are left."""
    while state.ints[LOAD, i, a] > keep:
        remove_link(tables, state, i, state.peers[i, a, state.ints[LOAD, i, a] - 1])


@kernel
def _nearest_free(tables, state, i, a):  # type: ignore[no-untyped-def]
    """The nearest node, over antenna a of i, of opposite parity and with its own antenna free; -1 if a is in use."""
    best = NOBODY
    if state.ints[LOAD, i, a] == 0:
        shortest = np.inf
        for m in range(tables.ints[FACING_START, i, a], tables.ints[FACING_START, i, a + 1]):
            k = tables.ints[FACING, i, m]
            if (
                state.parity[k] != state.parity[i]
                and tables.ints[CANDIDATE, i, k]
                and tables.floats[DISTANCE, i, k] < shortest
                and state.ints[LOAD, k, tables.ints[SECTOR, k, i]] == 0
            ):
                best = k
                shortest = tables.floats[DISTANCE, i, k]
    return best
