"""Fleets, and Hypothesis strategies for fleets, radios and topologies."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology
from manetdiff.fleet.geodetic import wrapped
from manetdiff.formats.nodes import geodetic_columns
from manetdiff.scenarios import draw


def drawn(n: int, seed: int = 0) -> Fleet:
    """A fleet of a mixed formation, its nodes named n0, n1, …"""
    fleet = draw("mixed", n, np.random.default_rng((seed, n)))
    return Fleet(fleet.positions, fleet.yaw, [f"n{k}" for k in range(n)])


@st.composite
def fleets(draw: st.DrawFn, smallest: int = 2, largest: int = 12, axes: int = 2, blocked: bool = False) -> Fleet:
    """Scattered nodes with arbitrary headings: nothing lines up, so no sector boundary is met exactly.

    - axes: 3 for fleets with heights. blocked: whether some nodes have no antenna in some directions.
    """
    n = draw(st.integers(smallest, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    positions = rng.normal(size=(n, axes)) * 10 ** rng.uniform(0, 5)
    arcs = [rng.uniform(-2 * math.pi, 2 * math.pi, (rng.integers(0, 3), 2)) for _ in range(n)] if blocked else None
    return Fleet(positions, rng.uniform(-math.pi, math.pi, n), blocked=arcs)


@st.composite
def radios(draw: st.DrawFn, options: bool = False) -> Radio:
    """Any kind of radio, within sense. options: whether it may have a boresight, a least SNR and a ceiling."""
    return Radio(
        p_0=draw(st.floats(0.2, 3.0)),
        p_max=draw(st.floats(0.2, 3.0)),
        alpha=draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])),
        theta_max=draw(st.sampled_from([math.pi / 16, math.pi / 8, math.pi / 3, math.pi])),
        epsilon=draw(st.sampled_from([0.0, 0.05, 0.5])),
        sigma2=draw(st.floats(0.05, 2.0)),
        range=draw(st.sampled_from([0.8, 2.5, 10.0])),
        sectors=draw(st.sampled_from([1, 2, 3, 4, 6, 8])),
        bandwidth=draw(st.sampled_from([1e6, 20e6])),
        reception=draw(st.sampled_from(["sectored", "omni"])),
        pattern=draw(st.sampled_from(["cone", "parabolic"])),
        beamwidth=draw(st.sampled_from([None, 0.3, 1.0])),
        floor_db=draw(st.sampled_from([0.0, 13.0, 30.0])),
        boresight=draw(st.sampled_from([0.0, 0.7, -2.0])) if options else 0.0,
        min_snr=draw(st.sampled_from([None, -6.0, 3.0])) if options else None,
        ceiling=draw(st.sampled_from([None, 0.5, 2.0])) if options else None,
    )


@st.composite
def topologies(draw: st.DrawFn, nodes: int) -> Topology:
    """Any links and any parity, valid or not."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    density = draw(st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0]))
    chosen = np.triu(rng.random((nodes, nodes)) < density, 1)
    return Topology(np.argwhere(chosen), rng.integers(0, 2, nodes))


@st.composite
def placed_fleets(draw: st.DrawFn, ids: st.SearchStrategy[str], smallest: int = 2, largest: int = 9) -> Fleet:
    """Fleets of any scale under any of these ids; half know where on earth they are, half how high, half have masts."""
    n = draw(st.integers(smallest, largest))
    names = draw(st.lists(ids, min_size=n, max_size=n, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    with_heights = draw(st.booleans())
    blocked = [rng.uniform(-3, 3, (rng.integers(0, 3), 2)) for _ in range(n)] if draw(st.booleans()) else None
    if draw(st.booleans()):
        axes = 3 if with_heights else 2
        return Fleet(
            rng.normal(size=(n, axes)) * 10 ** rng.uniform(-2, 6), rng.uniform(-10, 10, n), names, None, blocked
        )
    latitude = rng.uniform(-88, 88) + rng.uniform(-0.5, 0.5, n)
    longitude = rng.uniform(-180, 180) + rng.uniform(-0.5, 0.5, n)
    altitude = rng.uniform(-100, 12_000, n) if with_heights else None
    return Fleet.from_geodetic(latitude, longitude, rng.uniform(0, 360, n), names, altitude, blocked=blocked)


def assert_same(first: Fleet, second: Fleet) -> None:
    """Whether two fleets are the same to the last bit."""
    assert first.ids == second.ids
    assert np.array_equal(first.positions, second.positions)
    assert np.array_equal(first.yaw, second.yaw)
    assert first.frame == second.frame
    assert first.blocked == second.blocked


def assert_same_on_earth(first: Fleet, second: Fleet) -> None:
    """Whether two fleets that know where on earth they are are at the same places, to a micrometre."""
    assert first.ids == second.ids
    assert first.frame is not None and second.frame is not None
    places = second.frame.to_xy(*first.frame.to_degrees(first.horizontal))
    assert np.allclose(places, second.horizontal, rtol=0, atol=1e-6)
    assert first.has_heights == second.has_heights
    assert np.array_equal(first.heights, second.heights)
    headings = [geodetic_columns(one)["heading"] for one in (first, second)]
    assert np.allclose(wrapped(np.radians(headings[0] - headings[1])), 0, atol=1e-9)
    assert [len(arcs) for arcs in first.blocked or ()] == [len(arcs) for arcs in second.blocked or ()]
    for one, other in zip(first.blocked or (), second.blocked or (), strict=True):
        assert np.allclose(wrapped(np.array(one) - np.array(other)), 0, atol=1e-10)
