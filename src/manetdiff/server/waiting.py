"""Requests that wait for a network's next version: all that come before it is begun are answered by that one."""

from __future__ import annotations

import asyncio

from manetdiff.server.errors import OverloadedError
from manetdiff.server.versions import Version

# Requests that may wait for one version.
MOST = 256

Answer = asyncio.Future[Version | None]


class Waiting:
    """Who waits for one version."""

    def __init__(self) -> None:
        self._answers: list[Answer] = []

    def check_room(self) -> None:
        """Raise an OverloadedError where as many as may wait already."""
        if len(self._answers) >= MOST:
            raise OverloadedError(f"{MOST} requests wait for this network's next version already")

    def join(self) -> Answer:
        """What will be the version, or what it failed for."""
        answer: Answer = asyncio.get_running_loop().create_future()
        self._answers.append(answer)
        return answer

    def answer(self, version: Version | None) -> None:
        """Tell everyone."""
        for one in self._answers:
            if not one.done():  # else nobody listens any more
                one.set_result(version)

    def fail(self, error: Exception) -> None:
        """Tell everyone why there is none."""
        for one in self._answers:
            if not one.done():
                one.set_exception(error)
