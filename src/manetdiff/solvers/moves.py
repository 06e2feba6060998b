"""The moves of the searches: planned, scored, and made or forgotten.

Three kinds of moves reach every topology: drop a link; link two nodes of opposite parity, pushing off what is in the
way; turn a node's parity and link it anew. What is judged is T less a penalty for each part that the network is in:
a search may pass through networks in parts, because the way between two good trees often leads there. Where the fleet
will be later can be counted in (`later`, see solvers/later.py, or None): then T is the mean over all these moments.
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import kernel
from manetdiff.layout.tables import ANTENNA, BY_DISTANCE, FEWEST_PARTS, NEAREST, OWNER, PEER, REVERSE
from manetdiff.radio.pairs import SECTORS
from manetdiff.solvers.later import gain_later
from manetdiff.solvers.rng import below, uniform
from manetdiff.solvers.scoring import gain, gain_or_less, make
from manetdiff.solvers.state import (
    OFF,
    PARTS,
    REFUSED,
    forget,
    link,
    linked,
    nearest_free,
    turn,
    unlink,
    unlink_all,
    unlink_down_to,
)
from manetdiff.solvers.walks import know_parts, parts_after

# Moves of an annealing in one neighbourhood of a large fleet before it goes on to another.
BURST = 256
# How often a move may leave several links on an antenna. In fleets of up to FEW nodes, where there are not many peers,
# the best networks often share antennas: there it is tried more often, and by turns of parity, too.
SHARING, SHARING_IF_FEW, FEW = 0.1, 0.5, 8
# What counts as a gain in a descent, in Mbit/s a MHz: above rounding error, so that it ends.
LEAST_GAIN = 1e-9


@kernel
def anneal(tables, state, later, rng, nodes, moves, hot, cold, limit, penalty):  # type: ignore[no-untyped-def]
    """Try `moves` random pairs while the temperature falls from hot to cold; the number of moves kept.

    - nodes: whose pairs. limit: most links on an antenna. penalty: what each part beyond the first costs, in Mbit/s.
    """
    kept = 0
    cooling = (cold / hot) ** (1.0 / max(1, moves))
    temperature = hot
    sharing = SHARING_IF_FEW if len(state.parity) <= FEW else SHARING
    for _ in range(moves):
        temperature *= cooling
        i = nodes[below(rng, len(nodes))]
        first = tables.starts[NEAREST, i]
        count = tables.starts[NEAREST, i + 1] - first
        if count == 0:
            continue
        # Near peers are proposed more often than far ones, but every candidate can come up.
        draw = uniform(rng)
        slot = tables.lists[BY_DISTANCE, first + int(count * draw * draw)]
        # The least that T may change by: the rule min(1, exp(gain / temperature)), drawn before the move is scored.
        least = temperature * np.log(1.0 - uniform(rng))
        crowd = limit if limit > 1 and uniform(rng) < sharing else 1
        if try_pair(tables, state, later, slot, least, crowd, penalty):
            kept += 1
    return kept


@kernel
def anneal_by_regions(  # type: ignore[no-untyped-def]
    tables, state, later, rng, region, moves, hot, cold, limit, penalty
):
    """The same all over a large fleet, a while in one neighbourhood after the other: what is looked up stays at hand.

    - region: (r,) room for the nodes of one.
    """
    done = 0
    kept = 0
    while done < moves:
        count = gather_region(tables, below(rng, len(state.parity)), region)
        step = min(BURST, moves - done)
        before, after = hot * (cold / hot) ** (done / moves), hot * (cold / hot) ** ((done + step) / moves)
        kept += anneal(tables, state, later, rng, region[:count], step, before, after, limit, penalty)
        done += step
    return kept


@kernel
def gather_region(tables, middle, region):  # type: ignore[no-untyped-def]
    """Fill region (r,) with a node and its candidates, theirs, and so on, the nearest first; how many."""
    region[0] = middle
    count = 1
    at = 0
    while at < count and count < len(region):
        i = region[at]
        at += 1
        for place in range(tables.starts[NEAREST, i], tables.starts[NEAREST, i + 1]):
            j = tables.ints[PEER, tables.lists[BY_DISTANCE, place]]
            known = False
            for k in range(count):
                known = known or region[k] == j
            if not known and count < len(region):
                region[count] = j
                count += 1
    return count


@kernel
def descend(tables, state, later, limit, penalty, least, most, cursor):  # type: ignore[no-untyped-def]
    """Try every candidate in turn, keeping what raises T, until a whole round finds nothing; moves tried.

    - least: what counts as a gain. most: moves after which to stop in any case. cursor: (2,) where the round stands and
      how many tries in a row have found nothing; a call goes on where the last one stopped, and two zeros begin anew.
    """
    round_of_all = tables.lists.shape[1] * limit
    tried = 0
    while tried < most and cursor[1] < round_of_all:
        at, crowd = cursor[0] // limit, 1 + cursor[0] % limit
        cursor[0] = (cursor[0] + 1) % round_of_all
        cursor[1] += 1
        tried += 1
        if try_pair(tables, state, later, tables.lists[BY_DISTANCE, at], least, crowd, penalty):
            cursor[1] = 0
    return tried


@kernel
def try_pair(tables, state, later, slot, least, limit, penalty):  # type: ignore[no-untyped-def]
    """Try what there is to try about a candidate i, j, and keep it if it gains `least` or more; whether it did.

    Linked: drop it. Opposite parity: link it, and push off what its antennas carry beyond `limit`. One parity: turn i,
    link the two, and let i and the nodes it leaves find new peers.
    """
    if linked(state, slot):
        unlink(tables, state, slot)
    elif state.parity[tables.ints[OWNER, slot]] != state.parity[tables.ints[PEER, slot]]:
        unlink_down_to(tables, state, tables.ints[ANTENNA, slot], limit - 1)
        unlink_down_to(tables, state, tables.ints[ANTENNA, tables.ints[REVERSE, slot]], limit - 1)
        link(tables, state, slot)
    else:
        _plan_turn(tables, state, slot, limit if len(state.parity) <= FEW else 1)
    if later is None:
        return make_or_forget(tables, state, least, penalty)
    return make_or_forget_for_all(tables, state, later, least, penalty)


@kernel
def make_or_forget(tables, state, least, penalty):  # type: ignore[no-untyped-def]
    """Make what is planned if it gains `least` or more, parts counted in, and may be made; whether it was."""
    if state.sizes[REFUSED] == 0:
        parts = state.sizes[PARTS]
        fewest = tables.constants[FEWEST_PARTS]
        # The parts are only looked at where they can matter.
        enough = least - penalty * (parts - fewest)
        gained = gain_or_less(tables, state, enough)
        if gained >= enough:
            now = parts_after(tables, state, parts + (gained - least) / penalty)
            if gained + penalty * (parts - now) >= least:
                make(tables, state)
                if now > fewest or parts > fewest:
                    know_parts(tables, state)
                return True
    forget(tables, state)
    return False


@kernel
def make_or_forget_for_all(tables, state, later, least, penalty):  # type: ignore[no-untyped-def]
    """The same where what is gained is the mean over now and all moments that are looked ahead to."""
    if state.sizes[REFUSED] == 0:
        parts = state.sizes[PARTS]
        fewest = tables.constants[FEWEST_PARTS]
        gained = gain(tables, state)
        for one in later:
            gained += gain_later(tables, state, one)
        gained /= 1 + len(later)
        if gained >= least - penalty * (parts - fewest):
            now = parts_after(tables, state, parts + (gained - least) / penalty)
            if gained + penalty * (parts - now) >= least:
                make(tables, state)
                for one in later:
                    make(one.tables, one.state)
                if now > fewest or parts > fewest:
                    know_parts(tables, state)
                return True
        for one in later:
            forget(one.tables, one.state)
    forget(tables, state)
    return False


@kernel
def _plan_turn(tables, state, slot, limit):  # type: ignore[no-untyped-def]
    """Turn i and link it with j, whose antenna keeps fewer than `limit` others; then each free antenna of i, and each
    that i has just left, gets its nearest free peer."""
    i = tables.ints[OWNER, slot]
    sectors = int(tables.constants[SECTORS])
    unlink_all(tables, state, i)
    left = state.sizes[OFF]
    turn(state, i)
    unlink_down_to(tables, state, tables.ints[ANTENNA, tables.ints[REVERSE, slot]], limit - 1)
    link(tables, state, slot)
    for antenna in range(i * sectors, (i + 1) * sectors):
        _link_nearest(tables, state, antenna)
    for m in range(left):
        was = state.plan[OFF, m]
        at_peer = was if tables.ints[PEER, was] == i else tables.ints[REVERSE, was]
        _link_nearest(tables, state, tables.ints[ANTENNA, at_peer])


@kernel
def _link_nearest(tables, state, antenna):  # type: ignore[no-untyped-def]
    nearest = nearest_free(tables, state, antenna)
    if nearest >= 0:
        link(tables, state, nearest)
