"""Everything about a fleet's possible links that no topology changes, computed once per layout.

The searches score millions of topologies of one layout; what they look up is here. It is kept by *slots*: a node has a
slot for each node that it follows, so that everything takes memory in proportion to n times the neighbours of a node.
Slot (i, j) is i's view of j; its reverse is j's view of i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder, kernel
from manetdiff.layout.choosing import CANDIDATE, HEARD, LINKABLE, PINNED, Choice
from manetdiff.radio.pairs import EVERY_PAIR, HEARS, HEARS_SECTOR, THETA_MAX, Placement
from manetdiff.radio.rates import within_cone

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Rows of LinkTables.ints, .floats, .starts, .lists and .fan, and places in .constants beside those of a Placement.
OWNER, PEER, REVERSE, ANTENNA, GRADE, HEARD_FROM, HEARD_TO, BEAM_FROM, BEAM_TO, GAIN_AT = range(10)
DISTANCE, BEARING, SENT, SIGNAL, FADE = range(5)
SLOTS, NEAREST, ANTENNAS, FACING = range(4)
BY_DISTANCE, BY_ANTENNA = range(2)
FAN_NODE, FAN_SLOT, FAN_ANTENNA = range(3)
PINS, FEWEST_PARTS, FAR_AWAY = 7, 8, 9


class LinkTables(NamedTuple):
    """What compiled code looks up, in few arrays: passing many of them around costs more than reading them.

    n nodes of Q antennas, p slots, each node's one after the other: where a receiver hears a sector ordered by the
    sector that looks at the peer, then by the peer; else by the peer.

    - ints: (10, p). OWNER and PEER, the two nodes; REVERSE, the peer's slot; ANTENNA, the owner's that looks at the
      peer, as owner · Q + sector; GRADE, see layout/choosing.py; HEARD_FROM, HEARD_TO: slots of what the owner hears
      while it listens to the peer; BEAM_FROM, BEAM_TO: part of the owner's fan under a beam at the peer; GAIN_AT:
      where in `gain` the gains of that beam begin, one for each slot of the owner.
    - floats: (5, p). DISTANCE in units, BEARING in radians, SENT: transmit power R, SIGNAL: received power P, FADE.
    - starts: (4, n·Q + 1), where something begins. SLOTS of each node; NEAREST, candidates of each node in `lists`;
      ANTENNAS, room for the links of each antenna, in as many places as there are slots; FACING, candidates of each
      antenna in `lists`.
    - lists: (2, c) slots of candidates. BY_DISTANCE: of each node, the nearest first; BY_ANTENNA: of each antenna.
    - fan: (3, f). What each node's beams can reach, so that what is under one beam stands together. FAN_NODE: who;
      FAN_SLOT: that node's slot for the owner; FAN_ANTENNA: its antenna that looks at the owner. fan_fade: (f,).
    - gain: flat gains of steered beams; empty for cones.
    - constants: those of the placement, then PINS, the number of pinned links; FEWEST_PARTS that a network can be in;
      FAR_AWAY, 1 where there are pairs without a slot.
    """

    ints: npt.NDArray[np.int32]
    floats: FloatArray
    starts: IntArray
    lists: IntArray
    fan: npt.NDArray[np.int32]
    fan_fade: FloatArray
    gain: FloatArray
    constants: FloatArray

    @property
    def nodes(self) -> int:
        """n."""
        return int(self.ints[OWNER, -1]) + 1

    @property
    def slots(self) -> int:
        """p."""
        return int(self.ints.shape[1])


def link_tables(place: Placement, choice: Choice, banned: BoolArray) -> LinkTables:
    """The tables of the chosen pairs. banned: (n, n) pairs that may not be linked; empty where there are none."""
    n, sectors = len(place), place.radio.sectors
    small = n <= EVERY_PAIR
    values = place.every_pair if small else place.pairs(choice.first, choice.second)
    pairs = (choice.first, choice.second) if small else slice(None)
    linkable = place.linkable(values)[pairs]
    if len(banned):
        linkable &= ~banned[choice.first, choice.second]
    # Pairs that are only heard have no beams of their own in large fleets, where those would take most of the room.
    grade = np.maximum(choice.grade, LINKABLE if small else HEARD) * linkable
    floats = np.stack(
        [value[pairs] for value in (values.distance, values.bearing, values.sent, values.signal, values.fade)]
    )
    tables: LinkTables = filled_tables(
        choice.first, choice.second, values.sector[pairs], grade, floats, n, sectors, len(choice.tree),
        place.constants, not place.steers,
    )  # fmt: skip
    return tables._replace(gain=_gains(place, tables.ints, tables.starts)) if place.steers else tables


def narrowed(tables: LinkTables, wanted: BoolArray) -> LinkTables:
    """The tables with only some of the candidates. wanted: (p,) by slot, the same for a slot and its reverse."""
    starts, lists = tables.starts.copy(), []
    for row, begins in ((BY_DISTANCE, starts[NEAREST, : tables.nodes + 1]), (BY_ANTENNA, starts[FACING])):
        stays = wanted[tables.lists[row]]
        begins[:] = np.append(0, stays.cumsum())[begins]
        lists.append(tables.lists[row, stays])
    return tables._replace(starts=starts, lists=np.stack(lists))


@builder
def filled_tables(  # type: ignore[no-untyped-def]
    first, second, sector, grade, pair_floats, n, sectors, joined, of_radio, turns
):
    """The tables of pairs that come by first, then second node, but for the gains of steered beams.

    - joined: links of the spanning forest. of_radio: constants of the placement. turns: see `_fans`.
    """
    constants = np.empty(len(of_radio) + 3)
    constants[: len(of_radio)] = of_radio
    constants[PINS] = (grade == PINNED).sum() // 2
    constants[FEWEST_PARTS] = n - joined
    constants[FAR_AWAY] = len(grade) < n * (n - 1)
    sectored = constants[HEARS] == HEARS_SECTOR
    ints, floats, starts = _slots(first, second, sector, grade, pair_floats, n, sectors, sectored)
    lists = _candidates(ints, floats, starts, n)
    fan, fan_fade = _fans(ints, floats, starts, constants, turns)
    return LinkTables(ints, floats, starts, lists, fan, fan_fade, np.empty(0), constants)


@builder
def _slots(first, second, sector, grade, pair_floats, n, sectors, sectored):  # type: ignore[no-untyped-def]
    """The slots of pairs that come by first, then second node: ints, but for HEARD, BEAM and GAIN; floats; starts."""
    p = len(first)
    starts = np.zeros((4, n * sectors + 1), dtype=np.int64)
    for at in range(p):
        starts[SLOTS, first[at] + 1] += 1
        starts[ANTENNAS, first[at] * sectors + sector[at] + 1] += 1
    for row in (SLOTS, ANTENNAS):
        for at in range(n * sectors):
            starts[row, at + 1] += starts[row, at]
    slot_of = np.arange(p)
    if sectored:
        filled = starts[ANTENNAS].copy()
        for at in range(p):
            antenna = first[at] * sectors + sector[at]
            slot_of[at] = filled[antenna]
            filled[antenna] += 1
    # Pairs (j, i) of one j come with rising i: met in the order of i, each is the next of its j.
    next_of = starts[SLOTS, :n].copy()
    ints = np.zeros((10, p), dtype=np.int32)
    floats = np.empty(pair_floats.shape)
    for at in range(p):
        slot, j = slot_of[at], second[at]
        ints[OWNER, slot], ints[PEER, slot], ints[GRADE, slot] = first[at], j, grade[at]
        ints[ANTENNA, slot] = first[at] * sectors + sector[at]
        ints[REVERSE, slot] = slot_of[next_of[j]]
        next_of[j] += 1
        for row in range(len(floats)):
            floats[row, slot] = pair_floats[row, at]
    return ints, floats, starts


@builder
def _candidates(ints, floats, starts, n):  # type: ignore[no-untyped-def]
    """The lists of candidates; NEAREST and FACING in starts are filled in."""
    count = 0
    for slot in range(ints.shape[1]):
        count += ints[GRADE, slot] >= CANDIDATE
    lists = np.empty((2, count), dtype=np.int64)
    sectors = (starts.shape[1] - 1) // n
    size = 0
    for i in range(n):
        starts[NEAREST, i] = size
        for slot in range(starts[SLOTS, i], starts[SLOTS, i + 1]):
            if ints[GRADE, slot] >= CANDIDATE:
                size = _insert(lists[BY_DISTANCE], starts[NEAREST, i], size, slot, floats[DISTANCE])
        # Stable: the nearest of an antenna comes first there, too.
        at = starts[NEAREST, i]
        for antenna in range(i * sectors, (i + 1) * sectors):
            starts[FACING, antenna] = at
            for place in range(starts[NEAREST, i], size):
                slot = lists[BY_DISTANCE, place]
                if ints[ANTENNA, slot] == antenna:
                    lists[BY_ANTENNA, at] = slot
                    at += 1
    starts[NEAREST, n] = size
    starts[FACING, n * sectors] = size
    return lists


@kernel
def _insert(order, begin, size, slot, key):  # type: ignore[no-untyped-def]
    """Put a slot among those from begin to size, in rising order of key; the new size."""
    at = size
    while at > begin and key[slot] < key[order[at - 1]]:
        order[at] = order[at - 1]
        at -= 1
    order[at] = slot
    return size + 1


@builder
def _fans(ints, floats, starts, constants, turns):  # type: ignore[no-untyped-def]
    """Fill in HEARD and BEAM; return the fans and their fade.

    - turns: whether a beam is part of a turn. The fans are then ordered by bearing, and each is there twice over, so
      that a beam across the seam is in one piece. Else every beam reaches all.
    """
    p = ints.shape[1]
    n = ints[OWNER, p - 1] + 1 if p > 0 else 0
    fan = np.empty((3, 2 * p if turns else p), dtype=np.int32)
    fade = np.empty(2 * p if turns else p)
    order = np.arange(p)
    sectored = constants[HEARS] == HEARS_SECTOR
    for i in range(n):
        begin, end = starts[SLOTS, i], starts[SLOTS, i + 1]
        count = end - begin
        base = 2 * begin if turns else begin
        if turns:
            size = begin
            for slot in range(begin, end):
                size = _insert(order, begin, size, slot, floats[BEARING])
        for at in range(count):
            slot = order[begin + at]
            lower, upper = (at, at + 1) if turns else (0, count)
            while upper - lower < count and _in_beam(floats, constants, slot, order[begin + upper % count]):
                upper += 1
            while upper - lower < count and _in_beam(
                floats, constants, slot, order[begin + (lower - 1 + count) % count]
            ):
                lower -= 1
            if lower < 0:
                lower, upper = lower + count, upper + count
            ints[BEAM_FROM, slot], ints[BEAM_TO, slot] = base + lower, base + upper
            antenna = ints[ANTENNA, slot]
            ints[HEARD_FROM, slot] = starts[ANTENNAS, antenna] if sectored else begin
            ints[HEARD_TO, slot] = starts[ANTENNAS, antenna + 1] if sectored else end
            reverse = ints[REVERSE, slot]
            for turn in range(2 if turns else 1):
                to = base + at + turn * count
                fan[FAN_NODE, to], fan[FAN_SLOT, to] = ints[PEER, slot], reverse
                fan[FAN_ANTENNA, to], fade[to] = ints[ANTENNA, reverse], floats[FADE, slot]
    return fan, fade


@kernel
def _in_beam(floats, constants, aim, other):  # type: ignore[no-untyped-def]
    return within_cone(floats[BEARING, aim], floats[BEARING, other], constants[THETA_MAX])


def _gains(place: Placement, ints: npt.NDArray[np.int32], starts: IntArray) -> FloatArray:
    """Flat gains: for each slot that may be linked, of the owner's beam at the peer towards all its slots' peers."""
    if len(place) <= EVERY_PAIR:
        flat: FloatArray = gains_of_pairs(place.every_gain, ints, starts)
        return flat
    parts = []
    at = 0
    for i in range(len(place)):
        own = np.arange(starts[SLOTS, i], starts[SLOTS, i + 1])
        aims = own[ints[GRADE, own] >= LINKABLE]
        ints[GAIN_AT, aims] = at + len(own) * np.arange(len(aims))
        at += len(own) * len(aims)
        peers, aimed = ints[PEER, own], ints[PEER, aims]
        parts.append(place.gain(place.pairs(i, aimed), place.pairs(i, peers)).ravel())
    return np.concatenate(parts)


@builder
def gains_of_pairs(every_gain, ints, starts):  # type: ignore[no-untyped-def]
    """The same from the gains of every pair; GAIN_AT in ints is filled in."""
    size = 0
    for slot in range(ints.shape[1]):
        if ints[GRADE, slot] >= LINKABLE:
            i = ints[OWNER, slot]
            ints[GAIN_AT, slot] = size
            size += starts[SLOTS, i + 1] - starts[SLOTS, i]
    flat = np.empty(size)
    size = 0
    for slot in range(ints.shape[1]):
        if ints[GRADE, slot] >= LINKABLE:
            i, aim = ints[OWNER, slot], ints[PEER, slot]
            for other in range(starts[SLOTS, i], starts[SLOTS, i + 1]):
                flat[size] = every_gain[i, aim, ints[PEER, other]]
                size += 1
    return flat
