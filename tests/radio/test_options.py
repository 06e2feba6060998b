"""Boresight, least SNR and ceiling: what they do, and that a radio without them is what it always was."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manetdiff import Fleet, Layout, Radio, Topology, metrics
from manetdiff.errors import RadioError
from manetdiff.radio import Placement, link_rates
from manetdiff.radio.rates import FloatArray
from support.pairs import every_pair, linkable
from support.strategies import fleets, radios, topologies

# Two nodes one unit apart: P = 1, and σ² alone decides the SNR.
PAIR, LINK = Fleet([[0, 0], [1, 0]], [0, 0]), Topology([(0, 1)], [0, 1])


def _rates(topology: Topology, fleet: Fleet, radio: Radio) -> FloatArray:
    return link_rates(Placement(fleet, radio), topology.links, topology.parity)


def _rate(**options: Any) -> float:
    return float(_rates(LINK, PAIR, Radio(unit=1.0, **options))[0, 0])


def test_a_ceiling_is_the_most_that_a_link_carries() -> None:
    # SNR 15 is 4 bit/s/Hz.
    assert _rate(sigma2=1 / 15) == pytest.approx(4.0, rel=1e-12)
    assert _rate(sigma2=1 / 15, ceiling=3.0) == 3.0
    assert _rate(sigma2=1 / 15, ceiling=5.0) == _rate(sigma2=1 / 15)
    assert _rate(sigma2=1e-9, ceiling=8.0, bandwidth=20e6) == 160.0


def test_a_ceiling_is_of_the_spectral_efficiency_before_links_take_turns() -> None:
    fleet = Fleet(np.array([[0, 0], [1, 0.6], [1, -0.6]]), [0, 0, 0])
    both = Topology([(0, 1), (0, 2)], [0, 1, 1])
    shared = _rates(both, fleet, Radio(unit=1.0, theta_max=0.1, sigma2=1e-6, ceiling=6.0))
    assert shared.tolist() == [[3.0, 3.0], [3.0, 3.0]]


def test_below_the_least_snr_a_direction_carries_nothing() -> None:
    # SNR 2 is 3.0103 dB.
    assert _rate(sigma2=0.5) == pytest.approx(math.log2(3), rel=1e-12)
    assert _rate(sigma2=0.5, min_snr=3.01) == _rate(sigma2=0.5)
    assert _rate(sigma2=0.5, min_snr=3.02) == 0.0


def test_interference_silences_a_direction_that_noise_alone_does_not() -> None:
    # 0 → 1 and 3 → 2 along one line: node 1 hears 3 beyond 2, over distance 4; back to back, 1 → 0 and 2 → 3, nobody.
    fleet = Fleet([[0, 0], [1, 0], [4, 0], [5, 0]], [0, 0, 0, 0])
    topology = Topology([(0, 1), (2, 3)], [0, 1, 1, 0])
    radio = Radio(unit=1.0, alpha=0.0, epsilon=0.0, sigma2=0.5, theta_max=0.1, sectors=1)
    heard, quiet = math.log2(1 + 1 / (0.5 + 1 / 16)), math.log2(3)
    assert _rates(topology, fleet, radio)[0].tolist() == pytest.approx([heard, quiet], rel=1e-12)
    silenced = dataclasses.replace(radio, min_snr=10 * math.log10(1.9))
    assert _rates(topology, fleet, silenced).ravel().tolist() == pytest.approx([0.0, quiet, quiet, 0.0], rel=1e-12)
    # The pair stays a candidate: without the other link it would carry.
    assert linkable(fleet, silenced)[0, 1]


def test_what_noise_alone_keeps_below_the_least_snr_is_no_candidate() -> None:
    fleet = Fleet([[0, 0], [1, 0], [3, 0]], [0, 0, 0])
    # At distances 1, 2 and 3 the SNR is 9, 9/4 and 1: 9.5, 3.5 and 0 dB.
    radio = Radio(unit=1.0, alpha=0.0, sigma2=1 / 9, range=10.0)
    within = {snr: linkable(fleet, dataclasses.replace(radio, min_snr=snr)) for snr in (-1, 3, 9, 10)}
    assert {snr: [bool(one[0, 1]), bool(one[1, 2]), bool(one[0, 2])] for snr, one in within.items()} == {
        -1: [True, True, True],
        3: [True, True, False],
        9: [True, False, False],
        10: [False, False, False],
    }


def test_the_boresight_turns_every_sector() -> None:
    # Node 0 heads north; the others stand ahead, to the left, behind and to the right of it.
    fleet = Fleet([[0, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], [math.pi / 2, 0, 0, 0, 0])
    assert every_pair(fleet, Radio(boresight=math.pi / 2)).sector[0, 1:].tolist() == [3, 0, 1, 2]
    assert every_pair(fleet, Radio(boresight=-math.pi / 2)).sector[0, 1:].tolist() == [1, 2, 3, 0]
    # A corner looks forward: ahead is the edge between two sectors, and just left of it is sector 0.
    left = Fleet([[0.0, 0.0], [1.0, 0.01], [1.0, -0.01]], [0, 0, 0])
    assert every_pair(left, Radio(boresight=math.pi / 4)).sector[0, 1:].tolist() == [0, 3]
    assert every_pair(left, Radio(sectors=2, boresight=math.pi / 2)).sector[0, 1:].tolist() == [0, 1]


@given(st.data(), radios(options=True), st.sampled_from([2, 3, 5, 6, 8, 12]), st.integers(-2, 2))
@settings(max_examples=100)
def test_a_boresight_of_whole_sectors_only_counts_them_otherwise(
    data: st.DataObject, radio: Radio, sectors: int, turned: int
) -> None:
    fleet = data.draw(fleets(largest=8, blocked=True))
    topology = data.draw(topologies(len(fleet)))
    before = dataclasses.replace(radio, sectors=sectors)
    boresight = math.remainder(before.boresight + turned * 2 * math.pi / sectors, 2 * math.pi)
    after = dataclasses.replace(before, boresight=boresight)
    told = [every_pair(fleet, one).sector for one in (before, after)]
    others = ~np.eye(len(fleet), dtype=bool)
    assert np.array_equal(((told[0] - turned) % sectors)[others], told[1][others])
    assert np.allclose(_rates(topology, fleet, before), _rates(topology, fleet, after), rtol=1e-12, atol=0)


@given(st.data(), radios(), st.sampled_from([2, 3, 5, 6, 8, 12]), st.floats(-3, 3))
@settings(max_examples=50)
def test_a_boresight_is_as_if_every_node_pointed_there(
    data: st.DataObject, radio: Radio, sectors: int, boresight: float
) -> None:
    fleet = data.draw(fleets(largest=8))
    topology = data.draw(topologies(len(fleet)))
    turned = dataclasses.replace(radio, sectors=sectors, boresight=boresight)
    ahead = dataclasses.replace(turned, boresight=0.0)
    assert np.array_equal(
        _rates(topology, fleet, turned), _rates(topology, fleet.replace(yaw=fleet.yaw + boresight), ahead)
    )


@given(fleets(), radios())
@settings(max_examples=50)
def test_options_that_nothing_meets_change_no_bit(fleet: Fleet, radio: Radio) -> None:
    chain = Topology([(i, i + 1) for i in range(len(fleet) - 1)], np.arange(len(fleet)) % 2)
    idle = dataclasses.replace(radio, min_snr=-200.0, ceiling=1000.0)
    assert np.array_equal(_rates(chain, fleet, radio), _rates(chain, fleet, idle))
    plain, told = Layout(fleet, radio).tables, Layout(fleet, idle).tables
    for name in plain._fields[:-1]:
        assert np.array_equal(getattr(plain, name), getattr(told, name))


def test_a_radio_without_options_is_stored_as_before_there_were_any() -> None:
    stored = Radio().to_dict()
    assert {"boresight", "min_snr", "ceiling"}.isdisjoint(stored)
    assert Radio.from_dict(stored) == Radio()
    turned = Radio(boresight=0.5, min_snr=0.0, ceiling=8.0)
    assert Radio.from_dict(json.loads(json.dumps(turned.to_dict()))) == turned
    assert Radio(min_snr=0.0).to_dict()["min_snr"] == 0.0


def test_a_link_budget_takes_the_options() -> None:
    budget: dict[str, Any] = {"frequency": 5.8e9, "bandwidth": 10e6, "power": 0.5, "gain": 12.0, "noise_figure": 5.0}
    radio = Radio.from_link_budget(**budget, boresight=0.5, ceiling=8.0)
    assert (radio.boresight, radio.min_snr, radio.ceiling) == (0.5, None, 8.0)
    # The least SNR of a budget sets the range; only a cut-off makes it the radio's own.
    assert Radio.from_link_budget(**budget, min_snr=10.0).min_snr is None
    hard = Radio.from_link_budget(**budget, min_snr=10.0, cutoff=True)
    assert hard.min_snr == 10.0
    assert hard.range == Radio.from_link_budget(**budget, min_snr=10.0).range
    for share, linked in ((0.999, True), (1.001, False)):
        apart = Fleet([[0.0, 0.0], [share * hard.range, 0.0]], [0, 0])
        assert bool(linkable(apart, dataclasses.replace(hard, range=1e9))[0, 1]) is linked
    with pytest.raises(RadioError, match="link budget: cutoff must be true or false"):
        Radio.from_link_budget(**budget, cutoff=1)  # type: ignore[arg-type]


def test_metrics_of_capped_links() -> None:
    fast = metrics(LINK, PAIR, Radio(unit=1.0, sigma2=1e-6, ceiling=8.0))
    assert fast["throughput"] == 16.0
