"""All networks of a service: made, found, ticked over, pruned and closed."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Collection

import structlog

from manetdiff.errors import ManetDiffError
from manetdiff.radio import Radio
from manetdiff.server.errors import MovedError, UnknownError
from manetdiff.server.live_network import LiveNetwork, Services
from manetdiff.server.membership import Membership
from manetdiff.server.messages_in import NewFlight, Pins, Settings
from manetdiff.server.store import NetworkRow
from manetdiff.server.stored_network import StoredNetwork
from manetdiff.server.versions import Version

LOG = structlog.get_logger()

TICK_S, PRUNE_S = 0.5, 60.0
DEMO = "Demo"


class Networks:
    """Those that this service runs; the store has the same and their past, and those that other replicas run.

    - lost: called with ids of replicas that are gone.
    """

    def __init__(self, services: Services, lost: Callable[[Collection[str]], None] = lambda _: None) -> None:
        self.services = services
        self.demo: str | None = None
        self.viewers_of_others = 0
        self._live: dict[str, LiveNetwork] = {}
        self._since: dict[str, float] = {}  # when each was taken up, by the steady clock
        self._being_made: set[str] = set()
        self._resuming: set[asyncio.Task[None]] = set()  # flights
        self._tasks: list[asyncio.Task[None]] = []
        shared = services.store.is_shared
        self.membership = Membership(services.store, services.counters, self, lost) if shared else None

    async def start(self, *, demo: bool = False) -> None:
        """Take up every network where it was left, but for those that other replicas run."""
        if self.membership is not None:
            await self.membership.start()
        else:
            for row in await self.services.store.networks():
                await self.take_up(row.id, row.fence)
        if self._resuming:
            await asyncio.wait(self._resuming)
        if demo:
            await self._start_demo()
        self._tasks = [asyncio.create_task(self._tick()), asyncio.create_task(self._prune())]

    def end_streams(self) -> None:
        """Let all viewers go, so that nobody has to wait for them."""
        for network in self._live.values():
            network.hub.stop()

    async def close(self) -> None:
        """Stop them all."""
        for task in (*self._tasks, *self._resuming):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self.membership is not None:
            await self.membership.close()
        for network in self.all():
            await network.close()

    # Of those that are run here.

    def all(self) -> list[LiveNetwork]:
        """That are run here."""
        return list(self._live.values())

    def find(self, network: str) -> LiveNetwork:
        """That is run here, by its id."""
        found = self._live.get(network)
        if found is None or not (self.membership is None or self.membership.is_held):
            raise UnknownError("there is no such network")
        return found

    def is_here(self, network: str) -> bool:
        """Whether it is run here, as far as can be told without asking the database."""
        return self.membership is None or (network in self._live and self.membership.is_held)

    async def owned(self, network: str) -> LiveNetwork:
        """By its id, to be changed; a MovedError where no, or another, replica runs it."""
        if not self.is_here(network):
            if await self.services.store.network(network) is None:
                raise UnknownError("there is no such network")
            raise MovedError("no replica runs this network just now: one will in a few seconds")
        return self.find(network)

    # Of all.

    async def shown(self, network: str) -> LiveNetwork | StoredNetwork:
        """By its id, to be looked at, whoever runs it."""
        if self.is_here(network):
            return self.find(network)
        store = self.services.store
        row = await store.network(network)
        if row is None:
            raise UnknownError("there is no such network")
        return StoredNetwork(row, await store.version(network))

    async def listed(self) -> list[LiveNetwork | StoredNetwork]:
        """The oldest first."""
        if self.membership is None:
            return [*self._live.values()]
        store = self.services.store
        rows = await store.networks()
        here = {row.id: self._live[row.id] for row in rows if self.is_here(row.id)}  # until this is answered
        latest = await store.latest([row.id for row in rows if row.id not in here])
        return [here.get(row.id) or StoredNetwork(row, latest.get(row.id)) for row in rows]

    # What changes who there is.

    async def add(self, name: str, radio: Radio, settings: Settings, pins: Pins) -> LiveNetwork:
        """A new one, without any nodes yet, which is run here."""
        row = NetworkRow(secrets.token_hex(6), name, time.time(), radio, settings, pins)
        self._being_made.add(row.id)
        try:
            await self.services.store.add_network(row, self.services.limits.networks)
            return self._run(row, None)
        finally:
            self._being_made.discard(row.id)

    async def remove(self, live: LiveNetwork) -> None:
        """With all its versions."""
        try:
            await self.services.store.remove_network(live.row)  # first: where that fails, who comes again finds it
        except MovedError:
            if live.row.id not in self._live:  # somebody else was faster
                raise UnknownError("there is no such network") from None
            raise
        self._forget(live.row.id)
        await live.close(UnknownError("the network was deleted"))

    def fences(self, before: float) -> dict[str, int]:
        """Of networks that are run here since before this time, by id."""
        return {id: live.row.fence for id, live in self._live.items() if self._since[id] < before}

    def is_taken_up(self, network: str) -> bool:
        """Whether it is run here, or will be in a moment."""
        return network in self._live or network in self._being_made

    async def take_up(self, network: str, fence: int) -> None:
        """Run it from where it was left."""
        store = self.services.store
        row, latest = await store.network(network), await store.version(network)
        if row is None or row.fence != fence:  # deleted, or somebody else's, meanwhile
            return
        live = self._run(row, latest)
        if row.flight is not None:
            resuming = asyncio.create_task(live.pilot.resume(row.flight))
            self._resuming.add(resuming)
            resuming.add_done_callback(self._resuming.discard)

    async def give_up(self, network: str) -> None:
        """Another replica runs it, or it is deleted."""
        live = self._forget(network)
        if live is not None:
            await live.close(MovedError("another replica runs this network now"))

    def _run(self, row: NetworkRow, latest: Version | None) -> LiveNetwork:
        live = self._live[row.id] = LiveNetwork(row, latest, self.services)
        self._since[row.id] = time.monotonic()
        return live

    def _forget(self, network: str) -> LiveNetwork | None:
        self._since.pop(network, None)
        return self._live.pop(network, None)

    def viewers(self) -> int:
        """Of all that are run here, and those whose streams come from other replicas."""
        return self.viewers_of_others + sum(network.hub.viewers for network in self._live.values())

    def replicas(self) -> int:
        """That run networks, as far as this one sees."""
        return 1 if self.membership is None else self.membership.replicas

    async def _start_demo(self) -> None:
        flying = next((one for one in await self.listed() if one.row.name == DEMO), None)
        network = flying or await self.add(DEMO, self.services.model.radio, Settings(), Pins())
        self.demo = network.row.id
        if isinstance(network, LiveNetwork) and network.pilot.flown is None:
            await network.pilot.fly(NewFlight(family="escort"))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            held = self.membership is None or self.membership.is_held
            for network in self.all():
                if not held:  # another replica may show more by now: viewers are to find it
                    network.hub.let_go()
                    continue
                try:
                    network.tick()
                except Exception as error:  # of one network: the others' time goes on
                    network.failed(error)

    async def _prune(self) -> None:
        limits, services = self.services.limits, self.services
        while True:
            try:
                since = time.time() - 86_400.0 * limits.days
                removed = await services.store.prune([*self._live], limits.versions, since)
                services.counters.pruned.inc(removed)
            except ManetDiffError as error:
                LOG.warning("history not pruned", why=str(error))
            except Exception as error:
                LOG.error("history not pruned", exc_info=error)
            await asyncio.sleep(PRUNE_S)
