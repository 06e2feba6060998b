"""Networks: made, listed, changed, deleted; their pins; and what there is to choose from."""

from __future__ import annotations

import dataclasses
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from manetdiff import __version__
from manetdiff.formats.radio_file import radio_in
from manetdiff.radio import Radio
from manetdiff.runtime.presets import PRESETS
from manetdiff.scenarios import FAMILIES, motions_of
from manetdiff.server.errors import RefusedError
from manetdiff.server.messages_in import ChangedNetwork, NewNetwork, Pins, Settings
from manetdiff.server.radios import RADIOS
from manetdiff.server.refusing import told
from manetdiff.server.routes.common import AllNetworks, Network, refusals

router = APIRouter(prefix="/v1", tags=["networks"])


@router.get("/choices", responses=refusals())
async def choices(networks: AllNetworks) -> dict[str, Any]:
    """What there is to choose from: scenarios, presets, radios; and the limits of this service."""
    return {
        "version": __version__,
        "families": {family: list(motions_of(family)) for family in FAMILIES},
        "presets": list(PRESETS),
        "radios": [{"name": name, "title": title, "radio": radio.to_dict()} for name, (title, radio) in RADIOS.items()],
        "limits": dataclasses.asdict(networks.services.limits),
        "demo": networks.demo,
    }


@router.post("/networks", status_code=201, responses=refusals(400, 409, 413, 415, 422, 503))
async def create(new: NewNetwork, networks: AllNetworks, request: Request, response: Response) -> dict[str, Any]:
    """A new network, without any nodes yet."""
    radio = networks.services.model.radio if new.radio is None else _radio(new.radio)
    network = await networks.add(new.name, radio, new.settings, new.pins)
    response.headers["Location"] = str(request.url_for("read", id=network.row.id).path)
    return network.described()


@router.get("/networks", responses=refusals())
async def list_all(networks: AllNetworks) -> dict[str, Any]:
    """All networks, the oldest first."""
    return {"networks": [network.described() for network in networks.all()]}


@router.get("/networks/{id}", responses=refusals(404, 422))
async def read(network: Network) -> dict[str, Any]:
    """One network: its settings, and where it stands."""
    return network.described()


@router.patch("/networks/{id}", responses=refusals(400, 404, 413, 415, 422, 503))
async def change(network: Network, changed: ChangedNetwork) -> dict[str, Any]:
    """Another name or radio, or other settings. Under another radio links are reconsidered at once."""
    row = network.row
    if changed.name is not None:
        row = dataclasses.replace(row, name=changed.name)
    if changed.radio is not None:
        row = dataclasses.replace(row, radio=_radio(changed.radio))
    if changed.settings is not None:
        try:
            settings = Settings.model_validate({**row.settings.model_dump(), **changed.settings})
        except ValidationError as error:
            raise RefusedError(f"settings: {told(error.errors())}") from None
        row = dataclasses.replace(row, settings=settings)
    await network.change(row)
    return network.described()


@router.delete("/networks/{id}", status_code=204, responses=refusals(404, 422, 503))
async def delete(network: Network, networks: AllNetworks) -> None:
    """The network is no more, nor is its history."""
    await networks.remove(network.row.id)


@router.put("/networks/{id}/pins", responses=refusals(400, 404, 413, 415, 422, 503))
async def pin(network: Network, pins: Pins) -> dict[str, Any]:
    """Links that must be there, pairs that must not be linked, nodes that stay silent, instead of those of before.

    The topology keeps to them at once; pins that no topology can keep to are refused.
    """
    await network.pin(pins)
    return network.described()


@router.delete("/networks/{id}/pins", responses=refusals(404, 422, 503))
async def unpin(network: Network) -> dict[str, Any]:
    """No pins."""
    await network.pin(Pins())
    return network.described()


def _radio(values: dict[str, Any]) -> Radio:
    return radio_in("radio", values)
