"""Flights that the service flies itself."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from manetdiff.server.messages_in import ChangedFlight, NewFlight
from manetdiff.server.routes.answers import Described, answers
from manetdiff.server.routes.common import BODY, TOKEN, AllNetworks, Network, refusals

router = APIRouter(prefix="/v1/networks/{id}/flight", tags=["flight"], dependencies=TOKEN)


@router.put("", responses=answers(Described) | refusals(*BODY, 404))
async def fly(network: Network, networks: AllNetworks, plan: NewFlight) -> dict[str, Any]:
    """Draw a fleet and fly it, instead of whatever nodes were there. Positions that are posted then move its nodes."""
    networks.services.pool.check_room()
    await network.pilot.fly(plan)
    return network.described()


@router.patch("", responses=answers(Described) | refusals(*BODY, 404))
async def change(network: Network, changed: ChangedFlight) -> dict[str, Any]:
    """Pause, go on, another speed or rate."""
    await network.pilot.change(changed)
    return network.described()


@router.delete("", responses=answers(Described) | refusals(404, 422))
async def land(network: Network) -> dict[str, Any]:
    """End it; the fleet stays where it is."""
    await network.pilot.land()
    return network.described()
