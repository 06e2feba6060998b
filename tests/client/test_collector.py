"""Positions of many vehicles, collected."""

from __future__ import annotations

import math
import threading

import pytest

from manetdiff.client.collector import FORGOTTEN_S, HEADING_KEPT_S, Collector


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_report_has_the_latest_of_those_heard_since_the_last(clock: Clock) -> None:
    collector = Collector(clock=clock)
    collector.place("A", 48.0, 11.0, 500.0)
    collector.turn("A", 370.0)
    collector.place("B", 48.1, 11.1, 600.0)
    clock.now += 1
    collector.place("A", 48.01, 11.0, 510.0)
    assert collector.take() == [
        {"id": "A", "lat": 48.01, "lon": 11.0, "alt": 510.0, "heading": 10.0},
        {"id": "B", "lat": 48.1, "lon": 11.1, "alt": 600.0},
    ]
    assert collector.take() == []
    collector.turn("A", 20.0)
    assert collector.take() == []  # to turn is no news of where it is
    clock.now += 1
    collector.place("A", 48.02, 11.0)
    assert collector.take() == [{"id": "A", "lat": 48.02, "lon": 11.0, "alt": 510.0, "heading": 20.0}]


def test_an_old_heading_is_left_out(clock: Clock) -> None:
    collector = Collector(clock=clock)
    collector.turn("A", 20.0)
    clock.now += HEADING_KEPT_S + 1
    collector.place("A", 48.0, 11.0, 500.0)
    assert "heading" not in collector.take()[0]


def test_who_has_no_altitude_waits_for_it(clock: Clock) -> None:
    collector = Collector(clock=clock)
    collector.place("A", 48.0, 11.0)
    assert collector.take() == []
    clock.now += 1
    collector.place("A", 48.0, 11.0, 500.0)
    assert [node["id"] for node in collector.take()] == ["A"]


def test_one_that_reports_too_often_is_slowed_down_and_others_are_not(clock: Clock) -> None:
    collector = Collector(least_interval=0.5, clock=clock)
    for _ in range(100):
        clock.now += 0.01
        collector.place("A", 48.0, 11.0, 500.0)
    assert collector.place("B", 48.0, 11.1, 500.0)
    assert (collector.counts["positions"], collector.counts["too often"]) == (3, 98)


def test_there_is_an_end_to_how_many_there_are(clock: Clock) -> None:
    collector = Collector(most=2, clock=clock)
    assert [collector.place(id, 48.0, 11.0, 0.0) for id in "ABC"] == [True, True, False]
    assert not collector.turn("C", 0.0)
    assert collector.counts["too many vehicles"] == 1
    clock.now += FORGOTTEN_S + 1
    assert collector.place("C", 48.0, 11.0, 0.0)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ((91.0, 0.0, 0.0), "malformed"),
        ((math.nan, 0.0, 0.0), "malformed"),
        ((0.0, 181.0, 0.0), "malformed"),
        ((1.0, 1.0, math.inf), "malformed"),
        ((0.0, 0.0, 100.0), "without a fix"),
    ],
)
def test_what_is_no_place_on_earth_is_counted(place: tuple[float, float, float], why: str) -> None:
    collector = Collector()
    assert not collector.place("A", *place)
    assert collector.counts == {why: 1}
    assert collector.take() == []


def test_nothing_is_lost_between_the_one_who_hears_and_the_one_who_takes() -> None:
    collector = Collector(least_interval=0.0)
    heard = threading.Thread(target=lambda: [collector.place(str(i % 50), 1.0 + i, 1.0, 0.0) for i in range(80)])
    heard.start()
    latest: dict[str, float] = {}
    while heard.is_alive():
        latest |= {node["id"]: node["lat"] for node in collector.take()}
    latest |= {node["id"]: node["lat"] for node in collector.take()}
    assert latest == {str(i % 50): 1.0 + i for i in range(80)}
