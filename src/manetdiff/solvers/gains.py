"""What a change would gain, found without making it.

Switching a beam on or off changes the interference on the few links that hear it. The change is added up per link,
and the new rates of all of them take one logarithm together: log2(1 + a) + log2(1 + b) = log2((1 + a)(1 + b)).
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import NOBODY, kernel
from manetdiff.radio.rates import heard_noise, hearing, link_rate
from manetdiff.radio.tables import BEAM_START, BEAM_STOP, HEARS, HEARS_SECTOR, MEGAHERTZ, SECTOR, SIGMA2, SIGNAL
from manetdiff.solvers.state import AIRTIME, CHANGE, DIRTY, NOISE, RATE, STRAY, WAITING
from manetdiff.solvers.walks import LOAD


@kernel
def gain_of_free_link(tables, state, i, j):  # type: ignore[no-untyped-def]
    """By how much T would grow with the link i, j, where both its antennas are free; changes nothing."""
    return gain_of_replacing(tables, state, i, j, NOBODY, NOBODY)


@kernel
def gain_of_replacing(tables, state, i, j, left_i, left_j):  # type: ignore[no-untyped-def]
    """By how much T would grow with the link i, j in place of i's link with left_i and j's with left_j.

    Either may be NOBODY. Every antenna concerned carries at most one link. Changes nothing.
    """
    _switch(tables, state, i, j, 1.0)
    _switch(tables, state, j, i, 1.0)
    if left_i >= 0:
        _switch(tables, state, i, left_i, -1.0)
        _switch(tables, state, left_i, i, -1.0)
    if left_j >= 0:
        _switch(tables, state, j, left_j, -1.0)
        _switch(tables, state, left_j, j, -1.0)
    gained = own_rate(tables, state, i, j) + own_rate(tables, state, j, i)
    return gained + _gain_of_others(tables, state, i, left_i, j, left_j)


@kernel
def gain_of_dropping(tables, state, i, j):  # type: ignore[no-untyped-def]
    """By how much T would grow without the link i, j, which is alone on both its antennas; changes nothing."""
    _switch(tables, state, i, j, -1.0)
    _switch(tables, state, j, i, -1.0)
    return _gain_of_others(tables, state, i, j, NOBODY, NOBODY)


@kernel
def own_rate(tables, state, i, j):  # type: ignore[no-untyped-def]
    """Rate that i→j would have, with all the airtime, under the interference there is."""
    return link_rate(tables, i, j, 1.0, heard_noise(tables, state.parity, state.floats[STRAY], i, j))


@kernel
def _switch(tables, state, k, aim, change):  # type: ignore[no-untyped-def]
    """Note what the links that hear the beam k→aim hear more or less of it."""
    n = len(state.parity)
    sectored = tables.constants[HEARS] == HEARS_SECTOR
    side = state.parity[k]
    for at in range(tables.ints[BEAM_START, k, aim], tables.ints[BEAM_STOP, k, aim]):
        j = tables.beam_node[at]
        if state.parity[j] != side:
            first = tables.ints[SECTOR, j, k] if sectored else 0
            last = first if sectored else state.peers.shape[1] - 1
            for a in range(first, last + 1):
                for m in range(state.ints[LOAD, j, a]):
                    i = state.peers[j, a, m]
                    if i != k:
                        if state.ints[DIRTY, i, j] == 0:
                            state.ints[DIRTY, i, j] = 1
                            state.queue[state.sizes[WAITING]] = i * n + j
                            state.sizes[WAITING] += 1
                            state.floats[CHANGE, i, j] = 0.0
                        heard = 1.0 if sectored else hearing(tables, j, i, k)
                        state.floats[CHANGE, i, j] += change * heard * tables.beam_power[at]


@kernel
def _gain_of_others(tables, state, i, left_i, j, left_j):  # type: ignore[no-untyped-def]
    """What all noted links gain, less the rates of the links i, left_i and j, left_j, which are no more."""
    n = len(state.parity)
    product, gained = 1.0, 0.0
    for m in range(state.sizes[WAITING]):
        source, sink = state.queue[m] // n, state.queue[m] % n
        state.ints[DIRTY, source, sink] = 0
        no_more = (
            (source == i and sink == left_i)
            or (source == left_i and sink == i)
            or (source == j and sink == left_j)
            or (source == left_j and sink == j)
        )
        if not no_more:
            noise = state.floats[NOISE, source, sink] + state.floats[CHANGE, source, sink]
            gained -= state.floats[RATE, source, sink]
            if state.floats[AIRTIME, source, sink] == 1.0:
                product *= 1.0 + tables.floats[SIGNAL, source, sink] / (tables.constants[SIGMA2] + noise)
                # A radio with little noise has large factors: their product must stay finite.
                if product > 1e200:
                    gained += tables.constants[MEGAHERTZ] * np.log2(product)
                    product = 1.0
            else:
                gained += link_rate(tables, source, sink, state.floats[AIRTIME, source, sink], noise)
    state.sizes[WAITING] = 0
    if left_i >= 0:
        gained -= state.floats[RATE, i, left_i] + state.floats[RATE, left_i, i]
    if left_j >= 0:
        gained -= state.floats[RATE, j, left_j] + state.floats[RATE, left_j, j]
    return gained + tables.constants[MEGAHERTZ] * np.log2(product)
