"""Height: distances and steered beams are in space, sectors and cones by azimuth; flat fleets are what they were."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, Layout, Radio, Topology, metrics, rates
from manetdiff.radio.link_budget import LinkBudget
from support.pairs import every_pair
from support.strategies import fleets, radios, topologies

PAIR = Topology([(0, 1)], [0, 1])
REAL = Radio.from_link_budget(5.8e9, 20e6, 1.0, 14.0, 6.0, range=1e6)


def capacity(metres: float) -> float:
    """Mbit/s of a link alone, by Friis and Shannon."""
    budget = LinkBudget(5.8e9, 20e6, 1.0, 14.0, 6.0)
    return 20 * math.log2(1 + budget.received_power(metres) / budget.noise_power)


@given(st.floats(1.0, 5e4), st.floats(-2e4, 2e4))
def test_a_pair_has_the_rate_of_its_distance_in_space(apart: float, above: float) -> None:
    pair = Fleet(np.array([[0, 0, 500], [apart, 0, 500 + above]]), [0, 0])
    made = metrics(PAIR, pair, REAL)
    assert math.isclose(made["throughput"], 2 * capacity(math.hypot(apart, above)), rel_tol=1e-9)
    assert made["sustained"] == made["throughput"] / 2
    assert math.isclose(made["mean_length"], math.hypot(apart, above), rel_tol=1e-9)


def test_a_pair_one_above_the_other_has_a_link() -> None:
    pair = Fleet([[7, 7, 0], [7, 7, 300]], [0, 0])
    assert math.isclose(metrics(PAIR, pair, REAL)["throughput"], 2 * capacity(300.0), rel_tol=1e-9)
    assert pair.spread == 150.0


@given(st.data(), radios(), st.floats(-1e4, 1e4))
def test_equal_heights_change_nothing_to_the_last_bit(data: st.DataObject, radio: Radio, height: float) -> None:
    flat = data.draw(fleets())
    topology = data.draw(topologies(len(flat)))
    raised = flat.replace(np.column_stack([flat.positions, np.full(len(flat), height)]))
    np.testing.assert_array_equal(rates(topology, raised, radio), rates(topology, flat, radio))
    for mine, theirs in zip(Layout(raised, radio).features, Layout(flat, radio).features, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@given(st.data(), st.floats(0.1, 1.4), st.sampled_from(["sectored", "omni"]))
def test_steered_beams_know_only_angles_in_space(data: st.DataObject, tilt: float, reception: str) -> None:
    """Two links in one plane: tilted about the x axis, the whole constellation carries what it did."""
    flat = data.draw(fleets(smallest=4, largest=4))
    # Antennas that nobody shares: sectors go by azimuth, which a tilt changes.
    topology = Topology([(0, 1), (2, 3)], [0, 1, 0, 1])
    radio = Radio(pattern="parabolic", beamwidth=0.7, reception=reception, unit=flat.spread, range=100)  # type: ignore[arg-type]
    x, y = flat.positions.T
    tilted = flat.replace(np.column_stack([x, y * math.cos(tilt), y * math.sin(tilt)]))
    np.testing.assert_allclose(rates(topology, tilted, radio), rates(topology, flat, radio), rtol=1e-6)


@given(fleets(axes=3))
def test_sectors_and_bearings_go_by_azimuth(fleet: Fleet) -> None:
    high, flat = every_pair(fleet), every_pair(fleet.replace(fleet.horizontal))
    np.testing.assert_array_equal(high.sector, flat.sector)
    np.testing.assert_array_equal(high.bearing, flat.bearing)
    assert (high.distance >= flat.distance).all()


def test_normalising_keeps_the_shape_in_space() -> None:
    fleet = Fleet([[0, 0, 0], [300, 0, 100], [0, 400, -50]], [1.0, 1.2, 0.9])
    made = fleet.normalised()
    for i, j in ((0, 1), (0, 2), (1, 2)):
        before = np.linalg.norm(fleet.positions[i] - fleet.positions[j]) / fleet.spread
        assert math.isclose(np.linalg.norm(made.positions[i] - made.positions[j]), before)


def test_altitude_becomes_the_height() -> None:
    degrees = ([48.0, 48.1], [11.0, 11.1], [0.0, 90.0])
    flat, high = Fleet.from_geodetic(*degrees), Fleet.from_geodetic(*degrees, altitude=[9_000, 11_000])
    np.testing.assert_array_equal(high.horizontal, flat.positions)
    np.testing.assert_array_equal(high.heights, [9_000, 11_000])
    np.testing.assert_array_equal(flat.heights, [0, 0])
