"""Formations flown as one body, split into several where one line would be longer than any fleet flies it."""

from __future__ import annotations

import numpy as np

from manetdiff.scenarios.placing import (
    Families,
    FloatArray,
    Layout,
    cells,
    coin,
    common_heading,
    jitter,
    length_km,
    members,
    split,
)


def echelon(n: int, rng: np.random.Generator) -> Layout:
    """Each aircraft behind and to the same side of the one before it; further echelons behind and beside the first."""
    spacing = length_km(rng, 1.0, 8.0, n)
    slant = np.radians(rng.uniform(30.0, 60.0))
    side = coin(rng)
    sizes = split(n, int(rng.integers(5, 10)))
    group, place = members(sizes)
    longest = int(sizes.max())
    # Two echelons one behind the other are apart by the along-track gap's share across their slanted line.
    behind = spacing * rng.uniform(1.4, 2.2) / np.sin(slant)
    beside = spacing * np.sin(slant) * (longest + rng.uniform(0.2, 1.0))
    files = max(1, round(float(np.sqrt(len(sizes) * behind / beside))))
    row, column = cells(len(sizes), files)
    line = place * spacing * (-np.cos(slant) + 1j * side * np.sin(slant))
    places = line + (-row * behind + 1j * column * beside)[group]
    return places + jitter(n, spacing * rng.uniform(0.05, 0.25), rng), common_heading(n, rng)


def wedge(n: int, rng: np.random.Generator) -> Layout:
    """A leader with an arm back on either side; several wedges make up a filled wedge of wedges."""
    spacing = length_km(rng, 1.0, 8.0, n)
    slant = np.radians(rng.uniform(30.0, 60.0))
    sizes = split(n, int(rng.integers(5, 10)))
    group, place = members(sizes)
    back = (place + 1) // 2
    side = np.where(place % 2 == 1, 1, -1)
    arm = back * spacing * (-np.cos(slant) + 1j * side * np.sin(slant))
    arm_length = int(back.max())
    width = 2 * arm_length * spacing * np.sin(slant) + spacing * rng.uniform(0.8, 1.5)
    depth = arm_length * spacing * np.cos(slant) * rng.uniform(0.6, 1.0) + spacing * rng.uniform(0.8, 1.5)
    row, column = _triangle(len(sizes))
    places = arm + (-row * depth + 1j * column * width)[group]
    return places + jitter(n, spacing * rng.uniform(0.05, 0.25), rng), common_heading(n, rng)


def line_abreast(n: int, rng: np.random.Generator) -> Layout:
    """Aircraft side by side; several lines one behind the other, the whole still wider than long."""
    along, across = _lines(n, rng)
    return across + 1j * along, common_heading(n, rng)


def trail(n: int, rng: np.random.Generator) -> Layout:
    """Aircraft one behind the other; several files side by side, the whole still longer than wide."""
    along, across = _lines(n, rng)
    return -along + 1j * across, common_heading(n, rng)


def box(n: int, rng: np.random.Generator) -> Layout:
    """Rows and files, a little shifted from row to row."""
    spacing = length_km(rng, 1.0, 8.0, n)
    row, column = cells(n, max(1, round(float(np.sqrt(n * rng.uniform(0.6, 1.7))))))
    row_gap = spacing * rng.uniform(0.8, 1.3)
    shift = rng.uniform(-0.25, 0.25) * (np.rint(row - row[0]) % 2)
    places = -row * row_gap + 1j * (column + shift) * spacing
    return places + jitter(n, spacing * rng.uniform(0.05, 0.25), rng), common_heading(n, rng)


FORMATIONS: Families = {
    "echelon": echelon,
    "wedge": wedge,
    "line-abreast": line_abreast,
    "trail": trail,
    "box": box,
}


def _lines(n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Places (n,) along and across a block of parallel lines that is longer along them than across."""
    spacing = length_km(rng, 1.0, 8.0, n)
    sizes = split(n, int(rng.integers(6, 11)))
    group, place = members(sizes)
    length = spacing * (int(sizes.max()) + rng.uniform(0.0, 0.8))
    gap = spacing * rng.uniform(1.2, 1.7)
    stretch = rng.uniform(1.5, 3.0)
    end_to_end = np.ceil(np.sqrt(stretch * len(sizes) * gap / length))
    row, column = cells(len(sizes), int(min(end_to_end, -(-len(sizes) // 2))))
    stagger = rng.uniform(-0.5, 0.5, len(sizes)) * spacing
    along = place * spacing + (column * length + stagger)[group]
    # Zigzag and sway are large on purpose: a perfect line has no width, and its nodes would hide one another.
    zigzag = spacing * rng.uniform(0.2, 0.8) * (place % 2 - 0.5)
    sway = spacing * rng.uniform(0.2, 0.5)
    along = along + rng.uniform(-1, 1, n) * spacing * rng.uniform(0.05, 0.2)
    return along, row[group] * gap + zigzag + rng.uniform(-sway, sway, n)


def _triangle(count: int) -> tuple[FloatArray, FloatArray]:
    """Row and centred column, each (count,), of rows that hold 1, 2, 3, … cells; the last row is centred too."""
    index = np.arange(count)
    row = np.floor((np.sqrt(8 * index + 1) - 1) / 2)
    first = row * (row + 1) / 2
    in_row = np.minimum(row + 1, count - first)
    return row, index - first - (in_row - 1) / 2
