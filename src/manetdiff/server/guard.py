"""What stands before every request: who may ask, how much may be sent, and what a browser may do with the answer."""

from __future__ import annotations

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
# What needs no token: whether the service is alive, the page itself, and how to call it.
OPEN = ("/healthz", "/readyz", "/openapi.json", "/")
OPEN_FOLDER = "/page/"
JSON = "application/json"


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app, self._config = app, config
        self._token = None if config.token is None else config.token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is refused, hand on the rest."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive, self._config.limits.body), _with_headers(send))

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        if not self._knows(headers.get("host", "")):
            return 421, "the service is not reached under this name: see --allow-host"
        origin = headers.get("origin")
        if origin is not None and not _same_origin(origin, headers.get("host", "")):
            return 403, "pages of other origins are not served"
        path = scope["path"]
        if self._token is not None and not (path in OPEN or path.startswith(OPEN_FOLDER)):
            said = headers.get("authorization", "")
            if not hmac.compare_digest(said.encode(), b"Bearer " + self._token):
                return 401, "say who you are: Authorization: Bearer TOKEN"
        if scope["type"] == "http" and scope["method"] in ("POST", "PUT", "PATCH"):
            return self._refused_body(headers)
        return None

    def _refused_body(self, headers: Headers) -> tuple[int, str] | None:
        if headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            return 415, f"bodies are JSON: Content-Type: {JSON}"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 15:
            return 400, "Content-Length is no number"
        if int(length) > self._config.limits.body:
            return 413, f"the body is longer than {self._config.limits.body:,} bytes"
        return None

    def _knows(self, host: str) -> bool:
        name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
        names = self._config.names
        return name.lower() in names or (self._config.behind_proxy and not self._config.hosts)


def _same_origin(origin: str, host: str) -> bool:
    return origin.partition("://")[2] == host


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    answer = JSONResponse({"detail": why}, status, headers=_challenge(status))
    if scope["type"] == "websocket":
        if "websocket.http.response" in scope.get("extensions", {}):
            await answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008, "reason": why})
        return
    await answer(scope, receive, _with_headers(send))


def _challenge(status: int) -> dict[str, str]:
    return {"WWW-Authenticate": "Bearer"} if status == 401 else {}


class TooLongError(HTTPException):
    """A body that went on beyond its limit."""

    def __init__(self) -> None:
        super().__init__(413, "the body is too long", {"Connection": "close"})


def _bounded(receive: Receive, most: int) -> Receive:
    """The same, but that a body that goes on and on is cut off, whatever length it claimed."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > most:
                raise TooLongError
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given: Iterable[Any] = message.get("headers", [])
            message = {**message, "headers": [*given, *HEADERS]}
        await send(message)

    return sending
