"""ADS-B as receivers such as dump1090 and readsb send it over TCP: a BaseStation (SBS-1) line a message.

    MSG,3,1,1,3C6444,1,2026/01/01,00:00:00.000,2026/01/01,00:00:00.000,,10000,,,48.10000,11.50000,,,0,0,0,0

A position (MSG,3) has the altitude in feet; a velocity (MSG,4) has the track, in degrees clockwise from north, which
stands for the heading.
"""

from __future__ import annotations

import re
import socket

from manetdiff.client.address import host_and_port
from manetdiff.client.collector import Collector
from manetdiff.client.listening import LOOK_S, ListeningThread
from manetdiff.files import reason
from manetdiff.formats.columns import FOOT_M
from manetdiff.formats.record import number_in

LONGEST_LINE = 512  # bytes; a message has some 120
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
CONNECT_S = 10.0
LARGEST_READ = 65_536
# Which message of an aircraft it is, and where in it things stand.
POSITION, VELOCITY = "3", "4"
KIND, AIRCRAFT, ALTITUDE, TRACK, LATITUDE, LONGITUDE, ON_GROUND = 1, 4, 11, 13, 14, 15, 21
FIELDS = 22
# What else receivers send: selections, new aircraft, ids, states, clicks.
OTHERS = frozenset({"SEL", "AIR", "ID", "STA", "CLK"})
# An address of the aircraft; ~ is before those that are not of the ICAO.
ADDRESS = re.compile(r"~?[0-9A-Fa-f]{6}")


class SbsReceiver(ListeningThread):
    """Hears aircraft from a receiver, and connects again when it is gone.

    - address: host and port, 30003 with most receivers.

    Ids are the aircraft's addresses in lower case. Aircraft on the ground are left out, and lines that are not
    BaseStation lines; both are counted.
    """

    def __init__(self, address: str, collector: Collector | None = None) -> None:
        super().__init__(collector)
        self.host, self.port = host_and_port(address, "HOST:PORT", 30003)

    def open(self) -> None:
        """Nothing: a receiver that is not there yet is waited for."""

    def listen(self) -> None:
        """Hear lines; after a connection that failed wait ever longer, and connect again."""
        wait = FIRST_WAIT_S
        while not self.ending.is_set():
            try:
                with socket.create_connection((self.host, self.port), timeout=CONNECT_S) as connection:
                    connection.settimeout(LOOK_S)
                    if self._hear_from(connection):
                        wait = FIRST_WAIT_S
                self.trouble = f"{self.host}:{self.port}: has ended the connection"
            except OSError as error:
                self.trouble = f"{self.host}:{self.port}: cannot be reached: {reason(error)}"
            if self.ending.wait(wait):
                return
            wait = min(2 * wait, LONGEST_WAIT_S)

    def close(self) -> None:
        """Nothing: the thread closes its connection itself."""

    def hear(self, line: bytes) -> None:
        """Take what a line says."""
        fields = line.decode("ascii", "replace").strip().split(",")
        if fields == [""] or fields[0] in OTHERS:
            return
        if fields[0] == "MSG" and fields[KIND:][:1] not in ([POSITION], [VELOCITY]):
            return
        if fields[0] != "MSG" or len(fields) < FIELDS or not ADDRESS.fullmatch(fields[AIRCRAFT].strip()):
            self.collector.count("malformed")
            return
        id = fields[AIRCRAFT].strip().lower()
        if fields[KIND] == VELOCITY:
            self._turn(id, fields)
        elif fields[ON_GROUND].strip() in ("1", "-1"):
            self.collector.count("on the ground")
        else:
            self._place(id, fields)

    def _place(self, id: str, fields: list[str]) -> None:
        latitude, longitude, feet = (number_in(fields[place]) for place in (LATITUDE, LONGITUDE, ALTITUDE))
        if latitude is None or longitude is None:
            # Receivers send positions that they could not work out yet, with nothing in their place.
            empty = not (fields[LATITUDE].strip() or fields[LONGITUDE].strip())
            self.collector.count("without a fix" if empty else "malformed")
            return
        self.collector.place(id, latitude, longitude, None if feet is None else feet * FOOT_M)

    def _turn(self, id: str, fields: list[str]) -> None:
        track = number_in(fields[TRACK])
        if track is not None:
            self.collector.turn(id, track)
        elif fields[TRACK].strip():
            self.collector.count("malformed")

    def _hear_from(self, connection: socket.socket) -> bool:
        """Hear lines until the connection ends. Whether anything came."""
        rest, too_long, came = b"", False, False
        while not self.ending.is_set():
            try:
                data = connection.recv(LARGEST_READ)
            except TimeoutError:
                continue
            if not data:
                break
            came, self.trouble = True, None
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if too_long or len(line) > LONGEST_LINE:
                    self.collector.count("malformed")
                    too_long = False
                    continue
                self.hear(line)
            if len(rest) > LONGEST_LINE:
                rest, too_long = b"", True
        return came
