"""Extreme numbers: within the bounds everything that follows is finite, outside of them it is refused by name."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff import Fleet, Layout, Radio, Topology, metrics
from manetdiff.errors import FleetError, RadioError
from manetdiff.radio.bounds import LINK_BUDGET, MOST_NODES, OPTIONAL, RADIO, WIDTH

BUDGET: dict[str, Any] = {"frequency": 5.8e9, "bandwidth": 10e6, "power": 0.5, "gain": 12.0, "noise_figure": 5.0}
# Five nodes, one unit wide, two of them as close as any may be.
PLACES = np.array([[0.0, 0.0], [1.0, 0.3], [0.4, 0.9], [0.4 + 2e-9, 0.9], [0.7, 0.1]])
CHAIN = Topology([(0, 1), (1, 2), (2, 3), (3, 4)], [0, 1, 0, 1, 0])


@given(
    numbers=st.fixed_dictionaries({name: st.sampled_from(ends) for name, ends in RADIO.items()}),
    kind=st.sampled_from([("cone", "sectored"), ("parabolic", "sectored"), ("parabolic", "omni")]),
    width=st.sampled_from([0.999 * WIDTH[1], 1.0, 1.001 * WIDTH[0]]),
)
@pytest.mark.filterwarnings("error::RuntimeWarning")  # numpy's word for overflow
def test_at_the_bounds_of_every_number_all_that_follows_is_finite(
    numbers: dict[str, Any], kind: tuple[Any, Any], width: float
) -> None:
    radio = Radio(**numbers, pattern=kind[0], reception=kind[1])
    layout = Layout(Fleet(PLACES * width * numbers["unit"], np.zeros(5)), radio)
    tables, place, features = layout.tables, layout.placement, layout.features
    computed = (*place.every_pair, place.every_gain, tables.floats, tables.fan_fade, tables.gain, tables.constants)
    for array in (*computed, features.node, features.pair):
        assert np.isfinite(array).all()
    assert all(math.isfinite(value) for value in metrics(CHAIN, layout).values())


@given(
    numbers=st.fixed_dictionaries({name: st.sampled_from(ends) for name, ends in LINK_BUDGET.items()}),
    alpha=st.sampled_from([0.0, 0.5, RADIO["alpha"][1]]),
    reach=st.sampled_from(RADIO["range"]),
)
def test_a_link_budget_at_its_bounds_is_a_radio_within_them(
    numbers: dict[str, Any], alpha: float, reach: float
) -> None:
    assert Radio.from_link_budget(**numbers, alpha=alpha, range=reach).range == reach


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, low / 1.01 if low > 0 else -1e-9 - 1.01 * abs(low)) for name, (low, _) in RADIO.items()),
        *((name, high * 1.01) for name, (_, high) in RADIO.items()),
        ("unit", 1e300),
        ("unit", 5e-324),
        ("sigma2", 1e-300),
        ("p_0", 10**400),
        *((name, None) for name in RADIO if name not in OPTIONAL),
    ],
)
def test_a_radio_outside_its_bounds_is_refused_by_name(name: str, value: float | None) -> None:
    with pytest.raises(RadioError, match=rf"^radio: {name} must be a number from .* to .*, not "):
        Radio(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, low - 0.01 * abs(low)) for name, (low, _) in LINK_BUDGET.items()),
        *((name, high * 1.01) for name, (_, high) in LINK_BUDGET.items()),
        ("gain", 3100),
        ("noise_figure", -4000),
        ("gain", 10**400),
        ("losses", math.nan),
        ("power", "much"),
        *((name, None) for name in LINK_BUDGET),
    ],
)
def test_a_link_budget_outside_its_bounds_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(RadioError, match=rf"^link budget: {name} must be a number from "):
        Radio.from_link_budget(**{**BUDGET, name: value})


def test_what_follows_from_numbers_within_their_bounds_is_bounded_too() -> None:
    with pytest.raises(RadioError, match="the range that follows from it must be a number from 1e-12 to 1e"):
        Radio.from_link_budget(**{**BUDGET, "gain": 100, "power": 1e15}, min_snr=-200)
    with pytest.raises(RadioError, match=r"beamwidth \(by default twice theta_max\) must be"):
        Radio(pattern="parabolic", theta_max=0.0)


@pytest.mark.parametrize("unit", [1e-9, 1e12])
def test_a_fleet_that_is_nothing_or_everything_in_the_radios_unit_is_refused(unit: float) -> None:
    wide = Fleet(PLACES * (1e4 if unit < 1 else 0.5), np.zeros(5))
    with pytest.raises(RadioError, match="cannot be measured in units of"):
        _ = Layout(wide, Radio(unit=unit)).tables


def test_a_fleet_whose_tables_would_fill_the_memory_is_refused() -> None:
    crowd = Layout(Fleet(np.arange(2.0 * (MOST_NODES + 1)).reshape(-1, 2), np.zeros(MOST_NODES + 1)))
    with pytest.raises(FleetError, match="up to 1024 nodes, not 1025"):
        _ = crowd.tables


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        (1.1e100, "too far apart"),
        (1e308, "too far apart"),
        (0.9e-100, "too close together"),
        (5e-324, "too close together"),
    ],
)
def test_a_fleet_at_the_ends_of_float64_is_refused(scale: float, words: str) -> None:
    with pytest.raises(FleetError, match=words):
        Fleet(scale * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.zeros(3))


def test_a_throughput_that_is_no_number_is_never_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    scoring = importlib.import_module("manetdiff.topology.metrics")  # whose name in its room is the function's
    fleet = Fleet([[0, 0], [1, 0]], [0, 0])
    topology = Topology([(0, 1)], [0, 1])
    assert metrics(topology, fleet, Radio(range=3))["valid"] == 1
    for wrong in (math.inf, math.nan):
        monkeypatch.setattr(scoring, "link_rates", lambda *_, value=wrong: np.array([[value, 1.0]]))
        assert metrics(topology, fleet, Radio(range=3))["valid"] == 0
