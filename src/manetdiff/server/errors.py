"""What the service refuses, and with which HTTP status."""

from __future__ import annotations

import math

from manetdiff.errors import ManetDiffError


class RefusedError(ManetDiffError):
    """A request that is not served; the message says why, and `status` what HTTP calls it."""

    status = 422

    def headers(self) -> dict[str, str]:
        """Of the answer."""
        return {}


class UnknownError(RefusedError):
    """Something that is not there."""

    status = 404


class ConflictError(RefusedError):
    """Something that does not fit what is there, such as a clock that has jumped."""

    status = 409


class LaterError(RefusedError):
    """Not now: the answer says after how many seconds to try again."""

    status = 503

    def __init__(self, message: str, seconds: float = 1.0) -> None:
        super().__init__(message)
        self.seconds = seconds

    def headers(self) -> dict[str, str]:
        """Whole seconds, at least one."""
        return {"Retry-After": str(max(1, math.ceil(self.seconds)))}


class MovedError(LaterError):
    """A network that this replica does not run, or no longer: another one does, or will soon."""


class OverloadedError(LaterError):
    """More work than the service has time for."""


class TooOftenError(LaterError):
    """More requests than one sender may make."""

    status = 429


class ServiceError(ManetDiffError):
    """Settings under which the service does not start."""
