"""Fleets on the ground and at sea: vehicles in a grid of one-way streets, and ships in lanes."""

from __future__ import annotations

import numpy as np

from manetdiff.scenarios.placing import ComplexArray, Families, FloatArray, IntArray, Layout, coin, length_km, members

BUSY = 3.0  # a place in a street of the rush hour's direction is so many times as likely to be taken as another
# Nobody keeps a course to the last digit, and headings that cancel out exactly leave a fleet without a mean heading.
UNSTEADY = float(np.radians(0.5))


def streets(n: int, rng: np.random.Generator) -> Layout:
    """Vehicles between the crossings of streets, neighbouring streets in opposite directions.

    Blocks differ in length, and it is rush hour: more drive east and north (before the layout is turned) than back.
    """
    block = length_km(rng, 0.12, 0.6)
    share = rng.uniform(0.5, 0.8)  # of the places between two crossings that are taken
    aspect = np.sqrt(rng.uniform(0.6, 1.7))
    side = np.sqrt(n / (2 * share))  # blocks along a side, were the district square: two places belong to a block
    columns, rows = (max(1, round(float(length))) for length in (side * aspect, side / aspect))
    avenues, roads = (block * np.cumsum(rng.uniform(0.8, 1.25, count + 1)) for count in (columns, rows))
    east, east_ways = _between_crossings(roads, avenues, rng)
    north, north_ways = _between_crossings(avenues, roads, rng)
    # What runs north was laid out as if it ran east: mirrored at the diagonal, it runs north.
    places = np.concatenate([east, 1j * north.conj()])
    yaw = np.concatenate([np.where(east_ways > 0, 0.0, np.pi), north_ways * np.pi / 2])
    weights = np.where(np.concatenate([east_ways, north_ways]) > 0, BUSY, 1.0)
    taken = rng.choice(len(places), n, replace=False, p=weights / weights.sum())
    return places[taken], yaw[taken] + _unsteady(n, rng)


def sea_lanes(n: int, rng: np.random.Generator) -> Layout:
    """Ships in parallel lanes, neighbouring lanes in opposite directions, the whole longer than wide."""
    spacing = length_km(rng, 0.8, 6.0, n)
    gap = spacing * rng.uniform(1.0, 1.5)
    stretch = rng.uniform(1.5, 4.0)
    outbound = int(np.clip(round(n * rng.uniform(0.5, 0.7)), 1, n - 1))
    pairs = round(float(np.sqrt(n * spacing / (stretch * gap))) / 2)
    pairs = int(np.clip(pairs, 1, min(outbound, n - outbound)))
    sizes = np.stack([_shared(outbound, pairs), _shared(n - outbound, pairs)], axis=1).ravel()
    lane, place = members(sizes)
    length = spacing * int(sizes.max()) * rng.uniform(1.0, 1.2)
    shift = rng.uniform(0.0, 1.0, len(sizes))[lane]
    along = length * (place + shift + rng.uniform(-0.25, 0.25, n)) / sizes[lane]
    # Ships keep to their side of a lane, not to a line: on one, they would hide one another.
    across = gap * (lane + rng.uniform(-0.12, 0.12, n))
    return along + 1j * across, np.where(lane % 2 == 0, 0.0, np.pi) + _unsteady(n, rng)


def common_axis(yaw: FloatArray, ways: int) -> float:
    """The angle of the streets or lanes that most of the yaw (n,) is along, whatever the others do.

    - ways: how many ways there are to go, evenly around the circle.
    """
    headings = np.exp(1j * ways * yaw)
    agree = (headings[:, None] * headings.conj()).real >= np.cos(3 * ways * UNSTEADY)
    return float(np.angle(headings[agree[agree.sum(axis=1).argmax()]].sum())) / ways


SURFACE: Families = {"streets": streets, "sea-lanes": sea_lanes}


def _between_crossings(
    lines: FloatArray, crossings: FloatArray, rng: np.random.Generator
) -> tuple[ComplexArray, IntArray]:
    """One place between each two neighbouring crossings (x) of each street (y), and the street's way: 1 or -1."""
    line, gap = (index.ravel() for index in np.indices((len(lines), len(crossings) - 1)))
    along = crossings[gap] + rng.uniform(0.3, 0.7, len(gap)) * np.diff(crossings)[gap]
    ways = coin(rng) * np.where(line % 2 == 0, 1, -1)
    return along + 1j * lines[line], ways


def _unsteady(n: int, rng: np.random.Generator) -> FloatArray:
    return rng.uniform(-UNSTEADY, UNSTEADY, n)


def _shared(n: int, count: int) -> IntArray:
    """Sizes of so many groups that share n, as equal as can be."""
    return np.asarray(n // count + (np.arange(count) < n % count), dtype=np.int64)
