"""The paper's Algorithm 2: turn any raw links and parity into a topology that keeps the hard constraints.

1. Sanitise: drop links out of range, inside one parity, on overloaded antennas, or under too much interference.
2. Repair: while the network is in parts, add the admissible link between two parts that raises T most.
3. Prune: drop links that T does not need and connectivity does not either.

Read closely, the printed algorithm leaves the order of the first loop open: here the worst link goes first, so that an
overloaded antenna keeps its best. The parity is never changed, as printed; `flip_parts` goes beyond the paper: where
no admissible link is left between the parts, one of them turns its parity as a whole, which keeps its own links valid.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder, kernel
from manetdiff.errors import SolverError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.layout.choosing import PINNED, ROUNDING
from manetdiff.layout.tables import ANTENNA, FEWEST_PARTS, GRADE, OWNER, PEER, REVERSE, SIGNAL
from manetdiff.radio import Radio
from manetdiff.solvers.additions import add_best, add_best_links, interference
from manetdiff.solvers.scoring import compute_rates, gain, make, put_links
from manetdiff.solvers.state import PARTS, clear, find_slots, forget, linkable_slots, linked_slots, unlink
from manetdiff.solvers.walks import count_parts, joined, know_parts, label_parts
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology

IntArray = npt.NDArray[np.int64]

# What the report counts, phase by phase.
COUNTS = (
    "dropped_range",
    "dropped_parity",
    "dropped_sector",
    "dropped_interference",
    "added",
    "flipped",
    "pruned",
)
DROPPED_RANGE, DROPPED_PARITY, DROPPED_SECTOR, _, ADDED, FLIPPED, PRUNED = range(len(COUNTS))


def correct(
    topology: Topology,
    fleet: Fleet | Layout | None = None,
    radio: Radio | None = None,
    *,
    tau_interference: float = math.inf,
    slack: float = 0.0,
    flip_parts: bool = False,
) -> Topology:
    """The corrected topology; its report says what each phase changed.

    The result has no link inside one parity, none out of range, at most one link an antenna, and is connected unless
    no admissible link is left between its parts.

    - fleet, radio: as for metrics.
    - tau_interference: most interference power on either direction of a link when the link is looked at (τ_I), as
      printed: links added later can raise it again. By default there is no such limit, and the throughput decides.
    - slack: how much T, in Mbit/s, a pruned link may cost (ε of the printed algorithm).
    - flip_parts: turn whole parts where nothing else connects them (not in the paper).
    """
    layout = topology.on(fleet, radio)
    for name, value in (("tau_interference", tau_interference), ("slack", slack)):
        if not value >= 0:
            raise SolverError(f"{name} must be a number of at least 0, not {value!r}")
    bench = Workbench(layout)
    counts = correct_onto(bench, topology.links, topology.parity, tau_interference, slack, flip_parts)
    return Topology(bench.links, bench.parity, topology.report.replace(correction=counts), layout)


def correct_onto(
    bench: Workbench,
    links: IntArray,
    parity: IntArray,
    tau_interference: float = math.inf,
    slack: float = 0.0,
    flip_parts: bool = False,
) -> dict[str, int]:
    """Correct raw links (m, 2) and leave the result on the bench; what each phase changed."""
    counts = dict.fromkeys(COUNTS, 0)
    # Raw links can be any number: only what is left of them goes into the tables.
    sound = _sanitise(bench.layout, links, parity, counts)
    bench.include(sound)
    slots = bench.slots(sound)
    bench.put_slots(slots, parity)
    if math.isfinite(tau_interference):
        counts["dropped_interference"] = int(_drop_interfered(bench.tables, bench.state, slots, tau_interference))
    counts["added"] = _repair(bench, tau_interference)
    if flip_parts:
        # Each round joins parts, so that few are needed; a tight τ_I can make turns be in vain.
        while counts["flipped"] < len(bench.layout) and (turned := _turn_parts(bench)):
            counts["flipped"] += turned
            counts["added"] += _repair(bench, tau_interference)
    know_parts(bench.tables, bench.state)
    if bench.state.sizes[PARTS] == 1:
        counts["pruned"] = int(prune(bench.tables, bench.state, float(slack)))
    return counts


@builder
def correct_state(tables, state, links, parity, counts):  # type: ignore[no-untyped-def]
    """Correct raw links (m, 2), i < j, of parity (n,) on a state: what `correct_onto` does with `flip_parts`, without
    Python, on tables that hold every pair. counts: (7,), filled in the order of COUNTS."""
    counts[:] = 0
    slots = np.empty(len(links), dtype=np.int64)
    find_slots(tables, links, slots)
    size = 0
    for m in range(len(links)):
        if slots[m] < 0:
            counts[DROPPED_RANGE] += 1
        elif parity[links[m, 0]] == parity[links[m, 1]]:
            counts[DROPPED_PARITY] += 1
        else:
            slots[size] = slots[m]
            size += 1
    sound = slots[:size]
    signal, must_stay = np.empty(size), np.zeros(size, dtype=np.bool_)
    antennas = np.empty((size, 2), dtype=np.int64)
    for m in range(size):
        signal[m] = tables.floats[SIGNAL, sound[m]]
        must_stay[m] = tables.ints[GRADE, sound[m]] == PINNED
        antennas[m, 0] = tables.ints[ANTENNA, sound[m]]
        antennas[m, 1] = tables.ints[ANTENNA, tables.ints[REVERSE, sound[m]]]
    stay = sound[left_alone(signal, must_stay, antennas, len(state.load))]
    counts[DROPPED_SECTOR] = size - len(stay)
    put(tables, state, stay, parity)
    counts[ADDED] = add_best_links(tables, state, -math.inf, True, False, math.inf)
    while counts[FLIPPED] < len(parity) and count_parts(tables, state) > tables.constants[FEWEST_PARTS]:
        turning = state.parity.copy()
        turned = choose_turns(tables, state, turning)
        if turned == 0:
            break
        counts[FLIPPED] += turned
        put(tables, state, linked_slots(tables, state), turning)
        counts[ADDED] += add_best_links(tables, state, -math.inf, True, False, math.inf)
    know_parts(tables, state)
    if state.sizes[PARTS] == 1:
        counts[PRUNED] = prune(tables, state, 0.0)


@kernel
def put(tables, state, slots, parity):  # type: ignore[no-untyped-def]
    """Put links on a state by their slots, computed from scratch; see `Workbench.put_slots`."""
    clear(state)
    for i in range(len(parity)):
        state.parity[i] = parity[i]
    put_links(tables, state, slots)
    compute_rates(tables, state)
    know_parts(tables, state)


def _sanitise(layout: Layout, links: IntArray, parity: IntArray, counts: dict[str, int]) -> IntArray:
    """Those of links that are in range, of opposite parity and, the best of them, alone on their antennas."""
    possible, opposite = layout.linkable(links), parity[links[:, 0]] != parity[links[:, 1]]
    sound = links[possible & opposite]
    values = layout.pairs(sound)
    n, sectors = len(layout), layout.radio.sectors
    must_stay = np.zeros(len(sound), dtype=np.bool_)
    if len(layout.keep):
        must_stay = np.isin(sound @ [n, 1], np.sort(layout.keep) @ [n, 1])
    alone = left_alone(values.signal[:, 0].copy(), must_stay, sound * sectors + values.sector, n * sectors)
    counts["dropped_range"] = int((~possible).sum())
    counts["dropped_parity"] = int((possible & ~opposite).sum())
    counts["dropped_sector"] = len(sound) - len(alone)
    return np.asarray(sound[alone])


@builder
def left_alone(signal, must_stay, antennas, count):  # type: ignore[no-untyped-def]
    """Which of links, the weakest first, are left where only the best on an antenna stays. antennas: (m, 2) of `count`.

    Worst first: the weakest signal is the first to go, and what must stay is the last.
    """
    by_signal = np.argsort(signal, kind="mergesort")
    order = np.empty(len(signal), dtype=np.int64)
    size = 0
    for last in (False, True):
        for m in by_signal:
            if must_stay[m] == last:
                order[size] = m
                size += 1
    load = np.zeros(count, dtype=np.int64)
    for m in range(len(antennas)):
        load[antennas[m, 0]] += 1
        load[antennas[m, 1]] += 1
    alone = np.empty(len(signal), dtype=np.bool_)
    _thin_out(antennas[order], load, alone)
    return order[alone]


@kernel
def _thin_out(antennas, load, alone):  # type: ignore[no-untyped-def]
    """Say of links on antennas (m, 2) which stay: of several on one, the last. load: (n·Q,) links on each."""
    for m in range(len(antennas)):
        a, b = antennas[m, 0], antennas[m, 1]
        alone[m] = load[a] == 1 and load[b] == 1
        if not alone[m]:
            load[a] -= 1
            load[b] -= 1


@kernel
def _drop_interfered(tables, state, slots, tau):  # type: ignore[no-untyped-def]
    """Remove links, from the first on, under more interference than tau; how many."""
    dropped = 0
    for slot in slots:
        if interference(tables, state, slot) > tau and tables.ints[GRADE, slot] != PINNED:
            unlink(tables, state, slot)
            gain(tables, state)
            make(tables, state)
            dropped += 1
    return dropped


def _repair(bench: Workbench, tau: float) -> int:
    """Join the parts by admissible links, the one that raises T most first; the number of links added."""
    added = add_best(bench, -math.inf, joining=True, tau=tau)
    # What is far may join what is left, where nothing near does.
    if bench.parts > bench.tables.constants[FEWEST_PARTS] and bench.include(_pairs_between_parts(bench, opposite=True)):
        added += add_best(bench, -math.inf, joining=True, tau=tau)
    return added


def _pairs_between_parts(bench: Workbench, *, opposite: bool) -> IntArray:
    """(m, 2) pairs of free antennas in different parts, of opposite parity or of one."""
    layout, state = bench.layout, bench.state
    if bench.holds_all:
        return np.empty((0, 2), dtype=np.int64)
    label_parts(bench.tables, state, bench.label)
    free = state.load.reshape(len(layout), -1) == 0
    nodes, positions = np.arange(len(layout)), layout.placement.positions
    reach = (layout.radio.range * ROUNDING) ** 2
    found = []
    for i in nodes[free.any(axis=1)]:
        others = nodes[i + 1 :][bench.label[i + 1 :] != bench.label[i]]
        others = others[(state.parity[others] != state.parity[i]) == opposite]
        # Most are out of range, and that is seen at a glance.
        others = others[((positions[others] - positions[i]) ** 2).sum(axis=1) <= reach]
        pairs = np.stack([np.full(len(others), i), others], axis=1)
        sector = layout.pairs(pairs).sector
        open_ends = free[i, sector[:, 0]] & free[others, sector[:, 1]]
        found.append(pairs[open_ends][layout.linkable(pairs[open_ends])])
    return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)


def _turn_parts(bench: Workbench) -> int:
    """Turn the parity of parts so that their best free pairs with others become admissible; how many were turned."""
    if bench.parts <= bench.tables.constants[FEWEST_PARTS]:
        return 0
    parity = bench.parity
    turned = int(choose_turns(bench.tables, bench.state, parity))
    if turned == 0 and bench.include(_pairs_between_parts(bench, opposite=False)):
        turned = int(choose_turns(bench.tables, bench.state, parity))
    if turned > 0:
        bench.put_slots(linked_slots(bench.tables, bench.state), parity)
    return turned


@builder
def choose_turns(tables, state, parity):  # type: ignore[no-untyped-def]
    """Turn parts in parity (n,), as if the strongest free pairs were linked one after the other; how many."""
    label = np.empty(len(parity), dtype=np.int64)
    label_parts(tables, state, label)
    slots = linkable_slots(tables)
    size = 0
    for slot in slots:
        if label[tables.ints[OWNER, slot]] != label[tables.ints[PEER, slot]]:
            slots[size] = slot
            size += 1
    slots = slots[:size]
    signal = np.empty(size)
    for m in range(size):
        signal[m] = tables.floats[SIGNAL, slots[m]]
    order = np.argsort(-signal, kind="mergesort")
    return _turn_and_join(tables, slots[order], state.load.copy(), label, parity)


@kernel
def _turn_and_join(tables, slots, load, label, parity):  # type: ignore[no-untyped-def]
    """Join the parts, label (n,), by pairs over free antennas, from the first on, turning what has to be turned; how
    many parts were turned."""
    turned = 0
    for slot in slots:
        i, j = tables.ints[OWNER, slot], tables.ints[PEER, slot]
        here, there = tables.ints[ANTENNA, slot], tables.ints[ANTENNA, tables.ints[REVERSE, slot]]
        if label[i] == label[j] or load[here] > 0 or load[there] > 0:
            continue
        load[here], load[there] = 1, 1
        # The part that holds the first node of both keeps its parity.
        stays, joins = min(label[i], label[j]), max(label[i], label[j])
        turns = parity[i] == parity[j]
        turned += turns
        for k in range(len(label)):
            if label[k] == joins:
                label[k] = stays
                if turns:
                    parity[k] = 1 - parity[k]
    return turned


@builder
def prune(tables, state, slack):  # type: ignore[no-untyped-def]
    """Drop links, the least useful first, that connectivity does not need and whose loss costs T no more than slack;
    how many."""
    slots = linked_slots(tables, state)
    gains = np.empty(len(slots))
    _gains_of_dropping(tables, state, slots, gains)
    return _drop_needless(tables, state, slots[np.argsort(-gains, kind="mergesort")], slack)


@kernel
def _gains_of_dropping(tables, state, slots, gains):  # type: ignore[no-untyped-def]
    for m in range(len(slots)):
        unlink(tables, state, slots[m])
        gains[m] = gain(tables, state)
        forget(tables, state)


@kernel
def _drop_needless(tables, state, slots, slack):  # type: ignore[no-untyped-def]
    dropped = 0
    for slot in slots:
        if tables.ints[GRADE, slot] == PINNED:
            continue
        unlink(tables, state, slot)
        if gain(tables, state) >= -slack and joined(
            tables, state, np.int64(tables.ints[OWNER, slot]), np.int64(tables.ints[PEER, slot])
        ):
            make(tables, state)
            dropped += 1
        else:
            forget(tables, state)
    return dropped
