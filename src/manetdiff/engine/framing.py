"""Messages between a process and the workers that it has started: pickled, behind their length."""

from __future__ import annotations

import pickle
import socket
import struct
from typing import Any

LENGTH = struct.Struct("!Q")
SECRET_BYTES = 32


def packed(message: object) -> bytes:
    """As it is sent."""
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def send(connection: socket.socket, message: object) -> None:
    """All of it."""
    send_packed(connection, packed(message))


def send_packed(connection: socket.socket, data: bytes) -> None:
    """The same of a message that is packed already."""
    connection.sendall(LENGTH.pack(len(data)))
    connection.sendall(data)


def receive(connection: socket.socket) -> Any:
    """The next message; an EOFError where the other side is gone."""
    (length,) = LENGTH.unpack(exactly(connection, LENGTH.size))
    return pickle.loads(exactly(connection, length))


def exactly(connection: socket.socket, count: int) -> bytearray:
    """So many bytes; an EOFError where fewer come."""
    data = bytearray(count)
    view, taken = memoryview(data), 0
    while taken < count:
        try:
            got = connection.recv_into(view[taken:])
        except ConnectionError:
            got = 0
        if not got:
            raise EOFError
        taken += got
    return data
