"""Aircraft on station: on racetracks and on orbits, each pointing along its track."""

from __future__ import annotations

import numpy as np

from manetdiff.scenarios.placing import (
    ComplexArray,
    Families,
    FloatArray,
    IntArray,
    Layout,
    cells,
    jitter,
    length_km,
    members,
    split,
)

CRAB = float(np.radians(2.0))  # at most so far off its track an aircraft points


def racetrack(n: int, rng: np.random.Generator) -> Layout:
    """Several racetracks side by side, legs nearly parallel; up to five aircraft share one (seven in a large fleet)."""
    radius = length_km(rng, 3.0, 7.0, n)
    leg = radius * rng.uniform(2.5, 4.5)
    sizes = split(n, int(rng.integers(3, 6)) + n // 100)
    count = len(sizes)
    group, _ = members(sizes)
    places, yaw = _on_racetrack(_phases(sizes, rng), radius, leg)

    tilt = rng.normal(0.0, np.radians(4.0), count)
    length, width = leg + 2 * radius, 2 * radius + leg * np.radians(6.0)
    row, column = cells(count, max(1, round(float(np.sqrt(count * length / width)))))
    centres = row * length * rng.uniform(1.15, 1.4) + 1j * column * width * rng.uniform(1.3, 1.7)
    centres = centres + jitter(count, 0.15 * radius, rng)
    return _turned(places, yaw, centres, tilt, _directions(count, rng), group, rng)


def orbit(n: int, rng: np.random.Generator) -> Layout:
    """Several circles of different size, flown either way round; up to seven aircraft share one."""
    largest = length_km(rng, 4.0, 14.0, n)
    sizes = split(n, int(rng.integers(3, 8)))
    count = len(sizes)
    group, _ = members(sizes)
    radius = largest * rng.uniform(0.65, 1.0, count)
    angle = 2 * np.pi * _phases(sizes, rng)
    places = radius[group] * np.exp(1j * angle)

    row, column = cells(count, max(1, round(float(np.sqrt(count * rng.uniform(0.7, 1.4))))))
    pitch = 2 * largest * rng.uniform(1.15, 1.5)
    half_step = 0.5 * (np.rint(row - row[0]) % 2)
    centres = pitch * (0.9 * row + 1j * (column + half_step)) + jitter(count, 0.12 * largest, rng)
    return _turned(places, angle + np.pi / 2, centres, np.zeros(count), _directions(count, rng), group, rng)


PATROLS: Families = {"racetrack": racetrack, "orbit": orbit}


def _phases(sizes: IntArray, rng: np.random.Generator) -> FloatArray:
    """How far around its track (0 … 1) each aircraft is: evenly spaced on each track, give or take a third of a gap."""
    group, place = members(sizes)
    loose = rng.uniform(-0.33, 0.33, len(group))
    return np.asarray((rng.random(len(sizes))[group] + (place + loose) / sizes[group]) % 1.0, dtype=np.float64)


def _on_racetrack(phase: FloatArray, radius: float, leg: float) -> Layout:
    """Places and yaw (n,) on a counter-clockwise racetrack around zero with its legs along x."""
    turn = np.pi * radius
    way = phase * 2 * (leg + turn)
    # The second half of the track is the first one, turned by half a circle.
    second = way >= leg + turn
    way = np.where(second, way - leg - turn, way)
    angle = np.clip((way - leg) / radius, 0.0, None)
    on_leg = np.minimum(way, leg) - leg / 2 - 1j * radius
    on_turn = leg / 2 + radius * np.exp(1j * (angle - np.pi / 2))
    places = np.where(way < leg, on_leg, on_turn)
    return np.where(second, -places, places), angle + np.pi * second


def _directions(count: int, rng: np.random.Generator) -> IntArray:
    """(count,) way around each track: 1 counter-clockwise, -1 clockwise."""
    return np.where(rng.random(count) < 0.5, 1, -1).astype(np.int64)


def _turned(
    places: ComplexArray,
    yaw: FloatArray,
    centres: ComplexArray,
    tilt: FloatArray,
    direction: IntArray,
    group: IntArray,
    rng: np.random.Generator,
) -> Layout:
    """Tracks around zero, flown either way, turned by their tilt and set on their centres (one per group)."""
    backwards = np.where(direction == 1, 0.0, np.pi)
    # No track is flown to the degree; exactly opposite headings would also leave the fleet without a mean heading.
    yaw = yaw + (tilt + backwards)[group] + rng.uniform(-CRAB, CRAB, len(yaw))
    return centres[group] + places * np.exp(1j * tilt[group]), yaw
