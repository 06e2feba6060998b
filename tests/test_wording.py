"""Numbers as people write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.wording import distance_text, duration_text, number_text, share_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (31.0, "31"),
        (0.5333, "0.533"),
        (69.84, "69.8"),
        (6043.2, "6,043"),
        (1234567.8, "1,234,568"),
        (-2.5, "-2.5"),
        (9.996, "10"),
        (0.0000123, "0.000012"),
        (3e-9, "under 0.000001"),
        (math.inf, "inf"),
    ],
)
def test_numbers_have_their_thousands_apart_and_no_exponent(value: float, text: str) -> None:
    assert number_text(value) == text


@given(st.floats(1e-3, 1e12))
def test_what_is_written_is_the_number_to_three_digits(value: float) -> None:
    assert float(number_text(value).replace(",", "")) == pytest.approx(value, rel=0.006)


def test_shares_are_whole_only_where_that_is_exact() -> None:
    assert [share_text(share) for share in (1.0, 0.5, 0.0, 0.00001)] == ["100.0 %", "50.0 %", "0.0 %", "0.0010 %"]
    assert share_text(0.99999) == "99.9990 %"


def test_distances_are_in_kilometres_from_one_on() -> None:
    assert [distance_text(metres) for metres in (250.4, 1000.0, 12345.0, 1646335.0)] == [
        "250 m",
        "1 km",
        "12.3 km",
        "1,646 km",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (3_600, "1 h"),
        (18_601, "5 h 10 min"),
        (187_300, "2 d 4 h"),
    ],
)
def test_durations_are_in_two_units_at_most(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
