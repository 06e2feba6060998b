"""Real senders: MAVLink packets, a stream of BaseStation lines and a BonnMotion file, through `manetdiff feed`.

An hour of flight each, at 60 times its speed, all into one service. Is every node where it was last said to be, and
does anything grow?
"""

from __future__ import annotations

import math
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from manetdiff.client import Client
from manetdiff.client.client import nodes_of
from manetdiff.fleet import Fleet, LocalFrame
from manetdiff.scenarios import draw, move
from served import free_port, served
from service_trials.section import Section

SPEED, STEP_S = 60.0, 10.0  # of flight a second; seconds of flight from one moment to the next
HERE = LocalFrame(47.0, 8.0)
FEET = 0.3048
MAVLINK, AIRCRAFT, REPLAYED = "MAVLink, 8 vehicles", "SBS, 24 aircraft", "BonnMotion, 12 nodes"
HEADER = (
    "from",
    "sent",
    "versions",
    "nodes",
    "lag at the end, s of flight",
    "refused",
    "feed's memory, MB",
    "its files",
)

Moments = Sequence[Sequence[dict[str, Any]]]


@dataclass
class Growth:
    """Memory (MB), open files and threads of a process, as they were seen one after the other."""

    process: psutil.Process
    memory: list[float] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)

    def look(self) -> None:
        """Once more."""
        with self.process.oneshot():
            self.memory.append(self.process.memory_info().rss / 2**20)
            self.files.append(self.process.num_fds())
            self.threads.append(self.process.num_threads())


def sender_trial(seconds: float, folder: Path) -> list[Section]:
    """seconds: of flight, for each."""
    vehicles, aircraft = _moments(8, seconds, 1, "uav-{}"), _moments(24, seconds, 2, "3c64{:02x}")
    fleets = _path(12, seconds, 3)
    (folder / "hour.movements").write_text(_bonnmotion(fleets), encoding="utf-8")
    udp, tcp = free_port(), free_port()
    lines = _Lines(tcp, aircraft)
    with served(folder) as server, Client(server.url) as client, lines, ExitStack() as at_the_end:
        to = ("--to", server.url, "--create", "--network")
        feeds = {
            MAVLINK: _feed("mavlink", "--listen", f"127.0.0.1:{udp}", "--every", "0.5", *to, MAVLINK),
            AIRCRAFT: _feed("sbs", f"127.0.0.1:{tcp}", "--every", "0.5", *to, AIRCRAFT),
            REPLAYED: _feed(
                *("replay", str(folder / "hour.movements"), "--speed", f"{SPEED:g}", "--step", f"{STEP_S:g}"),
                *(*to, REPLAYED),
            ),
        }
        for feed in feeds.values():
            at_the_end.callback(feed.kill)  # whatever becomes of the trial
        packets = _Packets(udp, vehicles)
        for sender in (packets, lines):
            sender.start()
        growth = {name: Growth(psutil.Process(feed.pid)) for name, feed in feeds.items()}
        service = Growth(psutil.Process(server.process.pid))
        time.sleep(min(10.0, 0.2 * seconds / SPEED))  # what is loaded once is not growth
        while packets.is_alive() or lines.is_alive() or feeds[REPLAYED].poll() is None:
            for one in (service, *(growth[name] for name, feed in feeds.items() if feed.poll() is None)):
                one.look()
            time.sleep(min(5.0, 0.1 * seconds / SPEED))
        time.sleep(2.0)  # for the last report
        lasts = {MAVLINK: vehicles, AIRCRAFT: aircraft, REPLAYED: [nodes_of(fleet) for fleet in fleets]}
        rows = []
        for name, moments in lasts.items():
            network = client.named(name)
            lag = _lag(client.topology(network["id"]).on().fleet, moments)
            seen = growth[name]
            rows.append(
                [
                    *(name, f"{len(moments):,} moments", f"{network['version']:,}", f"{network['nodes']}", f"{lag:g}"),
                    *(str(_refused(feeds[name])), f"{seen.memory[0]:.1f} to {seen.memory[-1]:.1f}"),
                    f"{seen.files[0]} to {seen.files[-1]}",
                ]
            )
    about = (
        f"{seconds / 60:g} minutes of flight at {SPEED:g} times their speed, all at once. Of the service, memory went "
        f"from {service.memory[0]:.1f} to {service.memory[-1]:.1f} MB, open files from {service.files[0]} to "
        f"{service.files[-1]}, threads from {service.threads[0]} to {service.threads[-1]}."
    )
    return [Section("Real senders", about, HEADER, rows)]


def _path(nodes: int, seconds: float, seed: int) -> list[Fleet]:
    rng = np.random.default_rng(seed)
    return move(draw("wedge", nodes, rng), "gauss-markov", rng, duration=seconds, step=STEP_S)


def _moments(nodes: int, seconds: float, seed: int, name: str) -> Moments:
    """A flight over a place on earth, in degrees and metres."""
    moments = []
    for fleet in _path(nodes, seconds, seed):
        heights = 1000.0 + 10.0 * np.arange(nodes)
        ids = [name.format(k + 1) for k in range(nodes)]
        moments.append(nodes_of(Fleet(np.column_stack([fleet.horizontal, heights]), fleet.yaw, ids, HERE)))
    return moments


def _bonnmotion(fleets: list[Fleet]) -> str:
    """A line a node of `t x y`, from where x and y are positive."""
    places = np.array([fleet.horizontal for fleet in fleets])
    places -= places.min(axis=(0, 1))
    times = STEP_S * np.arange(len(fleets))
    rows = [
        " ".join(f"{t:.1f} {x:.3f} {y:.3f}" for t, (x, y) in zip(times, way, strict=True))
        for way in places.swapaxes(0, 1)
    ]
    return "\n".join(rows) + "\n"


def _lag(fleet: Fleet, moments: Moments) -> float:
    """Seconds of flight by which the fleet is behind the last moment: which moment its nodes are nearest to."""
    shape = {name: fleet.horizontal[place] for place, name in enumerate(fleet.ids)}

    def distance(moment: Sequence[dict[str, Any]]) -> float:
        if "lat" in moment[0]:
            degrees = np.array([(node["lat"], node["lon"]) for node in moment])
            assert fleet.frame is not None
            places = fleet.frame.to_xy(degrees[:, 0], degrees[:, 1])
        else:
            places = np.array([(node["x"], node["y"]) for node in moment])
        there = np.array([shape.get(node["id"], (math.inf, math.inf)) for node in moment])
        if "lat" not in moment[0]:  # the file begins where x and y are positive
            there, places = there - there.mean(axis=0), places - places.mean(axis=0)
        return float(np.abs(there - places).max())

    nearest = min(range(len(moments)), key=lambda place: distance(moments[place]))
    return STEP_S * (len(moments) - 1 - nearest)


def _feed(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "manetdiff", "feed", *arguments]

    def hear_interrupts() -> None:  # where the trial runs in the background, they are ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=hear_interrupts)


def _refused(feed: subprocess.Popen[str]) -> int:
    """What the feed says at its end."""
    if feed.poll() is None:
        feed.send_signal(signal.SIGINT)
    out, _ = feed.communicate(timeout=20)
    rows = dict(line.rsplit(maxsplit=1) for line in out.splitlines() if line.strip())
    return int(rows.get("refused", -1))


class _Paced(threading.Thread):
    """Sends one moment after the other, by the clock."""

    def __init__(self, moments: Moments, send: Callable[[Sequence[dict[str, Any]]], None]) -> None:
        super().__init__(daemon=True)
        self._moments, self._send_one = moments, send

    def run(self) -> None:
        began = time.monotonic()
        for place, moment in enumerate(self._moments):
            time.sleep(max(0.0, began + place * STEP_S / SPEED - time.monotonic()))
            self._send_one(moment)


class _Packets(_Paced):
    """Vehicles that speak MAVLink."""

    def __init__(self, port: int, moments: Moments) -> None:
        from pymavlink.dialects.v20 import common

        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._port_of_feed = ("127.0.0.1", port)
        self._common = common
        self._systems = [common.MAVLink(None, srcSystem=k + 1, srcComponent=1) for k in range(len(moments[0]))]
        super().__init__(moments, self._send)

    def _send(self, moment: Sequence[dict[str, Any]]) -> None:
        for system, node in zip(self._systems, moment, strict=True):
            places = round(node["lat"] * 1e7), round(node["lon"] * 1e7), round(node["alt"] * 1e3)
            course = round(100 * node["heading"]) % 36000
            for message in (
                self._common.MAVLink_attitude_message(0, 0.0, 0.0, math.radians(node["heading"]), 0.0, 0.0, 0.0),
                self._common.MAVLink_global_position_int_message(0, *places, 0, 0, 0, 0, course),
            ):
                self._socket.sendto(message.pack(system), self._port_of_feed)


class _Lines(_Paced):
    """A receiver of ADS-B, to which a feed connects."""

    def __init__(self, port: int, moments: Moments) -> None:
        self._listening = socket.create_server(("127.0.0.1", port))
        self._taken: socket.socket | None = None
        super().__init__(moments, self._send)

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        if self._taken is not None:
            self._taken.close()

    def run(self) -> None:
        self._taken, _ = self._listening.accept()
        super().run()

    def _send(self, moment: Sequence[dict[str, Any]]) -> None:
        lines = []
        for node in moment:
            velocity = {12: "450", 13: f"{node['heading']:.1f}"}
            place = {11: f"{node['alt'] / FEET:.0f}", 14: f"{node['lat']:.7f}", 15: f"{node['lon']:.7f}"}
            for kind, told in (("4", velocity), ("3", place)):
                cells = {0: "MSG", 1: kind, 2: "1", 3: "1", 4: node["id"].upper(), 5: "1", 21: "0", **told}
                lines.append(",".join(cells.get(column, "") for column in range(22)))
        assert self._taken is not None
        self._taken.sendall("".join(f"{line}\r\n" for line in lines).encode())
