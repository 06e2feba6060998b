"""What several routes have in common: the network that is asked about, numbers of versions, and documented refusals."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Security, WebSocket
from fastapi.security import HTTPBearer
from pydantic import BaseModel

from manetdiff.server.live_network import LiveNetwork
from manetdiff.server.networks import Networks
from manetdiff.server.stored_network import StoredNetwork


class Problem(BaseModel):
    """A refusal."""

    detail: str


def networks_of(request: Request) -> Networks:
    """Of the service."""
    networks: Networks = request.app.state.networks
    return networks


AllNetworks = Annotated[Networks, Depends(networks_of)]
NetworkId = Annotated[str, Path(min_length=1, max_length=64, description="As POST /v1/networks gave it.")]


async def _owned(id: NetworkId, networks: AllNetworks) -> LiveNetwork:
    return await networks.owned(id)


async def _shown(id: NetworkId, networks: AllNetworks) -> LiveNetwork | StoredNetwork:
    return await networks.shown(id)


async def owned_by(socket: WebSocket, id: str) -> LiveNetwork:
    """The network of a WebSocket."""
    networks: Networks = socket.app.state.networks
    return await networks.owned(id)


# To be changed, by the replica that runs it; and to be looked at, by any.
Network = Annotated[LiveNetwork, Depends(_owned)]
AnyNetwork = Annotated[LiveNetwork | StoredNetwork, Depends(_shown)]
VersionNumber = Annotated[int | None, Query(alias="version", ge=1, le=2**31 - 1, description="By default the latest.")]


# For OpenAPI: where a token is asked for. The guard has checked it before any route is called.
TOKEN = [Security(HTTPBearer(auto_error=False, description="Of the service's --token-file, where it has one."))]

REFUSALS = {
    400: "Not a request that can be read.",
    401: "No token, or a wrong one.",
    403: "A page of another origin.",
    404: "There is no such network or version.",
    408: "The body did not come in time.",
    409: "It does not fit what is there.",
    413: "The body is too long.",
    415: "The body is not JSON.",
    421: "An unknown host name.",
    422: "Something in it is wrong; the detail says what.",
    429: "Too often; Retry-After says when.",
    503: "Not now; Retry-After says when.",
}
# Those that any call can meet, and those of a body.
EVERY, BODY = (401, 403, 421, 503), (400, 408, 413, 415, 422)


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For OpenAPI: these, and those that any call can meet."""
    return {status: {"model": Problem, "description": REFUSALS[status]} for status in sorted({*EVERY, *statuses})}
