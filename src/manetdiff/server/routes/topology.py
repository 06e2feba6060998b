"""Topologies out: as NetJSON, as the page shows them, their history, the way from one to the next, and why."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse, Response

from manetdiff.flights import explain, transition
from manetdiff.flights.schedule import link_events
from manetdiff.server.denoising import denoising_of
from manetdiff.server.errors import ConflictError
from manetdiff.server.live_network import LiveNetwork
from manetdiff.server.routes.answers import Columns, Denoised, Explained, Graph, History, State, answers
from manetdiff.server.routes.common import TOKEN, AllNetworks, AnyNetwork, VersionNumber, refusals
from manetdiff.server.states import date_text, graph_of, state_of
from manetdiff.server.versions import Version
from manetdiff.topology import Topology

router = APIRouter(prefix="/v1/networks/{id}", tags=["topology"], dependencies=TOKEN)

Limit = Annotated[int, Query(ge=1, le=5000)]
# Columns of metrics over time.
COLUMNS = (
    *("version", "time", "throughput", "sustained", "links", "continuity"),
    *("added", "dropped", "milliseconds", "nodes", "valid"),
)


@router.get("/topology", responses=answers(Graph) | refusals(404, 409, 422))
async def topology(network: AnyNetwork, networks: AllNetworks, version: VersionNumber = None) -> dict[str, Any]:
    """A version's topology as NetJSON NetworkGraph."""
    found, pool = await _version(network, networks, version), networks.services.pool
    pool.check_room()
    return await pool.run(lambda: graph_of(found))


@router.get("/state", responses=answers(State) | refusals(404, 409, 422))
async def state(network: AnyNetwork, networks: AllNetworks, version: VersionNumber = None) -> dict[str, Any]:
    """A version as the events show it."""
    if version is None and isinstance(network, LiveNetwork):
        return network.hub.state
    found = network.latest if version is None else await _version(network, networks, version)
    described, pool = network.described(), networks.services.pool
    pool.check_room()
    return {"sequence": 0, **await pool.run(lambda: state_of(found, described))}


@router.get("/history", responses=answers(History) | refusals(404, 422))
async def history(
    network: AnyNetwork,
    networks: AllNetworks,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Versions before this one.")] = None,
    limit: Limit = 100,
) -> dict[str, Any]:
    """What is kept of the network's past, the newest version first."""
    found = await networks.services.store.history(network.row.id, before, limit)
    return {"versions": [{**one, "at": date_text(one["at"])} for one in found]}


@router.get("/metrics-over-time", responses=answers(Columns) | refusals(404, 422))
async def metrics_over_time(
    network: AnyNetwork,
    networks: AllNetworks,
    since: Annotated[int, Query(ge=0, le=2**31 - 1, description="Versions after this one.")] = 0,
    limit: Limit = 500,
) -> dict[str, list[Any]]:
    """Columns for charts, the oldest version first, evenly thinned."""
    rows = await networks.services.store.over_time(network.row.id, since, limit)
    return {name: [row[name] for row in rows] for name in COLUMNS}


@router.get(
    "/transition",
    response_model=None,
    responses={200: {"content": {"application/json": {}, "text/plain": {}}}, **refusals(404, 409, 422)},
)
async def transition_to(
    network: AnyNetwork,
    networks: AllNetworks,
    version: VersionNumber = None,
    setup: Annotated[float | None, Query(ge=0, le=1e6, allow_inf_nan=False, description="Seconds a round.")] = None,
    format: Annotated[Literal["json", "eel"], Query(description="eel: events for EMANE.")] = "json",
) -> dict[str, Any] | Response:
    """The schedule from the version before to this one: rounds of drops and adds that keep the rules all the way."""
    old, new = await _pair(network, networks, version)
    seconds = setup if setup is not None else network.row.settings.setup or 0.0
    pool = networks.services.looks
    pool.check_room()
    made = await pool.run(lambda: transition(old, new, setup=seconds))
    return PlainTextResponse(link_events(made)) if format == "eel" else made.to_dict()


@router.get("/explain", responses=answers(Explained) | refusals(404, 409, 422))
async def explain_change(network: AnyNetwork, networks: AllNetworks, version: VersionNumber = None) -> dict[str, Any]:
    """Why links have changed since the version before, and what loyalty held back."""
    old, new = await _pair(network, networks, version)
    pool = networks.services.looks
    pool.check_room()
    made = await pool.run(lambda: explain(old, new))
    return {**made.to_dict(), "lines": made.lines()}


@router.get("/denoising", responses=answers(Denoised) | refusals(404, 409, 422))
async def denoising(
    network: AnyNetwork,
    networks: AllNetworks,
    steps: Annotated[int, Query(ge=1, le=50)] = 12,
    seed: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
) -> dict[str, Any]:
    """How the network would be made anew: from noise, step by step, then corrected and polished."""
    latest = await _version(network, networks, None)
    pool, model = networks.services.looks, networks.services.model
    pool.check_room()
    return await pool.run(lambda: denoising_of(model, latest, steps, seed))


async def _version(network: AnyNetwork, networks: AllNetworks, number: int | None) -> Version:
    if number is None or (network.latest is not None and network.latest.number == number):
        if network.latest is None:
            raise ConflictError("there is no topology yet: report the positions of at least two nodes")
        return network.latest
    found = await networks.services.store.version(network.row.id, number)
    assert found is not None  # or it would have said so
    return found


async def _pair(network: AnyNetwork, networks: AllNetworks, number: int | None) -> tuple[Topology, Topology]:
    """The topologies of a version, told of what a kept link was worth, and of the one before it."""
    new = await _version(network, networks, number)
    old = await networks.services.store.version_before(network.row.id, new.number)
    if old is None:
        raise ConflictError(f"version {new.number} is the first that is kept: nothing comes before it")
    if set(old.fleet.ids).isdisjoint(new.fleet.ids):
        raise ConflictError(f"versions {old.number} and {new.number} have no node in common")
    loyalty = new.change.loyalty
    return old.topology, new.topology.with_report(loyalty=0.0 if loyalty is None else loyalty)
