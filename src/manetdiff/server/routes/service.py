"""The service itself: whether it lives, whether it is ready, and its counters; and the page."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from manetdiff.server.routes.common import TOKEN, AllNetworks, refusals

router = APIRouter(tags=["service"])

PAGE = Path(__file__).parent.parent / "page"


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz")
async def alive() -> dict[str, str]:
    """Whether the process answers."""
    return {"status": "alive"}


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", responses={503: {"description": "The database does not answer."}})
async def ready(networks: AllNetworks) -> Response:
    """Whether reports can be served: the database answers."""
    if await networks.services.store.is_ready():
        return JSONResponse({"status": "ready"})
    return JSONResponse({"status": "the database does not answer"}, 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **refusals()},
    dependencies=TOKEN,
)
async def metrics(request: Request) -> Response:
    """For Prometheus."""
    return Response(request.app.state.networks.services.counters.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/", include_in_schema=False)
async def page() -> FileResponse:
    """The page."""
    return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})
