"""Fleets made of parts with a task each: small elements over an area, and escorts around what they protect."""

from __future__ import annotations

import numpy as np

from manetdiff.scenarios.placing import (
    Families,
    IntArray,
    Layout,
    cells,
    coin,
    common_heading,
    jitter,
    length_km,
    members,
    split,
)

# Places in units of the wing's distance, leader first: as the tips of a hand's four fingers, and its first two.
FINGER_FOUR = np.array([0, -0.8 + 1j, -0.7 - 1.1j, -1.5 - 2.1j])
NODES_PER_HIGH_VALUE = 24


def elements(n: int, rng: np.random.Generator) -> Layout:
    """Two- and four-ship elements spread over an area, each on a slightly different heading; one may be left over."""
    wing = length_km(rng, 1.0, 3.0, n)
    sizes = _element_sizes(n, rng)
    count = len(sizes)
    group, place = members(sizes)
    mirrored = np.where(rng.random(count) < 0.5, 1, -1)[group]
    shape = FINGER_FOUR.real[place] + 1j * mirrored * FINGER_FOUR.imag[place]
    shape = wing * shape + jitter(n, wing * rng.uniform(0.05, 0.2), rng)

    row, column = cells(count, max(1, round(float(np.sqrt(count * rng.uniform(0.5, 1.5))))))
    depth, width = wing * rng.uniform([3.0, 4.5], [5.0, 7.0])
    centres = depth * (-row + rng.uniform(-0.3, 0.3, count)) + 1j * width * (column + rng.uniform(-0.25, 0.25, count))
    heading = rng.normal(0.0, np.radians(rng.uniform(4.0, 12.0)), count)[group]
    return centres[group] + shape * np.exp(1j * heading), heading + common_heading(n, rng)


def escort(n: int, rng: np.random.Generator) -> Layout:
    """High-value aircraft, one per couple of dozen, each with escorts on rings around it or fanned out ahead of it."""
    protected = 1 + n // NODES_PER_HIGH_VALUE
    sizes = split(n, -(-n // protected))
    group, place = members(sizes)
    inner = length_km(rng, 3.0, 8.0, n)
    ring_gap = inner * rng.uniform(0.5, 0.9)
    ring, share = _rings(place, sizes[group], first_ring=int(rng.integers(4, 7)))

    # The rings may be closed, or open to the rear: then the escorts fan out ahead.
    opening = rng.uniform(np.radians(200), np.radians(300)) if rng.random() < 0.4 else 2 * np.pi
    phase = rng.uniform(-np.pi, np.pi, (len(sizes), int(ring.max()) + 1)) if opening == 2 * np.pi else np.zeros((1, 1))
    turn = phase[group % len(phase), ring % phase.shape[1]]
    bearing = turn + opening * (share - 0.5) + rng.uniform(-0.1, 0.1, n)
    radius = (inner + (ring - 1) * ring_gap) * rng.uniform(0.88, 1.12, n)
    around = np.where(place == 0, 0.0, radius * np.exp(1j * bearing))

    pitch = 2 * (inner + (int(ring.max()) - 1) * ring_gap) + inner * rng.uniform(0.8, 1.3)
    row, column = cells(len(sizes), max(1, round(float(np.sqrt(len(sizes))))))
    lean = 0.25 * pitch * coin(rng) * (np.rint(row - row[0]) % 2)
    centres = -row * pitch + 1j * (column * pitch + lean) + jitter(len(sizes), 0.08 * pitch, rng)
    return centres[group] + around, common_heading(n, rng)


PACKAGES: Families = {"elements": elements, "escort": escort}


def _element_sizes(n: int, rng: np.random.Generator) -> IntArray:
    four_ship_share = rng.uniform(0.3, 1.0)
    sizes: list[int] = []
    while n >= 2:
        sizes.append(4 if n >= 4 and rng.random() < four_ship_share else 2)
        n -= sizes[-1]
    return np.array(sizes + [1] * n, dtype=np.int64)


def _rings(place: IntArray, size: IntArray, first_ring: int) -> tuple[IntArray, IntArray]:
    """Ring (1, 2, …; 0 in the middle) and share of the way around it (0 … 1), each (n,).

    Each ring holds three aircraft more than the one inside it; the outermost one spaces what is left evenly.
    """
    capacity = first_ring + 3 * np.arange(16)
    last_place = np.cumsum(capacity)
    ring = np.where(place == 0, 0, 1 + np.searchsorted(last_place, place))
    before = np.where(ring > 1, last_place[np.maximum(ring - 2, 0)], 0)
    on_ring = np.minimum(capacity[np.maximum(ring - 1, 0)], size - 1 - before)
    return ring, (place - before - 0.5) / np.maximum(on_ring, 1)
