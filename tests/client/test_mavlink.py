"""MAVLink: what pymavlink encodes is sent to a UDP port and arrives as reports."""

from __future__ import annotations

import math
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pymavlink", reason="pymavlink is not installed (extra 'mavlink')")

from pymavlink.dialects.v10 import common as first_version
from pymavlink.dialects.v20 import common

from manetdiff.client import Client, ClientError
from manetdiff.client.collector import Collector
from manetdiff.client.feeding import Feed, feed_live
from manetdiff.client.mavlink import MavlinkReceiver
from support.fake_controller import FakeController

UNKNOWN = 65_535


def position(system: int, lat: float, lon: float, alt: float, hdg: int, dialect: Any = common) -> bytes:
    """A GLOBAL_POSITION_INT: degrees, metres, hundredths of a degree."""
    sender = dialect.MAVLink(None, srcSystem=system, srcComponent=1)
    places = round(lat * 1e7), round(lon * 1e7), round(alt * 1e3)
    message = dialect.MAVLink_global_position_int_message(0, *places, 0, 0, 0, 0, hdg)
    return bytes(message.pack(sender))


def attitude(system: int, yaw: float) -> bytes:
    sender = common.MAVLink(None, srcSystem=system, srcComponent=1)
    return bytes(common.MAVLink_attitude_message(0, 0.0, 0.0, yaw, 0.0, 0.0, 0.0).pack(sender))


def heartbeat(system: int) -> bytes:
    sender = common.MAVLink(None, srcSystem=system, srcComponent=1)
    return bytes(common.MAVLink_heartbeat_message(1, 3, 0, 0, 0, 3).pack(sender))


@pytest.fixture
def receiver() -> MavlinkReceiver:
    return MavlinkReceiver("udpin:127.0.0.1:0", collector=Collector(least_interval=0.0))


@pytest.fixture
def sender() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        yield one


def test_vehicles_are_heard_over_udp_and_reported(
    receiver: MavlinkReceiver, sender: socket.socket, controller: FakeController
) -> None:
    controller.add("n0", "Patrol")
    feed = Feed(Client(controller.url), "n0")

    class Sending:
        """The receiver, to which datagrams are sent as soon as it listens."""

        collector = receiver.collector
        trouble: str | None = None

        def __enter__(self) -> None:
            receiver.__enter__()
            datagrams = [
                heartbeat(1) + position(1, 48.1, 11.5, 520.25, 9000),
                b"garbage" * 20,
                attitude(2, -math.pi / 2),
                position(2, -33.9, 151.2, 30.0, UNKNOWN),
                position(3, 48.3, 11.7, -5.0, UNKNOWN, first_version),
            ]
            for datagram in datagrams:
                sender.sendto(datagram, ("127.0.0.1", receiver.port))
            for _ in range(1000):
                if receiver.collector.counts["positions"] == 3:
                    return
                time.sleep(0.01)

        def __exit__(self, *_: object) -> None:
            receiver.__exit__()

    feed_live(feed, Sending(), 0.01, reports=1)
    (report,) = controller.reports
    nodes = {node.pop("id"): node for node in report["nodes"]}
    assert nodes["uav-1"] == pytest.approx({"lat": 48.1, "lon": 11.5, "alt": 520.25, "heading": 90.0})
    assert nodes["uav-2"] == pytest.approx({"lat": -33.9, "lon": 151.2, "alt": 30.0, "heading": 270.0})
    assert nodes["uav-3"] == pytest.approx({"lat": 48.3, "lon": 11.7, "alt": -5.0})
    assert not report["complete"]
    assert report["time"] > 1_700_000_000  # of Unix time
    assert feed.progress.reports == feed.progress.versions == 1
    assert receiver.collector.counts["malformed"] >= 1


def test_the_heading_of_the_position_counts_before_that_of_the_attitude(receiver: MavlinkReceiver) -> None:
    receiver.hear(attitude(7, 1.0) + position(7, 48.0, 11.0, 100.0, 4500))
    assert receiver.collector.take()[0]["heading"] == pytest.approx(45.0)
    receiver.hear(attitude(7, float("nan")) + position(7, 48.0, 11.0, 100.0, UNKNOWN))
    assert receiver.collector.counts["malformed"] == 1


def test_a_vehicle_without_a_fix_is_not_reported(receiver: MavlinkReceiver) -> None:
    receiver.hear(position(1, 0.0, 0.0, 0.0, UNKNOWN))
    assert receiver.collector.take() == []
    assert receiver.collector.counts == {"without a fix": 1}


def test_damaged_and_cut_packets_are_counted_and_the_next_is_heard(receiver: MavlinkReceiver) -> None:
    whole = position(1, 48.0, 11.0, 100.0, 0)
    damaged = bytearray(whole)
    damaged[12] ^= 0xFF
    for datagram in (bytes(damaged), whole[:-4], b"", b"\xfd", bytes([0xFD, 255, 0, 0])):
        receiver.hear(datagram)
    assert receiver.collector.take() == []
    assert receiver.collector.counts == {"malformed": 4}
    receiver.hear(whole)
    assert len(receiver.collector.take()) == 1


def test_no_garbage_stops_it(receiver: MavlinkReceiver) -> None:
    rng = np.random.default_rng(0)
    whole = position(1, 48.0, 11.0, 100.0, 0)
    for length in rng.integers(1, 300, size=300):
        noise = bytearray(rng.bytes(int(length)))
        noise[0] = rng.choice([0xFD, 0xFE, noise[0]])
        receiver.hear(bytes(noise))
        cut = bytearray(whole)
        cut[int(rng.integers(len(cut)))] = int(rng.integers(256))
        receiver.hear(bytes(cut))
    receiver.hear(position(250, 48.0, 11.0, 100.0, 0))
    assert "uav-250" in {node["id"] for node in receiver.collector.take()}


def test_a_port_that_is_taken_is_said(sender: socket.socket) -> None:
    sender.bind(("127.0.0.1", 0))
    taken = f"127.0.0.1:{sender.getsockname()[1]}"
    with pytest.raises(ClientError, match=f"{taken}: cannot listen there"), MavlinkReceiver(taken):
        pass


def test_without_pymavlink_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymavlink", None)
    for name in [name for name in sys.modules if name.startswith("pymavlink.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ClientError, match=r"pip install 'manetdiff\[mavlink\]'"):
        MavlinkReceiver()
