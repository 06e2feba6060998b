"""What a planned change gains, found without making it; and making it.

Switching a beam on or off changes the interference on the few links that hear it. The change is added up per link, and
the new rates of all of them take one logarithm together: log2(1 + a) + log2(1 + b) = log2((1 + a)(1 + b)).
"""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import NOBODY, kernel
from manetdiff.layout.tables import (
    ANTENNA,
    ANTENNAS,
    BEAM_FROM,
    BEAM_TO,
    FAN_ANTENNA,
    FAN_NODE,
    FAN_SLOT,
    FAR_AWAY,
    GAIN_AT,
    HEARD_FROM,
    HEARD_TO,
    OWNER,
    PEER,
    REVERSE,
    SENT,
    SIGNAL,
    SLOTS,
)
from manetdiff.radio.pairs import HEARS, HEARS_BEAM, HEARS_SECTOR, MEGAHERTZ, SECTORS
from manetdiff.radio.rates import link_rate, rate_factor
from manetdiff.solvers.state import (
    AIRTIME,
    CHANGE,
    FAR,
    HARM,
    LINKED,
    MARK,
    NEW,
    NOISE,
    OFF,
    ON,
    RATE,
    SHARED,
    SHARES,
    STRAY,
    TURNED,
    WAITING,
    WAITS,
    append,
    clear_plan,
)


@kernel
def gain(tables, state):  # type: ignore[no-untyped-def]
    """By how much T would grow with what is planned."""
    return gain_or_less(tables, state, -np.inf)


@kernel
def gain_or_less(tables, state, least):  # type: ignore[no-untyped-def]
    """The same; where it is below `least`, any number below that.

    Links that go do others good, and links that come do them harm. So what goes is looked at first, with new links as
    if they did no harm: mostly that says already that a move is not worth making.
    """
    turned = state.sizes[TURNED]
    lost = -_spared(tables, state)
    for m in range(state.sizes[ON]):
        slot = state.plan[ON, m]
        for end in (slot, np.int64(tables.ints[REVERSE, slot])):
            _wait(state, end, NEW)
            # Nothing else is kept there as long as the link is only planned.
            state.floats[RATE, end] = 0.0
            state.floats[NOISE, end] = heard_noise(tables, state, end, turned)
    for m in range(state.sizes[OFF]):
        slot = state.plan[OFF, m]
        reverse = np.int64(tables.ints[REVERSE, slot])
        lost += state.floats[RATE, slot] + state.floats[RATE, reverse]
        airtime = state.floats[AIRTIME, slot]
        _switch(tables, state, slot, -airtime, tables.ints[OWNER, slot] == turned)
        _switch(tables, state, reverse, -airtime, tables.ints[PEER, slot] == turned)
    if _all_alone(tables, state):
        at_most = _gain_of_waiting(tables, state) - lost
        if state.sizes[ON] == 0 or at_most < least:
            return at_most
    for m in range(state.sizes[OFF]):
        _note_shares(tables, state, state.plan[OFF, m], 1)
    for m in range(state.sizes[ON]):
        slot = state.plan[ON, m]
        reverse = np.int64(tables.ints[REVERSE, slot])
        share = share_of(tables, state, slot)
        _switch(tables, state, slot, share, False)
        _switch(tables, state, reverse, share, False)
        _note_shares(tables, state, slot, 2)
    return _gain_of_waiting(tables, state) - lost - _inflicted(tables, state)


@kernel
def _spared(tables, state):  # type: ignore[no-untyped-def]
    """What links that go no longer cost those who are far away."""
    total = 0.0
    if tables.constants[FAR_AWAY] > 0:
        for m in range(state.sizes[OFF]):
            slot = state.plan[OFF, m]
            for end in (slot, np.int64(tables.ints[REVERSE, slot])):
                i = tables.ints[OWNER, end]
                side = 1 - state.parity[i] if i == state.sizes[TURNED] else state.parity[i]
                total += state.floats[AIRTIME, slot] * state.floats[HARM + side, end]
    return total


@kernel
def _inflicted(tables, state):  # type: ignore[no-untyped-def]
    """What links that come, or get another share of an antenna, cost those who are far away."""
    total = 0.0
    if tables.constants[FAR_AWAY] > 0:
        for row in (ON, SHARED):
            for m in range(state.sizes[row]):
                slot = state.plan[row, m]
                change = share_of(tables, state, slot)
                if row == SHARED:
                    change -= state.floats[AIRTIME, slot]
                for end in (slot, np.int64(tables.ints[REVERSE, slot])):
                    total += change * state.floats[HARM + state.parity[tables.ints[OWNER, end]], end]
    return total


@kernel
def _all_alone(tables, state):  # type: ignore[no-untyped-def]
    """Whether no link that comes or goes shares an antenna with another."""
    for m in range(state.sizes[OFF]):
        if state.floats[AIRTIME, state.plan[OFF, m]] < 1.0:
            return False
    for m in range(state.sizes[ON]):  # noqa: SIM110 numba compiles the loop, not a generator
        if share_of(tables, state, state.plan[ON, m]) < 1.0:
            return False
    return True


@kernel
def _gain_of_waiting(tables, state):  # type: ignore[no-untyped-def]
    """What the links that wait for another rate gain together."""
    product, gained = 1.0, 0.0
    for m in range(state.sizes[WAITING]):
        slot = state.queue[m]
        noise = state.floats[NOISE, slot] + state.floats[CHANGE, slot]
        gained -= state.floats[RATE, slot]
        share = share_of(tables, state, slot)
        if share == 1.0:
            product *= rate_factor(tables.constants, tables.floats[SIGNAL, slot], noise)
            # A radio with little noise has large factors: their product must stay finite.
            if product > 1e200:
                gained += tables.constants[MEGAHERTZ] * np.log2(product)
                product = 1.0
        else:
            gained += link_rate(tables.constants, tables.floats[SIGNAL, slot], share, noise)
    return gained + tables.constants[MEGAHERTZ] * np.log2(product)


@kernel
def make(tables, state):  # type: ignore[no-untyped-def]
    """Make the planned change, after `gain` has looked at it."""
    state.throughput[0] += _spared(tables, state) - _inflicted(tables, state)
    for m in range(state.sizes[OFF]):
        slot = state.plan[OFF, m]
        _set_airtime(tables, state, slot, 0.0)
        for end in (slot, np.int64(tables.ints[REVERSE, slot])):
            state.throughput[0] -= state.floats[RATE, end]
            state.floats[RATE, end] = 0.0
    for m in range(state.sizes[SHARED]):
        slot = state.plan[SHARED, m]
        _set_airtime(tables, state, slot, share_of(tables, state, slot))
    for m in range(state.sizes[ON]):
        slot = state.plan[ON, m]
        _set_airtime(tables, state, slot, share_of(tables, state, slot))
    for m in range(state.sizes[WAITING]):
        update_rate(tables, state, state.queue[m])
    clear_plan(state)


@kernel
def update_rate(tables, state, slot):  # type: ignore[no-untyped-def]
    """Compute what is received at a slot by the interference there is."""
    noise = heard_noise(tables, state, slot, NOBODY)
    rate = link_rate(tables.constants, tables.floats[SIGNAL, slot], state.floats[AIRTIME, slot], noise)
    state.floats[NOISE, slot] = noise
    state.throughput[0] += rate - state.floats[RATE, slot]
    state.floats[RATE, slot] = rate


@kernel
def put_links(tables, state, slots):  # type: ignore[no-untyped-def]
    """Put links (m,) slots, of opposite parity each, onto an empty state; rates wait for `compute_rates`."""
    for slot in slots:
        append(tables, state, slot)
        append(tables, state, np.int64(tables.ints[REVERSE, slot]))
    for slot in slots:
        _set_airtime(tables, state, slot, share_of(tables, state, slot))


@kernel
def compute_rates(tables, state):  # type: ignore[no-untyped-def]
    """Compute all rates, and T, by the interference there is."""
    state.throughput[0] = 0.0
    for antenna in range(len(state.load)):
        begin = tables.starts[ANTENNAS, antenna]
        for at in range(begin, begin + state.load[antenna]):
            state.floats[RATE, state.ints[LINKED, at]] = 0.0
            update_rate(tables, state, np.int64(state.ints[LINKED, at]))


@kernel
def heard_noise(tables, state, slot, but):  # type: ignore[no-untyped-def]
    """Interference at a slot's owner on what comes from its peer: what the nodes that transmit with the peer, but one
    of them, send astray towards the owner, as far as it hears that; and what comes from afar."""
    side = state.parity[tables.ints[PEER, slot]]
    total = state.floats[FAR + side, slot]
    begin = tables.ints[HEARD_FROM, slot]
    end = tables.ints[HEARD_TO, slot]
    if tables.constants[HEARS] == HEARS_BEAM:
        at = tables.ints[GAIN_AT, slot] - begin
        for other in range(begin, end):
            k = tables.ints[PEER, other]
            if state.parity[k] == side and other != slot and k != but:
                total += state.floats[STRAY, other] * tables.gain[at + other]
    else:
        for other in range(begin, end):
            k = tables.ints[PEER, other]
            if state.parity[k] == side and other != slot and k != but:
                total += state.floats[STRAY, other]
    return total


@kernel
def share_of(tables, state, slot):  # type: ignore[no-untyped-def]
    """A link's part of the slot by the loads of its two antennas, planned changes included."""
    own = state.load[tables.ints[ANTENNA, slot]]
    other = state.load[tables.ints[ANTENNA, tables.ints[REVERSE, slot]]]
    return 1.0 / max(own, other)


@kernel
def _note_shares(tables, state, changed, least):  # type: ignore[no-untyped-def]
    """Links that stay on an antenna of a link that comes or goes, if it carries at least so many, get another share."""
    for end in (changed, np.int64(tables.ints[REVERSE, changed])):
        antenna = tables.ints[ANTENNA, end]
        if state.load[antenna] >= least:
            _note_shares_on(tables, state, antenna)


@kernel
def _note_shares_on(tables, state, antenna):  # type: ignore[no-untyped-def]
    begin = tables.starts[ANTENNAS, antenna]
    for at in range(begin, begin + state.load[antenna]):
        slot = np.int64(state.ints[LINKED, at])
        if state.ints[MARK, slot] & (NEW | SHARES) == 0:
            change = share_of(tables, state, slot) - state.floats[AIRTIME, slot]
            if change != 0.0:
                reverse = np.int64(tables.ints[REVERSE, slot])
                state.plan[SHARED, state.sizes[SHARED]] = slot
                state.sizes[SHARED] += 1
                _wait(state, slot, SHARES)
                _wait(state, reverse, SHARES)
                _switch(tables, state, slot, change, False)
                _switch(tables, state, reverse, change, False)


@kernel
def _switch(tables, state, beam, change, turned):  # type: ignore[no-untyped-def]
    """Note what the links that hear a beam, from its slot's owner at the peer, hear more or less of it.

    - turned: its owner is to turn its parity. Then the beam was on the other side, and new links have not counted it.
    """
    sectored = tables.constants[HEARS] == HEARS_SECTOR
    steered = tables.gain.shape[0] > 0
    side = state.parity[tables.ints[OWNER, beam]]
    if turned:
        side = 1 - side
    aim = tables.ints[PEER, beam]
    power = change * tables.floats[SENT, beam]
    begin = tables.ints[BEAM_FROM, beam]
    to_gain = tables.ints[GAIN_AT, beam] - begin
    for at in range(begin, tables.ints[BEAM_TO, beam]):
        j = tables.fan[FAN_NODE, at]
        if state.parity[j] != side and j != aim:
            slot = tables.fan[FAN_SLOT, at]
            leak = power * tables.fan_fade[at]
            if steered:
                leak *= tables.gain[to_gain + at]
            if sectored:
                antenna = tables.fan[FAN_ANTENNA, at]
                _note_leak(tables, state, antenna, slot, leak, turned)
            else:
                sectors = int(tables.constants[SECTORS])
                for antenna in range(j * sectors, (j + 1) * sectors):
                    _note_leak(tables, state, antenna, slot, leak, turned)


@kernel
def _note_leak(tables, state, antenna, source, leak, turned):  # type: ignore[no-untyped-def]
    """Whatever is received over an antenna, but from the source itself, hears so much more of it.

    - source: the receiver's slot for the node that leaks.
    """
    begin = tables.starts[ANTENNAS, antenna]
    for at in range(begin, begin + state.load[antenna]):
        slot = state.ints[LINKED, at]
        if slot != source:
            mark = state.ints[MARK, slot]
            if turned and mark & NEW:
                continue
            heard = leak
            if tables.constants[HEARS] == HEARS_BEAM:
                own = tables.starts[SLOTS, tables.ints[OWNER, slot]]
                heard *= tables.gain[tables.ints[GAIN_AT, slot] + source - own]
            if mark == 0:
                state.ints[MARK, slot] = WAITS
                state.queue[state.sizes[WAITING]] = slot
                state.sizes[WAITING] += 1
                state.floats[CHANGE, slot] = heard
            else:
                state.floats[CHANGE, slot] += heard


@kernel
def _wait(state, slot, why):  # type: ignore[no-untyped-def]
    if state.ints[MARK, slot] == 0:
        state.queue[state.sizes[WAITING]] = slot
        state.sizes[WAITING] += 1
        state.floats[CHANGE, slot] = 0.0
    state.ints[MARK, slot] |= WAITS | why


@kernel
def _set_airtime(tables, state, slot, share):  # type: ignore[no-untyped-def]
    change = share - state.floats[AIRTIME, slot]
    reverse = np.int64(tables.ints[REVERSE, slot])
    state.floats[AIRTIME, slot] = share
    state.floats[AIRTIME, reverse] = share
    _radiate(tables, state, slot, change)
    _radiate(tables, state, reverse, change)


@kernel
def _radiate(tables, state, beam, change):  # type: ignore[no-untyped-def]
    """The beam from a slot's owner at its peer is on for `change` more of the slot."""
    steered = tables.gain.shape[0] > 0
    aim = tables.ints[PEER, beam]
    power = change * tables.floats[SENT, beam]
    begin = tables.ints[BEAM_FROM, beam]
    to_gain = tables.ints[GAIN_AT, beam] - begin
    for at in range(begin, tables.ints[BEAM_TO, beam]):
        if tables.fan[FAN_NODE, at] != aim:
            leak = power * tables.fan_fade[at]
            if steered:
                leak *= tables.gain[to_gain + at]
            state.floats[STRAY, tables.fan[FAN_SLOT, at]] += leak
