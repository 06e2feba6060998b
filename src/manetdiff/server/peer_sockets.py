"""A sender's WebSocket joined to the one of the replica that runs its network: frame by frame, both ways."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

import websockets
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from websockets.asyncio.client import ClientConnection, connect

from manetdiff.server.peers import OPEN_S, Peers

# Of a close: come again; and codes that stand for the want of one, and cannot be sent.
TRY_LATER, UNSAID = 1013, (1005, 1006, 1015)
LARGEST = 64 * 1024 * 1024


class _Connect(connect):
    """To the replica that is named, and to nobody that it names: where others answer, the token has no business."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """None is followed."""
        return exc


async def joined(
    scope: Scope,
    receive: Receive,
    send: Send,
    address: str,
    headers: Mapping[str, str],
    peers: Peers,
    begun: Callable[[], None],
) -> bool:
    """Whether it was joined, and ended as one of both sides wanted. begun: called once the sender is let in."""
    to = urlsplit(address)
    uri = f"{'wss' if to.scheme == 'https' else 'ws'}://{to.netloc}" + scope["raw_path"].decode("ascii")
    try:
        other = await _Connect(
            uri,
            additional_headers=headers,
            compression=None,
            proxy=None,
            open_timeout=OPEN_S,
            max_size=LARGEST,
            user_agent_header=None,
            ssl=peers.trusted if uri.startswith("wss") else None,
        )
    except websockets.InvalidStatus as refusal:
        if refusal.response.status_code < 400:  # which no replica says
            return False
        begun()
        await _refuse(scope, receive, send, refusal.response)
        return True
    except (OSError, TimeoutError, websockets.WebSocketException):
        return False
    try:
        begun()
        await receive()  # that it wants to connect
        await send({"type": "websocket.accept"})
        return await _both_ways(receive, send, other)
    finally:
        await other.close()


async def turned_away(send: Send) -> None:
    """Close it: its sender may come again."""
    await send({"type": "websocket.close", "code": TRY_LATER, "reason": "the network's replica is gone: come again"})


async def _both_ways(receive: Receive, send: Send, other: ClientConnection) -> bool:
    there, back = asyncio.create_task(_there(receive, other)), asyncio.create_task(_back(other, send))
    try:
        await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        if there.done() and not there.exception():
            return True  # the sender has left
        code, reason = other.close_code, other.close_reason
        if code is None or code in UNSAID:
            return False
        await send({"type": "websocket.close", "code": code, "reason": reason or ""})
        return True
    finally:
        there.cancel()
        back.cancel()
        await asyncio.gather(there, back, return_exceptions=True)


async def _there(receive: Receive, other: ClientConnection) -> None:
    while (message := await receive())["type"] != "websocket.disconnect":
        frame = message.get("text")
        await other.send(message["bytes"] if frame is None else frame)


async def _back(other: ClientConnection, send: Send) -> None:
    async for frame in other:
        message = {"text": frame} if isinstance(frame, str) else {"bytes": frame}
        await send({"type": "websocket.send", **message})


async def _refuse(scope: Scope, receive: Receive, send: Send, answer: websockets.Response) -> None:
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": TRY_LATER, "reason": ""})
        return
    kept = {name: answer.headers[name] for name in ("content-type", "retry-after") if name in answer.headers}
    await Response(bytes(answer.body), answer.status_code, kept)(scope, receive, send)
