"""The same links where the fleet will be later: a state of their own, in which what is planned now is planned, too.

Later a link may look out of another antenna, share it with others, or be out of range. Then it has less to offer, and
that is all: the rules are kept now, and by the update that will come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import kernel
from manetdiff.layout.choosing import LINKABLE
from manetdiff.layout.tables import ANTENNA, GRADE, OWNER, PEER, REVERSE, LinkTables
from manetdiff.solvers.scoring import gain
from manetdiff.solvers.state import OFF, ON, TURNED, SearchState, link, turn, unlink

IntArray = npt.NDArray[np.int64]


class Later(NamedTuple):
    """tables, state: of the fleet as it will be. slots: (p,) for each slot of now the one there; -1 where the two are
    out of range then. crowding: what each link costs there that is not the only one on an antenna, in Mbit/s."""

    tables: LinkTables
    state: SearchState
    slots: IntArray
    crowding: float


def slots_later(now: LinkTables, then: LinkTables) -> IntArray:
    """`Later.slots` for two tables of the same nodes."""
    n = now.nodes
    here, there = (tables.ints[OWNER].astype(np.int64) * n + tables.ints[PEER] for tables in (now, then))
    order = np.argsort(there)
    place = np.searchsorted(there, here, sorter=order).clip(max=len(there) - 1)
    slots = order[place]
    found = (there[slots] == here) & (then.ints[GRADE, slots] >= LINKABLE)
    return np.where(found, slots, -1)


@kernel
def gain_later(tables, state, later):  # type: ignore[no-untyped-def]
    """Plan later what is planned now; what it gains there."""
    crowd = 0
    for m in range(state.sizes[OFF]):
        slot = later.slots[state.plan[OFF, m]]
        if slot >= 0:
            unlink(later.tables, later.state, slot)
            crowd -= _others(later, slot)
    if state.sizes[TURNED] >= 0:
        turn(later.state, state.sizes[TURNED])
    for m in range(state.sizes[ON]):
        slot = later.slots[state.plan[ON, m]]
        if slot >= 0:
            crowd += _others(later, slot)
            link(later.tables, later.state, slot)
    return gain(later.tables, later.state) - later.crowding * crowd


@kernel
def _others(later, slot):  # type: ignore[no-untyped-def]
    """Of a link's two antennas, how many carry others."""
    tables, load = later.tables, later.state.load
    here, there = tables.ints[ANTENNA, slot], tables.ints[ANTENNA, tables.ints[REVERSE, slot]]
    return (load[here] > 0) + (load[there] > 0)
