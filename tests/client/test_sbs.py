"""ADS-B: a TCP server sends BaseStation lines, which arrive as reports."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from manetdiff.client import Client, sbs
from manetdiff.client.collector import Collector
from manetdiff.client.feeding import Feed, feed_live
from manetdiff.client.sbs import LONGEST_LINE, SbsReceiver
from support.fake_controller import FakeController


def message(kind: int, aircraft: str = "3C6444", **fields: object) -> str:
    """A line, with what is not given left empty."""
    cells = ["MSG", str(kind), "1", "1", aircraft, "1", *[""] * 16]
    places = {"callsign": 10, "altitude": 11, "speed": 12, "track": 13, "lat": 14, "lon": 15, "ground": 21}
    for name, value in fields.items():
        cells[places[name]] = str(value)
    return ",".join(cells)


@pytest.fixture
def receiver() -> SbsReceiver:
    return SbsReceiver("127.0.0.1:30003", Collector(least_interval=0.0))


def heard(receiver: SbsReceiver, *lines: str | bytes) -> list[dict[str, object]]:
    for line in lines:
        receiver.hear(line if isinstance(line, bytes) else line.encode())
    return receiver.collector.take()


def test_positions_are_in_metres_and_point_where_they_go(receiver: SbsReceiver) -> None:
    got = heard(
        receiver,
        message(1, callsign="DLH123"),
        message(4, speed=450, track=271.5),
        message(3, altitude=10000, lat=48.1, lon=11.5, ground=0),
        message(3, "~4ca2d6", altitude=-100, lat=-33.9, lon=-70.5),
    )
    assert got == [
        {"id": "3c6444", "lat": 48.1, "lon": 11.5, "alt": pytest.approx(3048.0), "heading": 271.5},
        {"id": "~4ca2d6", "lat": -33.9, "lon": -70.5, "alt": pytest.approx(-30.48)},
    ]
    assert receiver.collector.counts == {"positions": 2}


def test_aircraft_on_the_ground_and_without_a_position_are_left_out(receiver: SbsReceiver) -> None:
    got = heard(
        receiver,
        message(3, altitude=100, lat=48.1, lon=11.5, ground=-1),
        message(3, altitude=100, lat=48.1, lon=11.5, ground=1),
        message(3, altitude=100),
    )
    assert got == []
    assert receiver.collector.counts == {"on the ground": 2, "without a fix": 1}


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        b"\xff\xfe\x00",
        "MSG,3",
        message(3, "XYZ", altitude=1, lat=1, lon=1),
        message(3, lat="north", lon=1),
        message(3, altitude=1, lat=95, lon=1),
        message(3, altitude=1, lat="nan", lon=1),
        message(4, track="west"),
        message(4, track="inf"),
    ],
)
def test_bad_lines_are_counted_and_the_next_is_heard(receiver: SbsReceiver, line: str | bytes) -> None:
    assert heard(receiver, line) == []
    assert receiver.collector.counts == {"malformed": 1}
    assert len(heard(receiver, message(3, altitude=1, lat=1, lon=1))) == 1


@pytest.mark.parametrize("line", ["", "\r", "STA,,1,1,3C6444,1,,,,,RM", "AIR,,1,1,3C6444", message(8), message(4)])
def test_lines_that_say_nothing_of_places_are_no_mistake(receiver: SbsReceiver, line: str) -> None:
    assert heard(receiver, line) == []
    assert not receiver.collector.counts


Talk = Callable[[socket.socket], None]


class Station:
    """A receiver that says one thing to the first that connects, another to the second, and so on."""

    def __init__(self, *talks: Talk) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, args=(talks,), daemon=True)
        self._thread.start()

    def _serve(self, talks: tuple[Talk, ...]) -> None:
        for talk in talks:
            connection, _ = self._listening.accept()
            with connection:
                talk(connection)

    def close(self) -> None:
        self._thread.join(10)
        self._listening.close()


@pytest.fixture
def open_stations() -> Iterator[list[Station]]:
    stations: list[Station] = []
    yield stations
    for station in stations:
        station.close()


def test_aircraft_are_heard_over_tcp_again_after_it_broke_and_reported(
    controller: FakeController, open_stations: list[Station], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sbs, "FIRST_WAIT_S", 0.01)
    controller.add("n0", "Airspace")
    reported = threading.Event()

    def in_pieces(connection: socket.socket) -> None:
        line = message(3, "aaaaaa", altitude=1000, lat=48.1, lon=11.5).encode()
        connection.sendall(b"x" * (2 * LONGEST_LINE))  # a line without an end
        connection.sendall(b"x\n" + line[:20])
        connection.sendall(line[20:] + b"\r\nMSG,3,cut o")

    def later(connection: socket.socket) -> None:
        connection.sendall(message(3, "bbbbbb", altitude=2000, lat=48.2, lon=11.6).encode() + b"\n")
        reported.wait(20)

    station = Station(in_pieces, later)
    open_stations.append(station)
    receiver = SbsReceiver(station.address)
    feed = Feed(Client(controller.url), "n0")
    stop = threading.Event()
    seen: set[str] = set()

    def show(_: object) -> None:
        seen.update(node["id"] for report in controller.reports for node in report["nodes"])
        if seen == {"aaaaaa", "bbbbbb"}:
            stop.set()

    feed_live(feed, receiver, 0.02, stop=stop, show=show, reports=50)
    reported.set()
    assert seen == {"aaaaaa", "bbbbbb"}
    assert receiver.collector.counts["malformed"] == 1


def test_a_receiver_that_is_not_there_is_said_and_waited_for(controller: FakeController) -> None:
    controller.add("n0", "Airspace")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    feed, stop = Feed(Client(controller.url), "n0"), threading.Event()
    told: list[str | None] = []

    def show(progress: object) -> None:
        told.append(feed.progress.trouble)
        if told[-1] or len(told) > 500:
            stop.set()

    feed_live(feed, SbsReceiver(address), 0.02, stop=stop, show=show)
    assert told[-1] is not None
    assert "cannot be reached" in told[-1]
    assert controller.reports == []
