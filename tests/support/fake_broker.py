"""An MQTT 3.1.1 broker that takes whatever is published, and tells nobody."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

CONNECT, PUBLISH, PING, DISCONNECT = 1, 3, 12, 14


class Published(NamedTuple):
    topic: str
    payload: bytes
    qos: int
    retain: bool


class FakeBroker:
    """published: messages, in their order. acknowledging: whether it says that it has got them."""

    def __init__(self) -> None:
        self.published: list[Published] = []
        self.acknowledging = True
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream, suppress(OSError, IndexError, struct.error):
            while True:
                first = stream.read(1)[0]
                body = stream.read(_length(stream.read))
                if first >> 4 == CONNECT:
                    connection.sendall(b"\x20\x02\x00\x00")
                elif first >> 4 == PING:
                    connection.sendall(b"\xd0\x00")
                elif first >> 4 == DISCONNECT:
                    return
                elif first >> 4 == PUBLISH:
                    (end,) = struct.unpack(">H", body[:2])
                    topic, rest = body[2 : 2 + end].decode(), body[2 + end :]
                    self.published.append(Published(topic, rest[2:], first >> 1 & 3, bool(first & 1)))
                    if self.acknowledging:
                        connection.sendall(b"\x40\x02" + rest[:2])


def _length(read: Callable[[int], bytes]) -> int:
    """A whole number, seven bits a byte, the least first."""
    length, shift = 0, 0
    while True:
        (byte,) = read(1)
        length |= (byte & 127) << shift
        if byte < 128:
            return length
        shift += 7


@contextmanager
def fake_broker() -> Iterator[FakeBroker]:
    broker = FakeBroker()
    try:
        yield broker
    finally:
        broker.close()
