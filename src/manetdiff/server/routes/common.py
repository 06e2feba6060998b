"""What several routes have in common: the network that is asked about, numbers of versions, and documented refusals."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, WebSocket
from pydantic import BaseModel

from manetdiff.server.live_network import LiveNetwork
from manetdiff.server.networks import Networks


class Problem(BaseModel):
    """A refusal."""

    detail: str


def networks_of(request: Request) -> Networks:
    """Of the service."""
    networks: Networks = request.app.state.networks
    return networks


AllNetworks = Annotated[Networks, Depends(networks_of)]
NetworkId = Annotated[str, Path(min_length=1, max_length=64, description="As POST /v1/networks gave it.")]


def _found(id: NetworkId, networks: AllNetworks) -> LiveNetwork:
    return networks.find(id)


def found_by(socket: WebSocket, id: str) -> LiveNetwork:
    """The network of a WebSocket."""
    networks: Networks = socket.app.state.networks
    return networks.find(id)


Network = Annotated[LiveNetwork, Depends(_found)]
VersionNumber = Annotated[int | None, Query(alias="version", ge=1, le=2**31 - 1, description="By default the latest.")]


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For OpenAPI: these, and those that any call can meet."""
    every = {401: "No token, or a wrong one.", 403: "A page of another origin.", 421: "An unknown host name."}
    said = {
        400: "Not a request that can be read.",
        404: "There is no such network or version.",
        409: "It does not fit what is there.",
        413: "The body is too long.",
        415: "The body is not JSON.",
        422: "Something in it is wrong; the detail says what.",
        429: "Too often; Retry-After says when.",
        503: "Not now; Retry-After says when.",
    }
    chosen = {**every, **{status: said[status] for status in statuses}}
    return {status: {"model": Problem, "description": told} for status, told in sorted(chosen.items())}
