"""Random changes of a topology under search: what they take off, turn and put on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from manetdiff import Fleet, Radio
from manetdiff.layout import Layout
from manetdiff.layout.choosing import LINKABLE
from manetdiff.layout.tables import ANTENNA, GRADE, OWNER, PEER, REVERSE
from manetdiff.solvers.moves import _plan_turn
from manetdiff.solvers.state import OFF, ON, PLACE, TURNED, forget, link, turn, unlink
from manetdiff.solvers.workbench import Workbench

# Most links on an antenna.
CROWD = 3


class Plan(NamedTuple):
    """Slots of links that go, the node that turns its parity (-1: none), slots of links that come."""

    off: tuple[int, ...]
    turned: int
    on: tuple[int, ...]


def random_bench(layout: Layout, rng: np.random.Generator, density: float = 0.5) -> Workbench:
    """A random topology on the bench: parity at random, up to `CROWD` links an antenna."""
    bench = Workbench(layout)
    bench.put(np.empty((0, 2), dtype=np.int64), rng.integers(0, 2, len(layout)))
    slots = _some_links(bench, rng, int(density * bench.tables.slots), CROWD)
    bench.put_slots(np.array(slots, dtype=np.int64), bench.parity)
    return bench


def random_plan(bench: Workbench, rng: np.random.Generator) -> Plan:
    """Drop a link; link a pair, pushing off what is in the way; turn a node as searches do; or link several pairs."""
    ints = bench.tables.ints
    slots = rng.permutation(np.flatnonzero(ints[GRADE] >= LINKABLE))
    there = bench.state.ints[PLACE, slots] >= 0
    opposite = bench.state.parity[ints[OWNER, slots]] != bench.state.parity[ints[PEER, slots]]
    kind = rng.integers(0, 4)
    if kind == 0 and there.any():
        return Plan((int(slots[there][0]),), -1, ())
    if kind == 1 and (opposite & ~there).any():
        return _pushing_off(bench, int(slots[opposite & ~there][0]), int(rng.integers(0, CROWD)))
    if kind == 2 and not opposite.all():
        _plan_turn(bench.tables, bench.state, int(slots[~opposite][0]), int(rng.integers(1, CROWD + 1)))
        plan = _read_plan(bench)
        forget(bench.tables, bench.state)
        return plan
    return Plan((), -1, _some_links(bench, rng, int(rng.integers(0, 5)), int(rng.integers(1, CROWD + 1))))


def carry_out(bench: Workbench, plan: Plan) -> None:
    """Plan it on the bench."""
    for slot in plan.off:
        unlink(bench.tables, bench.state, slot)
    if plan.turned >= 0:
        turn(bench.state, plan.turned)
    for slot in plan.on:
        link(bench.tables, bench.state, slot)


def any_layout(seed: int, n: int, radio: Radio, *, heights: bool = False, blocked: bool = False) -> Layout:
    """Scattered nodes, as dense at any size, of which every second has no antenna somewhere."""
    rng = np.random.default_rng((seed, n))
    positions = rng.uniform(-1, 1, (n, 3 if heights else 2)) * [np.sqrt(n), np.sqrt(n), 1.0][: 3 if heights else 2]
    arcs = [[(start, start + 0.8)] if k % 2 else [] for k, start in enumerate(rng.uniform(-3, 3, n))]
    return Layout(Fleet(positions, rng.uniform(-3, 3, n), blocked=arcs if blocked else None), radio)


def _pushing_off(bench: Workbench, slot: int, keep: int) -> Plan:
    """Link a pair after as many links have gone from its antennas as leaves `keep` there."""
    off: list[int] = []
    linked = np.flatnonzero(bench.state.ints[PLACE] >= 0)
    for antenna in _antennas(bench, slot):
        off += [int(one) for one in linked[bench.tables.ints[ANTENNA, linked] == antenna][keep:]]
    return Plan(tuple(off), -1, (slot,))


def _antennas(bench: Workbench, slot: int) -> tuple[int, int]:
    ints = bench.tables.ints
    return int(ints[ANTENNA, slot]), int(ints[ANTENNA, ints[REVERSE, slot]])


def _some_links(bench: Workbench, rng: np.random.Generator, count: int, crowd: int) -> tuple[int, ...]:
    """Slots of up to so many pairs of opposite parity that are not linked and leave no antenna too crowded."""
    ints, parity, load = bench.tables.ints, bench.state.parity, bench.state.load.copy()
    chosen: list[int] = []
    for slot in rng.permutation(np.flatnonzero((ints[GRADE] >= LINKABLE) & bench.forward_slots)):
        if len(chosen) == count:
            break
        both = list(_antennas(bench, slot))
        free = (load[both] < crowd).all() and bench.state.ints[PLACE, slot] < 0
        if free and parity[ints[OWNER, slot]] != parity[ints[PEER, slot]]:
            chosen.append(int(slot))
            load[both] += 1
    return tuple(chosen)


def _read_plan(bench: Workbench) -> Plan:
    sizes, plan = bench.state.sizes, bench.state.plan
    off, on = (tuple(int(slot) for slot in plan[row, : sizes[row]]) for row in (OFF, ON))
    return Plan(off, int(sizes[TURNED]), on)
