"""Networks: made, listed, changed, deleted; their pins; and what there is to choose from."""

from __future__ import annotations

import dataclasses
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from manetdiff import __version__
from manetdiff.errors import FormatError
from manetdiff.formats.radio_file import radio_in
from manetdiff.radio import Radio
from manetdiff.runtime.presets import PRESETS
from manetdiff.scenarios import FAMILIES, motions_of
from manetdiff.server.errors import RefusedError
from manetdiff.server.messages_in import ChangedNetwork, NewNetwork, Pins, Settings
from manetdiff.server.radios import RADIOS
from manetdiff.server.refusing import told
from manetdiff.server.routes.answers import Described, Listed, answers
from manetdiff.server.routes.common import BODY, TOKEN, AllNetworks, AnyNetwork, Network, refusals
from manetdiff.server.store import NetworkRow

router = APIRouter(prefix="/v1", tags=["networks"], dependencies=TOKEN)


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


@router.post("/networks", status_code=201, responses=answers(Described, 201) | refusals(*BODY, 409))
async def create(new: NewNetwork, networks: AllNetworks, request: Request, response: Response) -> dict[str, Any]:
    """A new network, without any nodes yet."""
    radio = networks.services.model.radio if new.radio is None else _radio(new.radio)
    network = await networks.add(new.name, radio, new.settings, new.pins)
    response.headers["Location"] = str(request.url_for("read", id=network.row.id).path)
    return network.described()


@router.get("/networks", responses=answers(Listed) | refusals())
async def list_all(networks: AllNetworks) -> dict[str, Any]:
    """All networks, the oldest first."""
    return {"networks": [network.described() for network in await networks.listed()]}


@router.get("/networks/{id}", responses=answers(Described) | refusals(404, 422))
async def read(network: AnyNetwork) -> dict[str, Any]:
    """One network: its settings, and where it stands."""
    return network.described()


@router.patch("/networks/{id}", responses=answers(Described) | refusals(*BODY, 404))
async def change(network: Network, changed: ChangedNetwork) -> dict[str, Any]:
    """Another name or radio, or other settings. Under another radio links are reconsidered at once."""
    radio = None if changed.radio is None else _radio(changed.radio)

    def applied(row: NetworkRow) -> NetworkRow:
        try:
            settings = Settings.model_validate({**row.settings.model_dump(), **(changed.settings or {})})
        except ValidationError as error:
            raise RefusedError(told([{**one, "loc": ("settings", *one["loc"])} for one in error.errors()])) from None
        name = row.name if changed.name is None else changed.name
        return dataclasses.replace(row, name=name, radio=row.radio if radio is None else radio, settings=settings)

    await network.change(applied)
    return network.described()


@router.delete("/networks/{id}", status_code=204, responses=refusals(404, 422))
async def delete(network: Network, networks: AllNetworks) -> None:
    """The network is no more, nor is its history."""
    await networks.remove(network)


@router.put("/networks/{id}/pins", responses=answers(Described) | refusals(*BODY, 404))
async def pin(network: Network, pins: Pins) -> dict[str, Any]:
    """Links that must be there, pairs that must not be linked, nodes that stay silent, instead of those of before.

    The topology keeps to them at once; pins that no topology can keep to are refused.
    """
    await network.pin(pins)
    return network.described()


@router.delete("/networks/{id}/pins", responses=answers(Described) | refusals(404, 422))
async def unpin(network: Network) -> dict[str, Any]:
    """No pins."""
    await network.pin(Pins())
    return network.described()


def _radio(values: dict[str, Any]) -> Radio:
    try:
        return radio_in("radio", values)
    except FormatError as error:  # some of a radio's refusals name it themselves
        raise RefusedError(str(error).replace("radio: radio: ", "radio: ", 1)) from None
