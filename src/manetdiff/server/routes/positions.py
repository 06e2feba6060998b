"""Positions in: a report a request, or a report a frame of a WebSocket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Query, Response, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from manetdiff.errors import ManetDiffError
from manetdiff.json_settings import parsed_json
from manetdiff.server.errors import LaterError, OverloadedError, RefusedError, UnknownError
from manetdiff.server.live_network import LiveNetwork
from manetdiff.server.messages_in import ChangedNetwork, Pins, Positions
from manetdiff.server.refusing import answer_to, status_of, told
from manetdiff.server.routes.answers import Reported, Taken, answers
from manetdiff.server.routes.common import BODY, TOKEN, Network, owned_by, refusals
from manetdiff.server.routes.networks import change

LOG = structlog.get_logger()

router = APIRouter(prefix="/v1", tags=["positions"])

# Of a WebSocket's close: too many senders, or a network that has moved; and a network that is not there.
TRY_LATER, NOT_FOUND = 1013, 4404
LATER_S = 5.0


@router.post(
    "/networks/{id}/positions",
    responses=answers(Reported) | answers(Taken, 202) | refusals(*BODY, 404, 409, 429),
    dependencies=TOKEN,
)
async def report(
    network: Network,
    positions: Positions,
    response: Response,
    wait: Annotated[bool, Query(description="False: answer 202 at once, before the version is made.")] = True,
) -> dict[str, Any]:
    """Where nodes are now. The answer is the version that it has led to, which is on disk by then.

    A report may hold some of the nodes. Of each node the newest report counts; older ones are counted and dropped. With
    `wait=false` nothing is promised but that the report was taken: its version is announced by the events.
    """
    answer = await network.report(positions, wait=wait)
    response.status_code = 200 if wait else 202
    return answer


@router.websocket("/networks/{id}/ingest")
async def ingest(socket: WebSocket, id: str) -> None:
    """Frames of `{"positions": {…}}`, `{"pins": {…}}` or `{"settings": {…}}`, each answered in the order they came.

    An entry `ref` comes back in the answer.
    """
    senders = socket.app.state.senders
    try:
        await owned_by(socket, id)
        if not senders.enter():
            raise OverloadedError("as many senders as are taken are here already", LATER_S)
    except RefusedError as error:
        await _turn_away(socket, error)
        return
    try:
        await socket.accept()
        while (message := await socket.receive())["type"] != "websocket.disconnect":
            network = await owned_by(socket, id)  # each time anew: it may have been deleted since, or moved
            await socket.send_text(json.dumps(await _answered(network, message)))
    except UnknownError as error:
        await socket.close(NOT_FOUND, str(error))
    except LaterError as error:  # another replica runs it now
        await socket.close(TRY_LATER, str(error))
    except WebSocketDisconnect:
        pass
    finally:
        senders.leave()


async def _turn_away(socket: WebSocket, error: RefusedError) -> None:
    """Before it is a WebSocket: as an answer of HTTP, where the server can."""
    if "websocket.http.response" in socket.scope.get("extensions", {}):
        await socket.send_denial_response(answer_to(error))
    else:
        await socket.close(NOT_FOUND if isinstance(error, UnknownError) else TRY_LATER, str(error))


async def _answered(network: LiveNetwork, message: Mapping[str, Any]) -> dict[str, Any]:
    ref: dict[str, Any] = {}
    try:
        frame = _object(message.get("text"))
        if isinstance(frame.get("ref"), str | int):
            ref = {"ref": frame["ref"]}
        return {**ref, **await _obeyed(network, {name: value for name, value in frame.items() if name != "ref"})}
    except ManetDiffError as error:
        return {**ref, "error": str(error), "status": status_of(error)}
    except Exception as error:
        LOG.error("frame failed", network=network.row.id, exc_info=error)
        return {**ref, "error": "something went wrong here; the service's log says what", "status": 500}


async def _obeyed(network: LiveNetwork, frame: dict[str, Any]) -> dict[str, Any]:
    match frame:
        case {"positions": given, **rest} if not rest:
            return await _reported(network, given)
        case {"nodes": _}:  # just what would be posted
            return await _reported(network, frame)
        case {"pins": given, **rest} if not rest:
            await network.pin(_checked(Pins, given))
            return network.described()
        case {"settings": _, **rest} if not rest:
            return await change(network, _checked(ChangedNetwork, frame))
    raise RefusedError("a frame holds one of positions, pins and settings, and perhaps a ref")


async def _reported(network: LiveNetwork, given: object) -> dict[str, Any]:
    wait = True
    if isinstance(given, dict) and "wait" in given:
        given = dict(given)
        wait = given.pop("wait")
        if not isinstance(wait, bool):
            raise RefusedError("wait: must be true or false")
    return await network.report(_checked(Positions, given), wait=wait)


def _object(text: str | None) -> dict[str, Any]:
    if text is None:
        raise RefusedError("a frame is text that is JSON, not bytes")
    try:
        frame = parsed_json(text)
    except ValueError as error:
        raise RefusedError(f"the frame {error}") from None
    if not isinstance(frame, dict):
        raise RefusedError("a frame is a JSON object {…}")
    return frame


def _checked(kind: Any, given: object) -> Any:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise RefusedError(told(error.errors())) from None
