"""Events for viewers: server-sent, a snapshot and then what changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from manetdiff.server.errors import OverloadedError
from manetdiff.server.routes.common import AllNetworks, Network, refusals

router = APIRouter(prefix="/v1/networks/{id}", tags=["events"])

# Seconds that a viewer may leave what it was sent unread, until it is let go.
STALLED_S = 60.0


class EventStream(Response):
    """What a hub says, as long as the viewer listens. Nothing is queued: the hub is asked when all before is sent."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], status_code: int = 200) -> None:
        super().__init__(status_code=status_code, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._stream = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the viewer goes, stalls, or there is nothing more to say."""
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        for task in (sending, leaving):
            task.cancel()
        await asyncio.gather(sending, leaving, return_exceptions=True)
        close = getattr(self._stream, "aclose", None)
        if close is not None:
            await close()  # so that the viewer is counted out at once

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for event in self._stream:
            message = {"type": "http.response.body", "body": event, "more_body": True}
            await asyncio.wait_for(send(message), STALLED_S)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@router.get(
    "/events",
    response_class=EventStream,
    responses={200: {"content": {"text/event-stream": {}}}, **refusals(404, 422, 503)},
)
async def events(network: Network, networks: AllNetworks) -> EventStream:
    """A snapshot of the network, then a delta for each change; a snapshot again for viewers who have missed one."""
    if networks.viewers() >= networks.services.limits.viewers:
        raise OverloadedError("as many viewers as are taken are here already", 5.0)
    return EventStream(network.hub.events())
