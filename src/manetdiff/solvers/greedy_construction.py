"""The paper's Algorithm 1: take the shortest pair, decide the parity of nodes as they come, lock the sectors.

Two things in the printed algorithm cannot be meant. If one node of a pair is decided and the other is not, the
comparison of directions could give both the same parity: here the open node takes the other one. And a pair that is
then refused would still fix the parity of its nodes: here a parity is decided only with a link.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import NOBODY, kernel
from manetdiff.errors import SolverError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.layout.choosing import LINKABLE
from manetdiff.layout.tables import DISTANCE, GRADE, OWNER, PEER, REVERSE, SIGNAL
from manetdiff.radio import Radio
from manetdiff.radio.rates import link_rate
from manetdiff.solvers.additions import both_free
from manetdiff.solvers.scoring import gain, heard_noise, make
from manetdiff.solvers.state import link
from manetdiff.solvers.union import unite
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Report, Topology

IntArray = npt.NDArray[np.int64]

UNDECIDED = -1


def greedy(
    fleet: Fleet | Layout, radio: Radio | None = None, *, tau: float = 0.0, parity: npt.ArrayLike | None = None
) -> Topology:
    """A topology by Algorithm 1.

    - tau: least rate, in Mbit/s, at which a link is taken.
    - parity: (n,) of 0, 1 and -1 (undecided); None leaves all open. What is decided is kept.
    """
    if not tau >= 0:
        raise SolverError(f"tau must be a rate of at least 0, not {tau!r}")
    start = None if parity is None else np.asarray(parity)
    if start is not None and (start.shape != (len(fleet),) or not np.isin(start, (UNDECIDED, 0, 1)).all()):
        raise SolverError(f"parity must be {len(fleet)} entries of 0, 1 or -1 (undecided)")
    layout = Layout.of(fleet, radio)
    return Topology(*greedy_links(layout, tau, start), Report(method="greedy"), layout)


def greedy_links(layout: Layout, tau: float = 0.0, parity: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Links (m, 2) and parity (n,); nodes without a link end with parity 0."""
    bench = Workbench(layout)
    open_to_all = np.full(len(layout), UNDECIDED, dtype=np.int64)
    bench.state.parity[:] = open_to_all if parity is None else parity
    slots = np.flatnonzero(bench.forward_slots & (bench.tables.ints[GRADE] >= LINKABLE))
    slots = slots[np.argsort(bench.tables.floats[DISTANCE, slots], kind="stable")]
    _take_shortest(bench.tables, bench.state, slots, np.arange(len(layout)), float(tau))
    return bench.links, np.where(bench.state.parity == UNDECIDED, 0, bench.state.parity)


@kernel
def _take_shortest(tables, state, slots, part, tau):  # type: ignore[no-untyped-def]
    """Go through the slots, shortest first, until the network is connected. part: (n,) each node its own."""
    components = len(state.parity)
    for slot in slots:
        if components == 1:
            break
        if not both_free(tables, state, slot):
            continue
        i, j = tables.ints[OWNER, slot], tables.ints[PEER, slot]
        old_i, old_j = state.parity[i], state.parity[j]
        rate = _decide(tables, state, slot, i, j)
        if state.parity[i] == state.parity[j] or rate < tau:
            state.parity[i], state.parity[j] = old_i, old_j
            continue
        if unite(part, i, j):
            components -= 1
        link(tables, state, slot)
        gain(tables, state)
        make(tables, state)


@kernel
def _decide(tables, state, slot, i, j):  # type: ignore[no-untyped-def]
    """Give undecided nodes of the pair the parity that suits the link best; the rate of its better direction."""
    reverse = np.int64(tables.ints[REVERSE, slot])
    if state.parity[i] == UNDECIDED and state.parity[j] == UNDECIDED:
        state.parity[i], state.parity[j] = 0, 1
        forth = _own_rate(tables, state, reverse)
        state.parity[i], state.parity[j] = 1, 0
        back = _own_rate(tables, state, slot)
        if forth >= back:
            state.parity[i], state.parity[j] = 0, 1
        return max(forth, back)
    if state.parity[i] == UNDECIDED:
        state.parity[i] = 1 - state.parity[j]
    elif state.parity[j] == UNDECIDED:
        state.parity[j] = 1 - state.parity[i]
    return max(_own_rate(tables, state, slot), _own_rate(tables, state, reverse))


@kernel
def _own_rate(tables, state, slot):  # type: ignore[no-untyped-def]
    """Rate that would be received at a slot, with all the airtime, under the interference there is."""
    noise = heard_noise(tables, state, slot, NOBODY)
    return link_rate(tables.constants, tables.floats[SIGNAL, slot], 1.0, noise)
