from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Radio, Topology, metrics, rates
from manetdiff.errors import RadioError
from manetdiff.radio import Placement
from support.pairs import every_pair
from support.plain_physics import plain_rates
from support.strategies import fleets, radios, topologies


@given(st.data(), radios(options=True))
@settings(max_examples=200)
def test_rates_agree_with_the_plain_transcription(data: st.DataObject, radio: Radio) -> None:
    axes, blocked = data.draw(st.sampled_from([2, 3])), data.draw(st.booleans())
    fleet = data.draw(fleets(largest=8, axes=axes, blocked=blocked))
    topology = data.draw(topologies(len(fleet)))
    expected = plain_rates(topology, fleet, radio)
    actual = rates(topology, fleet, radio)
    assert isinstance(actual, np.ndarray)
    for (i, j), (forth, back) in zip(topology.links.tolist(), actual, strict=True):
        assert math.isclose(forth, expected[i, j], rel_tol=1e-9, abs_tol=1e-12)
        assert math.isclose(back, expected[j, i], rel_tol=1e-9, abs_tol=1e-12)


@given(
    st.data(),
    radios(),
    st.floats(-3.1, 3.1),
    st.floats(-5, 5),
    st.floats(-5, 5),
    st.floats(0.05, 20),
    st.integers(0, 2**16),
)
@settings(max_examples=100)
def test_t_is_unchanged_by_moving_turning_scaling_renumbering_and_flipping(
    data: st.DataObject, radio: Radio, turn: float, east: float, north: float, scale: float, shuffle: int
) -> None:
    fleet = data.draw(fleets())
    topology = data.draw(topologies(len(fleet)))
    n = len(fleet)
    order = np.random.default_rng(shuffle).permutation(n)
    place = np.argsort(order)
    rotation = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    changed_positions = (fleet.positions / fleet.spread) @ rotation * scale + [east, north]
    changed = Fleet(changed_positions[order], (fleet.yaw + turn)[order])
    renumbered = Topology(place[topology.links].reshape(-1, 2), (1 - topology.parity)[order])
    before = metrics(topology, fleet, radio)
    after = metrics(renumbered, changed, radio)
    for name, value in before.items():
        assert math.isclose(value, after[name], rel_tol=1e-7, abs_tol=1e-9), name


@given(fleets(largest=8), st.floats(1.0, 1e4))
def test_a_radio_in_metres_scales_with_its_unit(fleet: Fleet, unit: float) -> None:
    topology = Topology([(i, i + 1) for i in range(len(fleet) - 1)], np.arange(len(fleet)) % 2)
    in_spreads = metrics(topology, fleet, Radio())
    same = metrics(topology, Fleet(fleet.positions / fleet.spread * unit, fleet.yaw), Radio(unit=unit))
    assert math.isclose(in_spreads["throughput"], same["throughput"], rel_tol=1e-9)


def test_sectors_look_forward_left_back_right() -> None:
    # Node 0 heads north; the others stand ahead, to the left, behind and to the right of it.
    fleet = Fleet([[0, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], [math.pi / 2, 0, 0, 0, 0])
    assert every_pair(fleet, Radio()).sector[0, 1:].tolist() == [0, 1, 2, 3]
    eight = every_pair(fleet, Radio(sectors=8)).sector[0, 1:].tolist()
    assert eight == [0, 2, 4, 6]
    assert every_pair(fleet, Radio(sectors=1)).sector[0, 1:].tolist() == [0, 0, 0, 0]


def test_links_on_one_antenna_take_turns_and_links_of_one_parity_carry_nothing() -> None:
    # Nodes 1 and 2 stand ahead of node 0, well apart, so that only the shared antenna of node 0 matters.
    fleet = Fleet(np.array([[0, 0], [1, 0.6], [1, -0.6]]), [0, 0, 0])
    radio = Radio(unit=1.0, theta_max=0.1)
    alone = metrics(Topology([(0, 1)], [0, 1, 1]), fleet, radio)["throughput"]
    shared = rates(Topology([(0, 1), (0, 2)], [0, 1, 1]), fleet, radio)
    assert isinstance(shared, np.ndarray)
    assert math.isclose(shared[0].sum(), alone / 2)
    same_side = metrics(Topology([(0, 1), (0, 2)], [0, 1, 0]), fleet, radio)
    assert math.isclose(same_side["throughput"], alone)
    assert same_side["parity"] == 0.5


def test_a_batch_of_rates_equals_its_members() -> None:
    rng = np.random.default_rng(4)
    batch = []
    for n in (4, 9, 6):
        fleet = Fleet(rng.normal(size=(n, 2)), rng.normal(size=n))
        batch.append((Topology([(i, i + 1) for i in range(n - 1)], np.arange(n) % 2), fleet))
    together = rates([t for t, _ in batch], [f for _, f in batch])
    for (topology, fleet), one in zip(batch, together, strict=True):
        assert np.array_equal(rates(topology, fleet), one)


def _friis(power: float, gain_dbi: float, frequency: float, metres: float) -> float:
    wavelength = 299_792_458.0 / frequency
    return power * 10 ** (2 * gain_dbi / 10) * (wavelength / (4 * math.pi * metres)) ** 2


@given(
    st.floats(4e8, 3e10),
    st.floats(1e5, 1e8),
    st.floats(0.1, 100),
    st.floats(0, 30),
    st.floats(0, 12),
    st.floats(50, 5e4),
)
def test_a_link_budget_gives_friis_in_closed_form(
    frequency: float, bandwidth: float, power: float, gain: float, noise_figure: float, metres: float
) -> None:
    radio = Radio.from_link_budget(frequency, bandwidth, power, gain, noise_figure)
    fleet = Fleet(np.array([[0, 0], [metres, 0]]), [0, 0])
    noise = 1.380649e-23 * 290 * bandwidth * 10 ** (noise_figure / 10)
    capacity = bandwidth / 1e6 * math.log2(1 + _friis(power, gain, frequency, metres) / noise)
    total = metrics(Topology([(0, 1)], [0, 1]), fleet, radio)["throughput"]
    assert math.isclose(total, 2 * capacity, rel_tol=1e-9)


@given(st.floats(0.05, 1.4), st.floats(0.05, 1.4), st.floats(0.2, 1.5), st.floats(3, 40))
def test_parabolic_interference_is_friis_with_both_beams_off_axis(
    send_angle: float, hear_angle: float, beamwidth: float, floor_db: float
) -> None:
    """Link 0-1 along x; node 2 sends to 3 and leaks onto node 1, off the axis of both beams."""
    frequency, power, gain = 2.4e9, 2.0, 12.0
    radio = Radio.from_link_budget(frequency, 1e6, power, gain, 5.0, beamwidth=beamwidth, floor_db=floor_db, range=1e6)
    # Node 1 at the origin listens to node 0 on the negative x axis; node 2 stands `hear_angle` off that direction.
    away = 3000.0
    two = away * np.array([-math.cos(hear_angle), math.sin(hear_angle)])
    towards_one = math.atan2(-two[1], -two[0])
    three = two + 1000.0 * np.array([math.cos(towards_one + send_angle), math.sin(towards_one + send_angle)])
    fleet = Fleet(np.array([[-2000.0, 0.0], [0.0, 0.0], two, three]), np.zeros(4))
    topology = Topology([(0, 1), (2, 3)], [0, 1, 0, 1])

    def off_axis(phi: float) -> float:
        return 10 ** (-min(12 * (phi / beamwidth) ** 2, floor_db) / 10)

    noise = 1.380649e-23 * 290 * 1e6 * 10**0.5
    leak = _friis(power, gain, frequency, away) * off_axis(send_angle) * off_axis(hear_angle)
    expected = math.log2(1 + _friis(power, gain, frequency, 2000.0) / (noise + leak))
    actual = rates(topology, fleet, radio)
    assert isinstance(actual, np.ndarray)
    assert math.isclose(actual[0, 0], expected, rel_tol=1e-9)


def test_half_power_beamwidth_means_half_power() -> None:
    radio = Radio(pattern="parabolic", beamwidth=0.5)
    fleet = Fleet(np.array([[0, 0], [1, 0], [math.cos(0.25), math.sin(0.25)]]), np.zeros(3))
    assert math.isclose(Placement(fleet, radio).every_gain[0, 1, 2], 10**-0.3, rel_tol=1e-12)


def test_power_control_saves_power_below_range_and_never_exceeds_full_power() -> None:
    full = Radio.from_link_budget(2.4e9, 1e6, 1.0, 10.0, 5.0, range=10_000)
    controlled = Radio.from_link_budget(2.4e9, 1e6, 1.0, 10.0, 5.0, range=10_000, alpha=0.5)
    fleet = Fleet([[0, 0], [1000, 0], [11_000, 0]], np.zeros(3))
    sent = every_pair(fleet, controlled).sent / every_pair(fleet, full).sent
    assert math.isclose(sent[0, 1], 0.1, rel_tol=1e-9)
    assert math.isclose(sent[1, 2], 1.0, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sigma2", 0.0),
        ("range", -1.0),
        ("range", 10**400),
        ("p_0", math.nan),
        ("unit", 0.0),
        ("alpha", -0.1),
        ("sectors", 0),
        ("sectors", 2.5),
        ("sectors", 65),
        ("reception", "some"),
        ("pattern", "square"),
        ("bandwidth", math.inf),
        ("beamwidth", 0.0),
        ("theta_max", "wide"),
    ],
)
def test_bad_radios_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(RadioError, match=name):
        Radio(**{name: value})  # type: ignore[arg-type]


@given(radios())
def test_a_radio_survives_its_dictionary(radio: Radio) -> None:
    assert Radio.from_dict(radio.to_dict()) == radio


def test_an_unknown_radio_parameter_is_named() -> None:
    with pytest.raises(RadioError, match="'colour'"):
        Radio.from_dict({"colour": 1})
