"""A load balancer in the sender's own process: in turn, but for those that fail their health checks."""

from __future__ import annotations

import asyncio
import itertools

from service_trials.light_http import LightConnection

# As docs/service/haproxy.cfg has them: seconds between checks, and of patience; and how many decide.
EVERY_S, PATIENCE_S, ENOUGH = 0.5, 0.5, 2


class Balancer:
    """Over services at these addresses. All are taken to be there until they are not."""

    def __init__(self, urls: list[str]) -> None:
        self._urls = urls
        self._up = [True] * len(urls)
        self._turns = itertools.count()

    def chosen(self) -> int:
        """The service whose turn it is, or the next that is there."""
        turn = next(self._turns)
        places = [(turn + step) % len(self._urls) for step in range(len(self._urls))]
        return next((place for place in places if self._up[place]), places[0])

    async def check(self) -> None:
        """Ask all of them again and again whether they are ready."""
        await asyncio.gather(*(self._check(place) for place in range(len(self._urls))))

    async def _check(self, place: int) -> None:
        connection, others = LightConnection(self._urls[place]), 0
        try:
            while True:
                ready = await self._is_ready(connection)
                others = 0 if ready == self._up[place] else others + 1
                if others >= ENOUGH:
                    self._up[place], others = ready, 0
                await asyncio.sleep(EVERY_S)
        finally:
            connection.close()

    async def _is_ready(self, connection: LightConnection) -> bool:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return (await connection.ask("GET", "/readyz")).status == 200
        except (OSError, TimeoutError):
            return False
