"""Every refusal as one line of JSON, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from manetdiff.errors import ManetDiffError
from manetdiff.messages import one_line
from manetdiff.server.errors import RefusedError

LOG = structlog.get_logger()

FEW = 3


def refuse_in_one_line(app: FastAPI) -> None:
    """Answer every error so."""
    app.add_exception_handler(ManetDiffError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unexpected)


def told(errors: Sequence[Any]) -> str:
    """What pydantic found, by field, without the values, which may be anything."""
    lines = []
    for error in errors[:FEW]:
        if error["type"] == "json_invalid":
            return one_line(f"the body is not JSON: {error['ctx']['error']}")
        place = ".".join(str(part) for part in error["loc"] if part not in ("body", "query", "path"))
        lines.append(f"{place}: {error['msg']}" if place else str(error["msg"]))
    more = len(errors) - len(lines)
    return one_line("; ".join(lines) + (f" and {more} more" if more > 0 else ""))


def status_of(error: ManetDiffError) -> int:
    """What HTTP calls it."""
    return error.status if isinstance(error, RefusedError) else 422


def _answer(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": detail}, status, headers)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ManetDiffError)
    return _answer(status_of(error), str(error), error.headers() if isinstance(error, RefusedError) else None)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _answer(422, told(error.errors()))


async def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _answer(error.status_code, one_line(str(error.detail)), dict(error.headers or {}))


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    LOG.error("request failed", method=request.method, path=request.url.path, exc_info=error)
    return _answer(500, "something went wrong here; the service's log says what")
