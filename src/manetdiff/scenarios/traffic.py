"""Aircraft that do not fly together: streams that cross, and a plain scatter."""

from __future__ import annotations

import numpy as np

from manetdiff.scenarios.placing import ComplexArray, Families, Layout, cells, common_heading, length_km, members, split
from manetdiff.scenarios.spacing import pushed_apart


def crossing(n: int, rng: np.random.Generator) -> Layout:
    """Two to four streams of one or more lanes, on headings at least 20 degrees apart, that meet near the middle."""
    streams = min(int(rng.integers(2, 5)), max(2, n // 3))
    spacing = length_km(rng, 5.0, 10.0, n)
    sizes = split(n, -(-n // streams))
    parts = [_stream(int(size), spacing, rng) for size in sizes]
    # Spread over half a circle, so that no two streams are parallel; either way along each.
    heading = np.pi * (np.arange(len(sizes)) + rng.uniform(-0.28, 0.28, len(sizes))) / len(sizes)
    heading = heading + np.pi * (rng.random(len(sizes)) < 0.5)
    group, _ = members(sizes)
    places = np.concatenate(parts) * np.exp(1j * heading[group])
    # Traffic that crosses keeps well clear of one another.
    places = pushed_apart(places, spacing * rng.uniform(0.3, 0.5))
    return places, heading[group] + common_heading(n, rng)


def scatter(n: int, rng: np.random.Generator) -> Layout:
    """Aircraft anywhere in a disc, a rectangle or a cluster, on one heading or on any."""
    room = length_km(rng, 4.0, 10.0, n)  # each aircraft has this length squared to itself
    side = room * np.sqrt(n)
    aspect = np.sqrt(rng.uniform(1.0, 2.5))
    shape = rng.integers(3)
    if shape == 0:
        radius, angle = np.sqrt(rng.random(n) / np.pi), rng.uniform(-np.pi, np.pi, n)
        unit = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    elif shape == 1:
        unit = rng.uniform(-0.5, 0.5, (n, 2))
    else:
        unit = np.clip(rng.normal(0.0, 0.3, (n, 2)), -0.75, 0.75)
    turn = np.exp(1j * rng.uniform(-np.pi, np.pi))
    x, y = (unit * side * [aspect, 1 / aspect]).T
    places = pushed_apart(x + 1j * y, room * rng.uniform(0.25, 0.6))
    together = rng.random() < 0.5
    yaw = common_heading(n, rng) if together else rng.uniform(-np.pi, np.pi, n)
    return places * turn, yaw


TRAFFIC: Families = {"crossing": crossing, "scatter": scatter}


def _stream(n: int, spacing: float, rng: np.random.Generator) -> ComplexArray:
    """Places (n,) in one stream along x that passes near zero."""
    sizes = split(n, int(rng.integers(6, 11)))
    group, place = members(sizes)
    row, column = cells(len(sizes), 1 + len(sizes) // 5)
    length = spacing * (int(sizes.max()) + 0.5)
    stagger = rng.uniform(-0.5, 0.5, len(sizes)) * spacing
    along = (place - (sizes[group] - 1) / 2) * spacing + (column * length + stagger)[group]
    across = (row * spacing * rng.uniform(1.2, 1.8))[group] + rng.uniform(-0.5, 0.5) * spacing
    loose = spacing * rng.uniform(0.1, 0.3)
    return along + rng.uniform(-loose, loose, n) + 1j * (across + rng.uniform(-loose, loose, n))
