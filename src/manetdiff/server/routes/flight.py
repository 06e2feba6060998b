"""Flights that the service flies itself."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from manetdiff.server.messages_in import ChangedFlight, NewFlight
from manetdiff.server.routes.common import AllNetworks, Network, refusals

router = APIRouter(prefix="/v1/networks/{id}/flight", tags=["flight"])


@router.put("", responses=refusals(400, 404, 413, 415, 422, 503))
async def fly(network: Network, networks: AllNetworks, plan: NewFlight) -> dict[str, Any]:
    """Draw a fleet and fly it, instead of whatever nodes were there. Positions that are posted then move its nodes."""
    networks.services.pool.check_room()
    await network.pilot.fly(plan)
    return network.described()


@router.patch("", responses=refusals(400, 404, 413, 415, 422, 503))
async def change(network: Network, changed: ChangedFlight) -> dict[str, Any]:
    """Pause, go on, another speed or rate."""
    await network.pilot.change(changed)
    return network.described()


@router.delete("", responses=refusals(404, 422, 503))
async def land(network: Network) -> dict[str, Any]:
    """End it; the fleet stays where it is."""
    await network.pilot.land()
    return network.described()
