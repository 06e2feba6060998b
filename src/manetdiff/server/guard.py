"""What stands before every request: who may ask, how much may be sent, and what a browser may do with the answer."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manetdiff.server.config import Config

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]
# What any name and any load may ask: orchestrators ask by address, and must not take a busy service for a dead one.
HEALTH = ("/healthz", "/readyz")
# What needs no token: whether the service is alive, the page itself, and how to call it.
OPEN = (*HEALTH, "/openapi.json", "/")
OPEN_FOLDER = "/page/"
JSON = "application/json"
# Requests that are answered at a time, beside those of viewers and senders, and when to come again where it is more.
AT_ONCE, LATER_S = 400, 2
# Seconds in which a body has to be there: who sends a byte now and then would hold a request for ever.
BODY_S = 30.0


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app, self._config = app, config
        self._token = None if config.token is None else _digest(f"Bearer {config.token}")
        self._most = AT_ONCE + config.limits.viewers + config.limits.senders
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is refused, hand on the rest."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, receive, _with_headers(send), *refusal)
            return
        if scope["type"] == "http":
            receive = _bounded(receive, self._config.limits.body)
        self._under_way += 1
        try:
            await self._app(scope, receive, _with_headers(send))
        finally:
            self._under_way -= 1

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        path = scope["path"]
        if path in HEALTH:
            return None
        if not self._knows(headers.get("host", "")):
            return 421, "the service is not reached under this name: see --allow-host"
        origin = headers.get("origin")
        if origin is not None and not _same_origin(origin, headers.get("host", "")):
            return 403, "pages of other origins are not served"
        if not (path in OPEN or path.startswith(OPEN_FOLDER) or self._trusts(headers.get("authorization", ""))):
            return 401, "say who you are: Authorization: Bearer TOKEN"
        if self._under_way >= self._most:
            return 503, f"{self._most} requests are being answered, which is as many as are taken"
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH"):
            return self._refused_body(headers)
        return None

    def _trusts(self, said: str) -> bool:
        # Digests, which are equally long: how long the comparison takes does not even say how long the token is.
        return self._token is None or hmac.compare_digest(_digest(said), self._token)

    def _refused_body(self, headers: Headers) -> tuple[int, str] | None:
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 15:
            return 400, "Content-Length is no number"
        empty = int(length) == 0 and "transfer-encoding" not in headers
        if not empty and headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            return 415, f"bodies are JSON: Content-Type: {JSON}"
        if int(length) > self._config.limits.body:
            return 413, f"the body is longer than {self._config.limits.body:,} bytes"
        return None

    def _knows(self, host: str) -> bool:
        name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
        names = self._config.names
        return name.lower() in names or (self._config.behind_proxy and not self._config.hosts)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _same_origin(origin: str, host: str) -> bool:
    return origin.partition("://")[2] == host


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    await JSONResponse({"detail": why}, status, headers=ALSO_SAID.get(status))(scope, receive, send)


ALSO_SAID = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": str(LATER_S)}}
# A connection whose body was not read to its end is of no more use.
LAST = {"Connection": "close"}


def _bounded(receive: Receive, most: int) -> Receive:
    """The same, but that a body that goes on and on is cut off, whatever length it claimed."""
    taken, whole = 0, False
    until = asyncio.get_running_loop().time() + BODY_S

    async def bounded() -> Message:
        nonlocal taken, whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"the body was not there after {BODY_S:g} s", LAST) from None
        if message["type"] == "http.request":
            taken, whole = taken + len(message.get("body", b"")), not message.get("more_body", False)
            if taken > most:
                raise HTTPException(413, f"the body is longer than {most:,} bytes", LAST)
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            given: Iterable[Any] = message.get("headers", [])
            message = {**message, "headers": [*given, *HEADERS]}
        await send(message)

    return sending
