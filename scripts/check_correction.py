"""Whether correction keeps its word, whatever it is given: any fleet of 2 to 1,000 nodes, any radio, any raw links.

    python scripts/check_correction.py                              # 100,000 inputs, some three hours on one core
    python scripts/check_correction.py --first 20000 --count 5000   # some of them, to go on where a run has stopped
    python scripts/check_correction.py --largest 64                 # small fleets alone, some minutes

Each input is drawn from its own number. Of what comes out, every pair of nodes is looked at by the definition of the
physics: no link inside one parity, none that may not be, at most one an antenna, no more parts than what is sound in
the raw links leaves, and between parts no pair that could still be linked. Exit code 1 if one input breaks a rule.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff import Fleet, Radio, Topology, correct
from manetdiff.layout import Layout
from manetdiff.radio import Placement
from manetdiff.radio.drawing import draw_spacing
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.topology import component_labels, count_components

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

LARGEST = 1_000
# Sizes that times are told for, each from just above the one before.
CLASSES = (4, 16, 64, 128, 256, 512, 1_000)
# Rows of pairs that are looked at together.
BLOCK = 128

RAW = ("nothing", "sparse", "dense", "nearest", "previous")
PARITY = ("random", "alternating", "one side")
PLACES = ("box", "clumps", "line", "grid")


class Input(NamedTuple):
    """What correction is given. kind: how the raw links were made."""

    layout: Layout
    raw: Topology
    flip_parts: bool
    kind: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--largest", type=int, default=LARGEST, help="fleet")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    asked = parser.parse_args()
    rehearse()
    began, used = time.monotonic(), time.process_time()
    rows = []
    broken = 0
    for number in range(asked.first, asked.first + asked.count):
        given = draw_input(number, asked.largest)
        tables, seconds, corrected = timed(given)
        rows.append((len(given.raw), tables, seconds, count_components(corrected.links, len(given.raw)) > 1))
        for rule in broken_rules(given, corrected):
            broken += 1
            print(f"input {number} ({len(given.raw)} nodes, {given.kind}): {rule}", flush=True)
        if time.monotonic() - began > asked.seconds:
            break
    last = asked.first + len(rows) - 1
    print(f"inputs {asked.first} … {last}: {broken} rules broken, in {time.process_time() - used:.0f} s of CPU time")
    report(np.array(rows, dtype=np.float64))
    sys.exit(broken > 0)


def report(rows: FloatArray) -> None:
    """Medians by sizes, and how times grow. rows: (m, 4) nodes, seconds for tables and correction, whether in parts."""
    print("nodes, inputs, in parts, median CPU ms for tables, for correction, 99 % under")
    smallest = 2
    for largest in CLASSES:
        some = rows[(rows[:, 0] >= smallest) & (rows[:, 0] <= largest)]
        if len(some):
            tables, correction = 1e3 * np.median(some[:, 1:3], axis=0)
            most, parted = 1e3 * np.quantile(some[:, 2], 0.99), int(some[:, 3].sum())
            print(f"{smallest:4} … {largest:4} {len(some):6} {parted:6} {tables:9.3f} {correction:9.3f} {most:9.3f}")
        smallest = largest + 1
    large = rows[rows[:, 0] > 64]
    if len(large) > 10:
        tables, correction = (np.polyfit(np.log(large[:, 0]), np.log(large[:, k]), 1)[0] for k in (1, 2))
        print(f"above 64 nodes: tables grow as n^{tables:.2f}, correction as n^{correction:.2f}")


def timed(given: Input) -> tuple[float, float, Topology]:
    """CPU seconds for the layout's tables and for the correction, and what comes out."""
    start = time.process_time()
    _ = given.layout.tables
    made = time.process_time()
    corrected = correct(given.raw, given.layout, flip_parts=given.flip_parts)
    return made - start, time.process_time() - made, corrected


def draw_input(number: int, largest: int = LARGEST) -> Input:
    """Any fleet under any radio, with any raw links: all of it by its number."""
    rng = np.random.default_rng((2025, number))
    n = min(largest, int(2 * ((largest + 1) / 2) ** rng.uniform()))
    spacing = draw_spacing(rng)
    radio = Radio.draw(rng, spacing=spacing if rng.uniform() < 0.8 else None)
    fleet = _draw_fleet(n, spacing, rng)
    layout = Layout(fleet, radio)
    kind = RAW[int(rng.integers(len(RAW)))]
    parity = _draw_parity(n, rng)
    flip = bool(rng.integers(2))
    if kind != "previous":
        return Input(layout, Topology(_draw_links(kind, fleet, rng), parity), flip, kind)
    before = correct(Topology(_draw_links("sparse", fleet, rng), parity), layout, flip_parts=True)
    step = spacing * rng.uniform(0.01, 2.0)
    moved = fleet.replace(fleet.positions + rng.normal(0.0, step, fleet.positions.shape))
    return Input(Layout(moved, radio), Topology(before.links, before.parity), flip, kind)


def _draw_fleet(n: int, spacing: float, rng: np.random.Generator) -> Fleet:
    """Nodes about `spacing` apart, placed in one of several ways; some in height, some with blocked azimuths."""
    places = PLACES[int(rng.integers(len(PLACES)))]
    side = spacing * np.sqrt(n) * rng.uniform(0.7, 2.0)
    if places == "box":
        flat = rng.uniform(0.0, side, (n, 2))
    elif places == "clumps":
        middles = rng.uniform(0.0, 2 * side, (1 + n // 12, 2))
        flat = middles[rng.integers(0, len(middles), n)] + rng.normal(0.0, 1.5 * spacing, (n, 2))
    elif places == "line":
        flat = np.stack([spacing * rng.uniform(0.5, 1.5, n).cumsum(), rng.normal(0.0, 0.2 * spacing, n)], axis=1)
    else:  # equal distances, and bearings on the edges of sectors
        flat = spacing * np.stack(np.divmod(np.arange(n), max(1, int(np.sqrt(n)))), axis=1).astype(np.float64)
    heights = rng.uniform(0.0, spacing, (n, 1)) if rng.integers(2) else np.empty((n, 0))
    yaw = np.zeros(n) if places == "grid" else rng.uniform(-np.pi, np.pi, n)
    arcs: list[list[tuple[float, float]]] = [[] for _ in range(n)]
    for arc in arcs[::3]:
        start = rng.uniform(-np.pi, np.pi)
        arc.append((start, start + rng.uniform(0.1, 2.0)))
    return Fleet(np.hstack([flat, heights]), yaw, blocked=arcs if rng.uniform() < 0.3 else None)


def _draw_parity(n: int, rng: np.random.Generator) -> IntArray:
    how = PARITY[int(rng.integers(len(PARITY)))]
    if how == "random":
        return rng.integers(0, 2, n)
    return np.arange(n) % 2 if how == "alternating" else np.zeros(n, dtype=np.int64)


def _draw_links(kind: str, fleet: Fleet, rng: np.random.Generator) -> IntArray:
    n = len(fleet)
    if kind == "nothing":
        return np.empty((0, 2), dtype=np.int64)
    if kind == "nearest":
        few = min(n - 1, int(rng.integers(1, 9)))
        offset = fleet.horizontal[:, None] - fleet.horizontal
        squared = (offset**2).sum(axis=2)
        np.fill_diagonal(squared, np.inf)
        second = np.argpartition(squared, few - 1, axis=1)[:, :few].ravel()
        return np.unique(np.sort(np.stack([np.repeat(np.arange(n), few), second], axis=1), axis=1), axis=0)
    share = rng.uniform(0.05, 0.9) if kind == "dense" else min(1.0, rng.uniform(0.2, 4.0) / n)
    return np.argwhere(np.triu(rng.random((n, n)) < share, 1))


def broken_rules(given: Input, corrected: Topology) -> Iterator[str]:
    """What is wrong with a corrected topology, in words."""
    place, parity, links = given.layout.placement, corrected.parity, corrected.links
    if not given.flip_parts and not np.array_equal(parity, given.raw.parity):
        yield "parity has changed"
    if (parity[links[:, 0]] == parity[links[:, 1]]).any():
        yield "a link inside one parity"
    values = place.pairs(links, links[:, ::-1])
    if not place.linkable(values).all():
        yield "a link that may not be"
    load = np.zeros((len(place), place.radio.sectors), dtype=np.int64)
    np.add.at(load, (links, values.sector), 1)
    if (load > 1).any():
        yield "two links on an antenna"
    parts = component_labels(links, len(place))
    if len(np.unique(parts)) > count_components(sound_links(given), len(place)):
        yield "more parts than there were"
    if (parts != parts[0]).any():
        for i, j in open_pairs(place, load == 0, parts, parity, any_parity=given.flip_parts):
            yield f"nodes {i} and {j} could still be linked"


def sound_links(given: Input) -> IntArray:
    """Raw links that nothing is wrong with: there is no reason to drop them."""
    place, links, parity = given.layout.placement, given.raw.links, given.raw.parity
    values = place.pairs(links[:, 0], links[:, 1])
    links = links[place.linkable(values) & (parity[links[:, 0]] != parity[links[:, 1]])]
    sector = place.pairs(links, links[:, ::-1]).sector
    load = np.zeros((len(place), place.radio.sectors), dtype=np.int64)
    np.add.at(load, (links, sector), 1)
    return np.asarray(links[(load[links, sector] == 1).all(axis=1)])


def open_pairs(
    place: Placement, free: npt.NDArray[np.bool_], parts: IntArray, parity: IntArray, *, any_parity: bool
) -> IntArray:
    """(m, 2) pairs in different parts that may be linked, over antennas that are free (n, Q), parity allowing."""
    nodes = np.arange(len(place))
    found = []
    for rows in np.split(nodes, range(BLOCK, len(nodes), BLOCK)):
        i, j = rows[:, None], nodes[None, :]
        there = place.pairs(i, j)
        back = place.sectors(j, place.directions(j, i).bearing)
        possible = place.linkable(there) & (parts[i] != parts[j]) & free[i, there.sector] & free[j, back]
        row, column = np.nonzero(possible & (any_parity | (parity[i] != parity[j])))
        found.append(np.stack([rows[row], column], axis=1))
    return np.concatenate(found)


if __name__ == "__main__":
    main()
