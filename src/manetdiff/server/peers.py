"""Connections to other replicas: a request over HTTP/1.1, and its answer as it comes."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httptools

Headers = list[tuple[bytes, bytes]]

# Seconds until a replica has taken a connection, until its answer begins, and between two parts of one: event streams
# give a sign of life every 15 s.
OPEN_S, ANSWER_S, PART_S = 3.0, 60.0, 45.0
# Seconds that a connection is kept without a request: less than the other side does.
KEPT_S = 3.0
MOST_KEPT = 32
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
    """One connection, for one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.idle_since = 0.0
        self.answer = Answer()
        self._parser = httptools.HttpResponseParser(self.answer)

    async def ask(self, request: bytes) -> None:
        """Returns when the answer has begun."""
        self.answer = Answer()
        self._parser = httptools.HttpResponseParser(self.answer)
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

    @property
    def can_be_kept(self) -> bool:
        """Whether another request may follow."""
        return self.answer.whole and self._parser.should_keep_alive() and not self._writer.is_closing()

    def close(self) -> None:
        """Let it go."""
        self._writer.close()


class Peers:
    """All other replicas, by their addresses, which are those that they wrote into the database themselves."""

    def __init__(self) -> None:
        self._kept: dict[str, list[_Connection]] = {}
        self._trusted: ssl.SSLContext | None = None

    @asynccontextmanager
    async def asked(
        self, address: str, method: str, target: bytes, headers: Headers, body: bytes
    ) -> AsyncIterator[tuple[Answer, AsyncIterator[bytes]]]:
        """The head of an answer, and the parts of its body. A BrokenError where there is none, or no more of it."""
        host = urlsplit(address).netloc.encode()
        lines = [method.encode() + b" " + target + b" HTTP/1.1", b"host: " + host]
        lines += [name + b": " + value for name, value in headers]
        lines += [b"content-length: " + str(len(body)).encode(), b"", b""]
        connection: _Connection | None = None
        try:
            connection = await self._begun(address, b"\r\n".join(lines) + body)
            yield connection.answer, connection.parts()
        except (OSError, TimeoutError, httptools.HttpParserError) as error:
            raise BrokenError(str(error) or "it does not answer") from None
        finally:
            if connection is not None:
                self._keep(address, connection)

    def close(self) -> None:
        """Let all connections go."""
        for connections in self._kept.values():
            for one in connections:
                one.close()
        self._kept.clear()

    async def _begun(self, address: str, request: bytes) -> _Connection:
        """A connection over which the request is being answered."""
        while (kept := self._taken(address)) is not None:
            try:
                await kept.ask(request)
                return kept
            except (ConnectionError, httptools.HttpParserError):
                kept.close()  # the other side has closed it meanwhile: no reason to give up
                if kept.answer.begun:
                    raise
            except BaseException:
                kept.close()
                raise
        fresh = await self._opened(address)
        try:
            await fresh.ask(request)
        except BaseException:
            fresh.close()
            raise
        return fresh

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

    def _taken(self, address: str) -> _Connection | None:
        kept = self._kept.get(address, [])
        while kept:
            one = kept.pop()
            if time.monotonic() - one.idle_since < KEPT_S and one.can_be_kept:
                return one
            one.close()
        return None

    def _keep(self, address: str, connection: _Connection) -> None:
        kept = self._kept.setdefault(address, [])
        if connection.can_be_kept and len(kept) < MOST_KEPT:
            connection.idle_since = time.monotonic()
            kept.append(connection)
        else:
            connection.close()
