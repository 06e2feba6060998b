"""Every refusal as one line of JSON, whoever made it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
# Parts of a field's place that its sender does not know: where it came in, and the kinds of nodes.
NOT_SAID = ("body", "query", "path", "metres", "degrees")


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
        place = ".".join(str(part) for part in error["loc"] if part not in NOT_SAID)
        lines.append(f"{place or 'the message'}: {error['msg'].removeprefix('Value error, ')}")
    more = len(errors) - len(lines)
    return one_line("; ".join(lines) + (f" and {more} more" if more > 0 else ""))


def status_of(error: ManetDiffError) -> int:
    """What HTTP calls it."""
    return error.status if isinstance(error, RefusedError) else 422


def answer_to(error: ManetDiffError) -> JSONResponse:
    """The refusal as an answer."""
    return _answer(status_of(error), str(error), error.headers() if isinstance(error, RefusedError) else None)


def _answer(status: int, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": detail}, status, headers)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ManetDiffError)
    return answer_to(error)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _answer(422, told(error.errors()))


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    unreadable = error.status_code == 400  # FastAPI's word for what is no JSON, or too deep, or a number without end
    detail = "the body is not JSON that can be read" if unreadable else one_line(str(error.detail))
    allowed = _allowed(request) if error.status_code == 405 else {}
    return _answer(error.status_code, detail, {**(error.headers or {}), **allowed})


def _allowed(request: Request) -> dict[str, str]:
    """All methods that the path has: the router names those of the first call that it has found there."""
    for path, calls in request.app.openapi()["paths"].items():
        if re.fullmatch("[^/]+".join(map(re.escape, re.split(r"\{\w+\}", path))), request.scope["path"]):
            return {"Allow": ", ".join(sorted(method.upper() for method in calls))}
    return {}


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    LOG.error("request failed", method=request.method, path=request.scope["path"], exc_info=error)
    return _answer(500, "something went wrong here; the service's log says what")
