"""Which pairs of a fleet are looked at: candidates, which searches may link, and neighbours, which hear each other.

A pair is a candidate if each node is among the nearest few that the other's antenna could reach. That bounds a node's
candidates, whatever the size of the fleet. The edges of a spanning tree are candidates too, so that whatever can be
connected stays so, and so are links that are pinned or asked for.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import NOBODY, builder, kernel
from manetdiff.radio.pairs import EVERY_PAIR, Placement

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Grades of a pair: only heard; may be linked; proposed by searches; must stay linked.
HEARD, LINKABLE, CANDIDATE, PINNED = 0, 1, 2, 3

# Squares of distances are compared with that of the range; what is linkable is known to the last bit only later.
ROUNDING = 1 + 1e-12

NO_LINKS: IntArray = np.empty((0, 2), dtype=np.int64)
NOTHING_BANNED: BoolArray = np.empty((0, 0), dtype=np.bool_)


class Limits(NamedTuple):
    """How much of a fleet is looked at; None: all of it.

    - antenna: candidates of an antenna. near: other nodes whose signals are followed one by one; what comes from
      farther away is held between two looks at it (see solvers/far_field.py). Fleets of up to `EVERY_PAIR` nodes
      follow all.
    """

    antenna: int | None
    near: int | None


UNLIMITED = Limits(None, None)


# What is enough, as measured (docs/search.md): of the links that a search without limits finds, fewer than one in five
# hundred are no such candidates, at any size and under any radio that was tried.
ENOUGH = Limits(antenna=8, near=EVERY_PAIR - 1)


class Choice(NamedTuple):
    """first, second: (p,) nodes of the pairs, each pair in both directions, ordered by the first node, then the second.
    grade: (p,). tree: (t, 2) links of the shortest spanning forest of all pairs that may be linked."""

    first: IntArray
    second: IntArray
    grade: IntArray
    tree: IntArray


def choose_pairs(place: Placement, limits: Limits, keep: IntArray, extra: IntArray, banned: BoolArray) -> Choice:
    """The pairs of a fleet that its tables hold.

    - keep: (m, 2) links that must stay. extra: (m, 2) links to take in besides. banned: (n, n) pairs that may not be
      linked; empty where there are none.
    """
    n = len(place)
    every = n <= EVERY_PAIR or limits.near is None
    positions = place.positions
    if n <= EVERY_PAIR or place.bans_pairs:
        refused = ~_linkable(place)
        banned = refused if len(banned) == 0 else banned | refused
    reach = place.radio.range * ROUNDING
    hearing = np.full(n, np.inf) if every else _hearing_distances(positions, min(int(limits.near or 0), n - 1))
    # Copies, because numba would compile the builder anew for arrays that are read-only or ordered otherwise.
    wanted = np.array(extra, dtype=np.int64, order="C"), np.array(keep, dtype=np.int64, order="C")
    most = most_of_an_antenna(limits, n)
    return Choice(*chosen_pairs(positions, place.forward, reach, place.radio.sectors, most, hearing, *wanted, banned))


def most_of_an_antenna(limits: Limits, n: int) -> int:
    """Candidates that an antenna may have in a fleet of n nodes."""
    return n - 1 if limits.antenna is None else min(limits.antenna, n - 1)


def within_range(place: Placement) -> IntArray:
    """(t, 2) links of the shortest spanning forest of all pairs within range, whatever else keeps them apart."""
    tree: IntArray = spanning_tree(place.positions, place.radio.range * ROUNDING, NOTHING_BANNED)
    return tree


def joining_length(place: Placement) -> float:
    """The shortest range, in units, that connects all nodes: the longest link of their shortest tree."""
    tree = spanning_tree(place.positions, math.inf, NOTHING_BANNED)
    return float(place.pairs(tree[:, 0], tree[:, 1]).distance.max(initial=0.0))


def _linkable(place: Placement) -> BoolArray:
    """(n, n) pairs that may be linked."""
    nodes = np.arange(len(place))
    if len(nodes) <= EVERY_PAIR:
        return place.linkable(place.every_pair)
    blocks = np.split(nodes, range(EVERY_PAIR, len(nodes), EVERY_PAIR))
    return np.concatenate([place.linkable(place.pairs(block[:, None], nodes)) for block in blocks])


def _hearing_distances(positions: FloatArray, near: int) -> FloatArray:
    """(n,) squared distance of each node to the last of its nearest others."""
    squared = np.empty(len(positions))
    for rows in np.split(np.arange(len(positions)), range(EVERY_PAIR, len(positions), EVERY_PAIR)):
        offset = positions[rows, None] - positions
        # The node itself is among them.
        squared[rows] = np.partition((offset**2).sum(axis=2), near, axis=1)[:, near]
    return squared


@kernel
def _squared(positions, i, j):  # type: ignore[no-untyped-def]
    total = 0.0
    for axis in range(positions.shape[1]):
        total += (positions[j, axis] - positions[i, axis]) ** 2
    return total


@builder
def chosen_pairs(positions, forward, reach, sectors, most, hearing, extra, keep, banned):  # type: ignore[no-untyped-def]
    """The arrays of a Choice; see `choose_pairs`. hearing: (n,) how far each node follows others, squared."""
    tree = spanning_tree(positions, reach, banned)
    wanted = _nearest_by_sector(positions, forward, reach, sectors, most, banned)
    # The nearest node of an antenna is always among them, whoever is near that one.
    count = 0
    for i in range(len(positions)):
        for a in range(sectors):
            count += wanted[i, a, 0] >= 0
    asked = np.empty((len(tree) + count + len(extra) + len(keep), 2), dtype=np.int64)
    grades = np.full(len(asked), CANDIDATE)
    size = len(tree)
    asked[:size] = tree
    for i in range(len(positions)):
        for a in range(sectors):
            if wanted[i, a, 0] >= 0:
                asked[size, 0], asked[size, 1] = i, wanted[i, a, 0]
                size += 1
    asked[size : size + len(extra)] = extra
    asked[size + len(extra) :] = keep
    grades[size + len(extra) :] = PINNED
    first, second, grade = _list_pairs(positions, wanted, hearing, asked, grades)
    return first, second, grade, tree


@builder
def spanning_tree(positions, reach, banned):  # type: ignore[no-untyped-def]
    """(t, 2) links of the shortest spanning forest of pairs no longer than `reach` and not banned, by Prim."""
    n = len(positions)
    links = np.empty((n, 2), dtype=np.int64)
    shortest = np.full(n, np.inf)
    parent = np.full(n, -1, dtype=np.int64)
    done = np.zeros(n, dtype=np.bool_)
    size = 0
    for _ in range(n):
        at = -1
        for k in range(n):
            if not done[k] and (at < 0 or shortest[k] < shortest[at]):
                at = k
        done[at] = True
        if parent[at] >= 0:
            links[size, 0] = min(at, parent[at])
            links[size, 1] = max(at, parent[at])
            size += 1
        for k in range(n):
            if not done[k]:
                length = _squared(positions, at, k)
                if length < shortest[k] and length <= reach * reach and (len(banned) == 0 or not banned[at, k]):
                    shortest[k] = length
                    parent[k] = at
    return links[:size].copy()


@builder
def _nearest_by_sector(positions, forward, reach, sectors, most, banned):  # type: ignore[no-untyped-def]
    """(n, Q, most) the nearest nodes that each antenna could reach, -1 where there are no more."""
    n = len(positions)
    wanted = np.full((n, sectors, most), NOBODY)
    length = np.full((sectors, most), np.inf)
    width = 2 * math.pi / sectors
    for i in range(n):
        length[:] = np.inf
        for j in range(n):
            squared = _squared(positions, i, j)
            if i == j or squared > reach * reach or (len(banned) > 0 and banned[i, j]):
                continue
            bearing = math.atan2(positions[j, 1] - positions[i, 1], positions[j, 0] - positions[i, 0])
            ahead = (bearing - forward[i] + width / 2) % (2 * math.pi)
            a = int(ahead / width) % sectors
            at = most
            while at > 0 and squared < length[a, at - 1]:
                at -= 1
            if at < most:
                for later in range(most - 1, at, -1):
                    length[a, later], wanted[i, a, later] = length[a, later - 1], wanted[i, a, later - 1]
                length[a, at], wanted[i, a, at] = squared, j
    return wanted


@builder
def _list_pairs(positions, wanted, hearing, asked, asked_grade):  # type: ignore[no-untyped-def]
    """First node, second node and grade of all pairs; hearing: (n,) how far each node follows others, squared."""
    n = len(positions)
    asked_of = np.zeros(n + 1, dtype=np.int64)
    for m in range(len(asked)):
        for end in range(2):
            asked_of[asked[m, end] + 1] += 1
    for i in range(n):
        asked_of[i + 1] += asked_of[i]
    peer, peer_grade = np.empty(asked_of[n], dtype=np.int64), np.empty(asked_of[n], dtype=np.int64)
    filled = asked_of[:n].copy()
    for m in range(len(asked)):
        for end in range(2):
            i = asked[m, end]
            peer[filled[i]], peer_grade[filled[i]] = asked[m, 1 - end], asked_grade[m]
            filled[i] += 1
    first = second = grade = np.empty(0, dtype=np.int64)
    of_row = np.empty(n, dtype=np.int64)
    for sweep in range(2):  # count, then fill
        size = 0
        for i in range(n):
            for j in range(n):
                squared = _squared(positions, i, j)
                of_row[j] = HEARD if i != j and (squared <= hearing[i] or squared <= hearing[j]) else -1
            for a in range(wanted.shape[1]):
                for j in wanted[i, a]:
                    if j >= 0 and _among(wanted[j], i):
                        of_row[j] = CANDIDATE
            for at in range(asked_of[i], asked_of[i + 1]):
                of_row[peer[at]] = max(of_row[peer[at]], peer_grade[at])
            for j in range(n):
                if of_row[j] >= 0:
                    if sweep == 1:
                        first[size], second[size], grade[size] = i, j, of_row[j]
                    size += 1
        if sweep == 0:
            first, second = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
            grade = np.empty(size, dtype=np.int64)
    return first, second, grade


@kernel
def _among(wanted, i):  # type: ignore[no-untyped-def]
    for a in range(wanted.shape[0]):
        for at in range(wanted.shape[1]):
            if wanted[a, at] == i:
                return True
    return False
