"""Requests to other replicas, each over a connection of its own by HTTP/1.1, and their answers as they come.

Nothing is sent twice: whether a request that broke off was served, nobody knows but its replica.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httptools

Headers = list[tuple[bytes, bytes]]

# Seconds until a replica has taken a connection, until its answer begins, and between two parts of one: event streams
# give a sign of life every 15 s.
OPEN_S, ANSWER_S, PART_S = 3.0, 60.0, 45.0
AT_ONCE = 64 * 1024


class BrokenError(Exception):
    """A replica could not be reached, or broke off."""


@dataclass
class Answer:
    """Of a request, as far as it has come."""

    status: int = 0
    headers: Headers = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)
    begun: bool = False
    whole: bool = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser, as are the others."""
        self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """The head is there."""
        self.begun = True

    def on_body(self, part: bytes) -> None:
        """Something of the body is there."""
        self.parts.append(part)

    def on_message_complete(self) -> None:
        """All of it is there."""
        self.whole = True

    @property
    def goes_on(self) -> bool:
        """Whether it is a stream, of which nobody knows how long it will be."""
        return not any(name == b"content-length" for name, _ in self.headers) and self.status != 204


class _Connection:
    """One connection, for one request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.answer = Answer()
        self._parser = httptools.HttpResponseParser(self.answer)

    async def ask(self, request: bytes) -> None:
        """Returns when the answer has begun."""
        self._writer.write(request)
        async with asyncio.timeout(ANSWER_S):
            await self._writer.drain()
            while not self.answer.begun:
                await self._read()
        self.answer.status = self._parser.get_status_code()

    async def parts(self) -> AsyncIterator[bytes]:
        """The body, part by part."""
        while True:
            for part in self.answer.parts:
                yield part
            self.answer.parts.clear()
            if self.answer.whole:
                return
            async with asyncio.timeout(PART_S):
                await self._read()

    async def _read(self) -> None:
        data = await self._reader.read(AT_ONCE)
        if not data:
            raise ConnectionError("it broke off")
        self._parser.feed_data(data)

    def close(self) -> None:
        """Let it go, and what is not sent yet with it: closing it alone would wait for a replica that reads nothing."""
        if self.answer.whole:
            self._writer.close()
        else:
            self._writer.transport.abort()


class Peers:
    """All other replicas, by their addresses, which are those that they wrote into the database themselves."""

    def __init__(self) -> None:
        self._trusted: ssl.SSLContext | None = None

    @asynccontextmanager
    async def asked(
        self, address: str, method: str, target: bytes, headers: Headers, body: bytes
    ) -> AsyncIterator[tuple[Answer, AsyncIterator[bytes]]]:
        """The head of an answer, and the parts of its body. A BrokenError where there is none, or no more of it."""
        host = urlsplit(address).netloc.encode()
        lines = [method.encode() + b" " + target + b" HTTP/1.1", b"host: " + host]
        lines += [name + b": " + value for name, value in headers]
        lines += [b"content-length: " + str(len(body)).encode(), b"connection: close", b"", b""]
        connection: _Connection | None = None
        try:
            connection = await self._opened(address)
            await connection.ask(b"\r\n".join(lines) + body)
            yield connection.answer, connection.parts()
        except (OSError, TimeoutError, httptools.HttpParserError) as error:
            raise BrokenError(str(error) or "it does not answer") from None
        finally:
            if connection is not None:
                connection.close()

    async def _opened(self, address: str) -> _Connection:
        parts = urlsplit(address)
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        async with asyncio.timeout(OPEN_S):
            context = self.trusted if secure else None
            return _Connection(*await asyncio.open_connection(parts.hostname, port, ssl=context))

    @property
    def trusted(self) -> ssl.SSLContext:
        """For TLS: certificates are checked, as by every client."""
        if self._trusted is None:
            self._trusted = ssl.create_default_context()
        return self._trusted
