"""HTTP/1.1 in a few lines of asyncio, for scripts that send so much that the sender must cost next to nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

LONGEST_LINE = 64 * 1024 * 1024


class Answer(NamedTuple):
    """Of a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class LightConnection:
    """One kept connection, for one request at a time. It is opened when it is needed, and again where it has broken."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = str(parts.hostname), int(parts.port or 80)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> Answer:
        """The answer; an OSError where there is none."""
        reader, writer = await self._opened()
        try:
            writer.write(self._head(method, path, len(body)) + body)
            await writer.drain()
            status, headers = await _answered(reader)
            length = int(headers.get("content-length", 0))
            data = await reader.readexactly(length) if length else b""
        except (OSError, EOFError):
            self.close()
            raise ConnectionError("the service broke off") from None
        except BaseException:
            self.close()
            raise
        if headers.get("connection") == "close":
            self.close()
        return Answer(status, headers, data)

    async def lines(self, path: str) -> AsyncIterator[bytes]:
        """The lines of an answer in chunks that goes on, as an event stream does."""
        reader, writer = await self._opened()
        writer.write(self._head("GET", path, 0))
        status, _ = await _answered(reader)
        if status != 200:
            raise ConnectionError(f"answers {status}")
        left = b""
        while size := int((await reader.readuntil(b"\r\n")).strip() or b"0", 16):
            left += await reader.readexactly(size)
            await reader.readexactly(2)
            *whole, left = left.split(b"\n")
            for line in whole:
                yield line

    async def stall(self, path: str) -> None:
        """Ask for something that goes on, and read nothing of it."""
        _, writer = await self._opened()
        writer.write(self._head("GET", path, 0))
        await writer.drain()

    def close(self) -> None:
        """Let it go."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port, limit=LONGEST_LINE)
        return self._streams

    def _head(self, method: str, path: str, length: int) -> bytes:
        kind = f"Content-Type: application/json\r\nContent-Length: {length}\r\n" if length else ""
        return f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n{kind}\r\n".encode()


async def _answered(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    return int(first.split(" ")[1]), headers
