"""All networks of a service: made, found, ticked over, pruned and closed."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time

import structlog

from manetdiff.errors import ManetDiffError
from manetdiff.radio import Radio
from manetdiff.server.errors import ConflictError, UnknownError
from manetdiff.server.live_network import LiveNetwork, Services
from manetdiff.server.messages_in import NewFlight, Pins, Settings
from manetdiff.server.store import NetworkRow

LOG = structlog.get_logger()

TICK_S, PRUNE_S = 0.5, 60.0
DEMO = "Demo"


class Networks:
    """Those that are live; the store has the same and their past."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.demo: str | None = None
        self._live: dict[str, LiveNetwork] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, *, demo: bool = False) -> None:
        """Take up every network where it was left."""
        store = self.services.store
        for row in await store.networks():
            self._live[row.id] = LiveNetwork(row, await store.version(row.id), self.services)
        for network in self._live.values():
            if network.row.flight is not None:
                await network.pilot.resume(network.row.flight)
        if demo:
            await self._start_demo()
        self._tasks = [asyncio.create_task(self._tick()), asyncio.create_task(self._prune())]

    def end_streams(self) -> None:
        """Let all viewers go, so that nobody has to wait for them."""
        for network in self._live.values():
            network.hub.stop()

    async def close(self) -> None:
        """Stop them all."""
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        for network in self.all():
            await network.close()

    def all(self) -> list[LiveNetwork]:
        """The oldest first."""
        return list(self._live.values())

    def find(self, network: str) -> LiveNetwork:
        """By its id."""
        try:
            return self._live[network]
        except KeyError:
            raise UnknownError("there is no such network") from None

    async def add(self, name: str, radio: Radio, settings: Settings, pins: Pins) -> LiveNetwork:
        """A new one, without any nodes yet."""
        most = self.services.limits.networks
        if len(self._live) >= most:
            raise ConflictError(f"there are {most} networks already, which is as many as are taken: delete one")
        row = NetworkRow(secrets.token_hex(6), name, time.time(), radio, settings, pins)
        live = self._live[row.id] = LiveNetwork(row, None, self.services)
        try:
            await self.services.store.add_network(row)
        except BaseException:
            del self._live[row.id]
            raise
        return live

    async def remove(self, network: str) -> None:
        """With all its versions."""
        live = self.find(network)
        await self.services.store.remove_network(network)  # first: where that fails, who comes again finds it
        self._live.pop(network, None)
        await live.close(deleted=True)

    def viewers(self) -> int:
        """Of all networks."""
        return sum(network.hub.viewers for network in self._live.values())

    async def _start_demo(self) -> None:
        flying = next((one for one in self.all() if one.row.name == DEMO), None)
        network = flying or await self.add(DEMO, self.services.model.radio, Settings(), Pins())
        self.demo = network.row.id
        if network.pilot.flown is None:
            await network.pilot.fly(NewFlight(family="escort"))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for network in self.all():
                try:
                    network.tick()
                except Exception as error:  # of one network: the others' time goes on
                    network.failed(error)

    async def _prune(self) -> None:
        limits, services = self.services.limits, self.services
        while True:
            try:
                removed = await services.store.prune(limits.versions, time.time() - 86_400.0 * limits.days)
                services.counters.pruned.inc(removed)
            except ManetDiffError as error:
                LOG.warning("history not pruned", why=str(error))
            except Exception as error:
                LOG.error("history not pruned", exc_info=error)
            await asyncio.sleep(PRUNE_S)
