"""Events for viewers: server-sent, a snapshot and then what changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from manetdiff.server.errors import OverloadedError
from manetdiff.server.routes.common import TOKEN, AllNetworks, Network, refusals

router = APIRouter(prefix="/v1/networks/{id}", tags=["events"], dependencies=TOKEN)

# Seconds that a viewer may leave what it was sent unread, until it is let go.
STALLED_S = 60.0


class EventStream(Response):
    """What a hub says, as long as the viewer listens. Nothing is queued: the hub is asked when all before is sent."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes], status_code: int = 200) -> None:
        super().__init__(status_code=status_code, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._stream = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the viewer goes, stalls, or there is nothing more to say."""
        async with aclosing(self._stream):  # so that the viewer is counted out at once
            # Nothing was waited for since the viewers were counted: from here on this one is among them.
            first = await anext(self._stream)
            sending = asyncio.create_task(self._send(first, send))
            leaving = asyncio.create_task(_left(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                sending.cancel()
                leaving.cancel()
                outcome, _ = await asyncio.gather(sending, leaving, return_exceptions=True)
        if isinstance(outcome, Exception) and not isinstance(outcome, TimeoutError | OSError):
            raise outcome  # not of the connection: the log should say so

    async def _send(self, first: bytes, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await _send_part(send, first)
        async for event in self._stream:
            await _send_part(send, event)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_part(send: Send, event: bytes) -> None:
    message = {"type": "http.response.body", "body": event, "more_body": True}
    await asyncio.wait_for(send(message), STALLED_S)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@router.get(
    "/events",
    response_class=EventStream,
    responses={200: {"content": {"text/event-stream": {}}}, **refusals(404, 422)},
)
async def events(network: Network, networks: AllNetworks) -> EventStream:
    """A snapshot of the network, then a delta for each change; a snapshot again for viewers who have missed one."""
    if networks.viewers() >= networks.services.limits.viewers:
        raise OverloadedError("as many viewers as are taken are here already", 5.0)
    return EventStream(network.hub.events())
