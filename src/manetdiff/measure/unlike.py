"""Layouts unlike any that a network is trained on: streets and sea lanes, satellites in a plane, and a drone show."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from manetdiff.data import SolvedLayout
from manetdiff.data.benchmark_radios import IN_METRES, SPACING, UNIT
from manetdiff.fleet import Fleet
from manetdiff.measure.drawn import solved_now
from manetdiff.measure.sets import LayoutSet
from manetdiff.scenarios import draw
from manetdiff.scenarios.spacing import spacing_of
from manetdiff.solvers import solve

SIZES = (24, 32, 48, 64)
# Of the search for a target.
MOVES_A_NODE = 16_000

ORBITS = (2, 4)
# Radius of the lowest orbit, in steps from one orbit to the next.
LOWEST = (1.5, 3.0)

# A show is denser than other fleets, and each drone holds its place to this part of the way to the next.
DENSER, HELD = 2.0, 0.01
BLOCKS = ((4, 6), (4, 8), (6, 8), (8, 8))
WORDS = ("NET", "DIFF", "FEED", "TIDE")
LETTERS = {
    "D": "###. #..# #..# #..# ###.",
    "E": "#### #... ###. #... ####",
    "F": "#### #... ###. #... #...",
    "I": "# # # # #",
    "N": "#...# ##..# #.#.# #..## #...#",
    "T": "##### ..#.. ..#.. ..#.. ..#..",
}


def satellites(index: int, rng: np.random.Generator) -> Fleet:
    """Equally spaced on each of several orbits about one centre, all going round the same way."""
    orbits = int(rng.integers(ORBITS[0], ORBITS[1] + 1))
    radii = rng.uniform(*LOWEST) + np.arange(orbits)
    nodes = SIZES[index % len(SIZES)]
    # As many to a length of every orbit.
    ends = np.rint(nodes * np.cumsum(radii) / radii.sum()).astype(np.int64)
    counts = np.diff(ends, prepend=0)
    turns = np.concatenate([rng.random() + np.arange(count) / count for count in counts])
    outwards = np.exp(2j * np.pi * turns)
    return _spaced(np.repeat(radii, counts) * outwards, np.angle(1j * outwards), SPACING)


def drone_show(index: int, rng: np.random.Generator) -> Fleet:
    """Blocks and words in turn, all noses in one direction."""
    which = index // 2
    if index % 2:
        dots = _dots(WORDS[which % len(WORDS)])
    else:
        rows, columns = np.indices(BLOCKS[which % len(BLOCKS)])
        dots = (columns + 1j * rows).ravel()
    off = rng.uniform(-HELD, HELD, (2, len(dots)))
    turned = (dots + off[0] + 1j * off[1]) * np.exp(1j * rng.uniform(-np.pi, np.pi))
    return _spaced(turned, np.full(len(dots), rng.uniform(-np.pi, np.pi)), SPACING / DENSER)


def _of_family(family: str) -> Callable[[int, np.random.Generator], Fleet]:
    reach = IN_METRES.range * UNIT
    return lambda index, rng: draw(family, SIZES[index % len(SIZES)], rng, spacing=SPACING, within=reach)


UNLIKE: dict[str, Callable[[int, np.random.Generator], Fleet]] = {
    "streets": _of_family("streets"),
    "sea lanes": _of_family("sea-lanes"),
    "satellites in a plane": satellites,
    "a drone show": drone_show,
}


def unlike_set(kind: str, count: int) -> LayoutSet:
    """So many layouts of one of UNLIKE, of 24 to 64 nodes, solved when they are first looked at."""

    @cache
    def layout(index: int) -> SolvedLayout:
        fleet = UNLIKE[kind](index, np.random.default_rng((list(UNLIKE).index(kind), index)))
        topology = solve(fleet, IN_METRES, moves=MOVES_A_NODE * len(fleet), seed=index)
        return solved_now(index, kind, topology)

    key = {"unlike": kind, "moves_a_node": MOVES_A_NODE}
    return LayoutSet(kind, max(SIZES), tuple(range(count)), layout, key, (__name__,), (unlike_set, (kind, count)))


def _dots(word: str) -> npt.NDArray[np.complex128]:
    """Where the letters have a mark, a column of room between two letters."""
    found, start = [], 0
    for letter in word:
        rows = LETTERS[letter].split()
        found += [start + column - 1j * row for row, line in enumerate(rows) for column in _marks(line)]
        start += len(rows[0]) + 1
    return np.array(found)


def _marks(line: str) -> list[int]:
    return [column for column, mark in enumerate(line) if mark == "#"]


def _spaced(places: npt.NDArray[np.complex128], yaw: npt.NDArray[np.float64], spacing: float) -> Fleet:
    fleet = Fleet(np.column_stack([places.real, places.imag]), yaw)
    return fleet.replace(positions=fleet.positions * (spacing / spacing_of(fleet)))
