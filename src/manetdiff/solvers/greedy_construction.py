"""The paper's Algorithm 1: take the shortest pair, decide the parity of nodes as they come, lock the sectors.

Two things in the printed algorithm cannot be meant. If one node of a pair is decided and the other is not, the
comparison of directions could give both the same parity: here the open node takes the other one. And a pair that is
then refused would still fix the parity of its nodes: here a parity is decided only with a link.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import kernel
from manetdiff.errors import SolverError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.radio.tables import DISTANCE, SECTOR
from manetdiff.solvers.gains import own_rate
from manetdiff.solvers.state import add_link, begin, new_state, read_links, settle
from manetdiff.solvers.walks import LOAD, joined
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
    tables = layout.tables
    start = np.full(len(layout), UNDECIDED, dtype=np.int64) if parity is None else np.asarray(parity, dtype=np.int64)
    i, j = np.nonzero(np.triu(tables.candidate))
    order = np.argsort(tables.floats[DISTANCE, i, j], kind="stable")
    state = new_state(tables, np.empty((0, 2), dtype=np.int64), start)
    _take_shortest(tables, state, np.stack([i, j], axis=1)[order].astype(np.int64), float(tau))
    return read_links(state), np.where(state.parity == UNDECIDED, 0, state.parity)


@kernel
def _take_shortest(tables, state, pairs, tau):  # type: ignore[no-untyped-def]
    """Go through the pairs (m, 2), shortest first, until the network is connected."""
    components = len(state.parity)
    for m in range(len(pairs)):
        if components == 1:
            break
        i, j = pairs[m, 0], pairs[m, 1]
        if state.ints[LOAD, i, tables.ints[SECTOR, i, j]] + state.ints[LOAD, j, tables.ints[SECTOR, j, i]] > 0:
            continue
        old_i, old_j = state.parity[i], state.parity[j]
        rate = _decide(tables, state, i, j)
        if state.parity[i] == state.parity[j] or rate < tau:
            state.parity[i], state.parity[j] = old_i, old_j
            continue
        if not joined(state, i, j):
            components -= 1
        add_link(tables, state, i, j)
        settle(tables, state)
        begin(state)


@kernel
def _decide(tables, state, i, j):  # type: ignore[no-untyped-def]
    """Give undecided nodes of the pair the parity that suits the link best; the rate of its better direction."""
    if state.parity[i] == UNDECIDED and state.parity[j] == UNDECIDED:
        state.parity[i], state.parity[j] = 0, 1
        forth = own_rate(tables, state, i, j)
        state.parity[i], state.parity[j] = 1, 0
        back = own_rate(tables, state, j, i)
        if forth >= back:
            state.parity[i], state.parity[j] = 0, 1
        return max(forth, back)
    if state.parity[i] == UNDECIDED:
        state.parity[i] = 1 - state.parity[j]
    elif state.parity[j] == UNDECIDED:
        state.parity[j] = 1 - state.parity[i]
    return max(own_rate(tables, state, i, j), own_rate(tables, state, j, i))
