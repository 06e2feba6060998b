"""Connections as a service without a proxy before it needs them: with bounds that uvicorn does not set.

A request has to begin soon, and must not be longer than what is taken: its head, its body and whatever follows that.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Bytes of a request line and its headers, and seconds in which they have to be there.
MOST_HEAD, BEGIN_S = 64 * 1024, 10.0


class Connection(HttpToolsProtocol):
    """One connection, until it is a WebSocket."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._in_head, self._taken = True, 0  # where its request is, and how many bytes of it have come
        # Twice the longest body: chunks say how long they are, each of them.
        self._most = MOST_HEAD + 2 * self.config.ws_max_size

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """As ever, but that somebody looks whether a request comes."""
        super().connection_made(transport)
        self.loop.call_later(BEGIN_S, self._look, None)

    def data_received(self, data: bytes) -> None:
        """As ever, and then look whether that was too much."""
        self._taken += len(data)
        super().data_received(data)
        if self._taken > (MOST_HEAD if self._in_head else self._most) and not self.transport.is_closing():
            if self._in_head:
                self.send_400_response("The request is too long.")
            else:
                self.transport.abort()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is whole."""
        super().on_message_complete()
        self._in_head, self._taken = True, 0

    def _look(self, seen: object) -> None:
        """Close it where no request has begun since the last look and none is being answered. seen: the last one."""
        if self.transport.is_closing() or self not in self.connections:  # or a WebSocket by now
            return
        if self.cycle is seen and (self.cycle is None or self.cycle.response_complete):
            self.transport.abort()
        else:
            self.loop.call_later(BEGIN_S, self._look, self.cycle)
