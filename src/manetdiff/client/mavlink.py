"""MAVLink over UDP: where vehicles are, by their GLOBAL_POSITION_INT and ATTITUDE messages.

MAVLink does not say who sends: whoever can reach the port can move any vehicle. So it listens on this machine alone
unless another address is asked for.
"""

from __future__ import annotations

import math
import socket
from types import ModuleType
from typing import Any

from manetdiff.client.address import host_and_port
from manetdiff.client.collector import Collector
from manetdiff.client.errors import ClientError
from manetdiff.client.listening import LOOK_S, ListeningThread
from manetdiff.files import reason

LISTEN = "127.0.0.1:14550"
PREFIX = "uav-"
# What ground stations and autopilots call such an address.
SCHEME = "udpin:"
LARGEST_DATAGRAM = 65_535
# Degrees are sent as whole numbers of 1e-7, altitudes as millimetres, headings as hundredths of a degree.
DEGREES, METRES, HEADING = 1e-7, 1e-3, 1e-2
FULL_TURN = 36_000  # beyond it there is only 65,535, which says that the heading is not known


class MavlinkReceiver(ListeningThread):
    """Hears vehicles on a UDP port, any number of them in one stream.

    - listen_at: host and port. prefix: a vehicle's id is this and the number of its MAVLink system.

    The heading is that of the position message, or where it says none, the yaw of the vehicle's attitude; or none.
    Packets that are not MAVLink, or are damaged, are counted and left out.
    """

    def __init__(self, listen_at: str = LISTEN, prefix: str = PREFIX, collector: Collector | None = None) -> None:
        super().__init__(collector)
        self.host, self.port = host_and_port(listen_at.removeprefix(SCHEME), "--listen")
        self.prefix = prefix
        self._dialect = _dialect()
        self._yaw: dict[int, float] = {}  # of each system the latest, in degrees clockwise from north
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Take the port; with port 0, one that is free, which `port` then says."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.settimeout(LOOK_S)
        try:
            self._socket.bind((self.host, self.port))
        except OSError as error:
            self._socket.close()
            raise ClientError(f"{self.host}:{self.port}: cannot listen there: {reason(error)}") from None
        self.port = self._socket.getsockname()[1]

    def listen(self) -> None:
        """Hear datagrams."""
        assert self._socket is not None
        while not self.ending.is_set():
            try:
                datagram = self._socket.recv(LARGEST_DATAGRAM)
            except TimeoutError:
                continue
            except OSError as error:  # the network is down, perhaps not for long
                self.trouble = f"{self.host}:{self.port}: {reason(error)}"
                self.ending.wait(LOOK_S)
                continue
            self.trouble = None
            self.hear(datagram)

    def close(self) -> None:
        """Give the port back."""
        if self._socket is not None:
            self._socket.close()

    def hear(self, datagram: bytes) -> None:
        """Take what the messages in a datagram say."""
        # Each by itself: half a message at the end of one is not completed by the next, which may be of somebody else.
        parser = self._dialect.MAVLink(None)
        parser.robust_parsing = True
        try:
            messages = parser.parse_buffer(datagram) or []
        except Exception:  # whatever garbage does to it, the next datagram is to be heard
            self.collector.count("malformed")
            return
        for message in messages:
            kind = message.get_type()
            if kind == "GLOBAL_POSITION_INT":
                self._place(message)
            elif kind == "ATTITUDE":
                self._attitude(message)
            elif kind == "BAD_DATA":
                self.collector.count("malformed")
        if parser.buf_len():
            self.collector.count("malformed")  # the end is missing

    def _place(self, message: Any) -> None:
        system = message.get_srcSystem()
        id = f"{self.prefix}{system}"
        degrees = message.lat * DEGREES, message.lon * DEGREES
        if not self.collector.place(id, *degrees, message.alt * METRES):
            return
        heading = message.hdg * HEADING if message.hdg <= FULL_TURN else self._yaw.get(system)
        if heading is not None:
            self.collector.turn(id, heading)

    def _attitude(self, message: Any) -> None:
        if not math.isfinite(message.yaw):
            self.collector.count("malformed")
            return
        self._yaw[message.get_srcSystem()] = math.degrees(message.yaw) % 360.0


def _dialect() -> ModuleType:
    try:
        from pymavlink.dialects.v20 import common
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "pymavlink":
            raise
        raise ClientError("MAVLink needs the package pymavlink: pip install 'manetdiff[mavlink]'") from None
    dialect: ModuleType = common
    return dialect
