"""A mobility file, flown again."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.client import Client, ClientError
from manetdiff.client.feeding import Feed
from manetdiff.client.replay import paced, replay
from manetdiff.fleet import Track, Tracks
from manetdiff.formats import read_tracks
from support.fake_controller import FakeController

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


class Time:
    """A clock that goes on only while somebody waits, or works."""

    def __init__(self) -> None:
        self.now = 50.0

    def clock(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        return False


def test_moments_come_at_their_time() -> None:
    time = Time()
    came = [(due, time.now - 50.0) for due in paced([3.0, 5.0, 7.0], 2.0, 4.0, False, time.clock, time.wait)]
    assert [due for due, _ in came] == [(0, 0.0, 0), (1, 2.0, 0), (2, 4.0, 0)]
    assert [at for _, at in came] == pytest.approx([0.0, 0.5, 1.0], abs=2e-3)


@given(st.lists(st.floats(0.0, 9.0), min_size=1, max_size=30), st.floats(0.1, 100.0), st.integers(1, 9), st.booleans())
def test_who_is_late_leaves_out_and_is_never_behind_by_more_than_a_step(
    works: list[float], speed: float, count: int, loop: bool
) -> None:
    time, step = Time(), 2.0
    moments = [10.0 + step * place for place in range(count)]
    began, last, done = time.now, -1, 0
    due_moments = paced(moments, step, speed, loop, time.clock, time.wait)
    for due, work in zip(due_moments, works, strict=False):
        flown = (time.now - began) * speed
        assert due.passed <= flown + 1e-6
        if loop or due.place < count - 1:
            assert flown - due.passed < step + 2e-3 * speed  # the shortest wait is a millisecond
        number = round(due.passed / step)
        assert (number, due.place) == (last + 1 + due.skipped, number % count)
        last, done = number, done + 1
        time.now += work
    if not loop and done < len(works):
        assert last == count - 1  # the last of all is not left out


def test_a_file_is_reported_whole_and_to_its_end(controller: FakeController) -> None:
    controller.add("n0", "Patrol")
    feed = Feed(Client(controller.url), "n0")
    tracks = read_tracks(EXAMPLES / "patrol.movements")
    shown: list[int] = []
    replay(feed, tracks, speed=120.0, step=10.0, show=lambda progress: shown.append(progress.reports))
    reports = controller.reports
    assert len(reports) + feed.progress.skipped == 7
    assert all(report["complete"] and len(report["nodes"]) == 6 for report in reports)
    assert (reports[0]["time"], reports[-1]["time"]) == (0.0, 60.0)
    first = reports[-1]["nodes"][0]
    assert (first["id"], first["x"], first["y"]) == ("0", 1200.0, 200.0)
    assert shown == [*range(1, len(reports) + 1)]


def test_aircraft_are_reported_in_degrees_with_their_altitude(controller: FakeController) -> None:
    controller.add("n0", "Airspace")
    replay(Feed(Client(controller.url), "n0"), read_tracks(EXAMPLES / "flights.csv"), 1000.0, 60.0, reports=1)
    node = controller.reports[0]["nodes"][0]
    assert (node["id"], node["alt"]) == ("3c6444", pytest.approx(3048.0))
    assert [node["lat"], node["lon"], node["heading"]] == pytest.approx([48.1, 11.5, 90.0], abs=1e-6)


def test_times_go_on_from_what_the_network_has_seen_and_from_lap_to_lap(controller: FakeController) -> None:
    controller.add("n0", "Patrol", time=1000.0)
    tracks = read_tracks(EXAMPLES / "patrol.movements")
    replay(Feed(Client(controller.url), "n0"), tracks, 3000.0, 20.0, loop=True, reports=6)
    times = [report["time"] for report in controller.reports]
    assert times[0] == 1020.0
    assert all(later > earlier for earlier, later in itertools.pairwise(times))
    for report in controller.reports:  # a lap is 60 s and a step
        flown = (report["time"] - 1020.0) % 80.0
        assert report["nodes"][0]["x"] == pytest.approx(20.0 * flown)


def test_it_stops_when_told(controller: FakeController) -> None:
    controller.add("n0", "Patrol")
    stop = threading.Event()
    feed = Feed(Client(controller.url), "n0")
    tracks = read_tracks(EXAMPLES / "patrol.movements")
    replay(feed, tracks, 1e-3, 1.0, loop=True, stop=stop, show=lambda _: stop.set())
    assert feed.progress.reports == 1


def track(id: str, times: list[float], places: list[list[float]]) -> Track:
    return Track(id, np.array(times), np.array(places))


def test_moments_without_a_fleet_are_skipped(controller: FakeController) -> None:
    controller.add("n0", "Patrol")
    apart = Tracks((track("a", [0, 9], [[0, 0], [9, 0]]), track("b", [5, 9], [[0, 5], [9, 5]])), longest_gap=20.0)
    feed = Feed(Client(controller.url), "n0")
    replay(feed, apart, 100.0, 1.0)
    assert {report["time"] >= 5.0 for report in controller.reports} == {True}
    alone = Tracks((track("a", [0, 1], [[0, 0], [9, 0]]), track("b", [5, 6], [[0, 5], [9, 5]])), longest_gap=2.0)
    with pytest.raises(ClientError, match=r"nothing to report: at .* fewer than two nodes"):
        replay(Feed(Client(controller.url), "n0"), alone, 1000.0, 1.0)


def test_a_report_that_is_refused_does_not_end_it_but_a_network_that_is_gone_does(controller: FakeController) -> None:
    network = controller.add("n0", "Patrol")
    tracks = read_tracks(EXAMPLES / "patrol.movements")
    feed = Feed(Client(controller.url), "n0")
    controller.answers.extend([(200, {}, network), (422, {}, {"detail": "not like this"})])
    told: list[str | None] = []
    replay(feed, tracks, 60.0, 30.0, show=lambda progress: told.append(progress.trouble), reports=1)
    assert told[0] is not None
    assert "not like this" in told[0]
    assert (feed.progress.refused, feed.progress.reports, told[-1]) == (1, 1, None)
    controller.answers.extend([(200, {}, network), (404, {}, {"detail": "it is gone"})])
    with pytest.raises(ClientError, match="it is gone"):
        replay(feed, tracks, 60.0)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("inf"), float("nan")])
def test_a_speed_that_is_none_is_refused(controller: FakeController, speed: float) -> None:
    with pytest.raises(ClientError, match="speed must be a finite number above 0"):
        replay(Feed(Client(controller.url), "n0"), read_tracks(EXAMPLES / "patrol.movements"), speed)
