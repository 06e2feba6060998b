"""This service as one of several on a database: it gives signs of life, and takes up and gives up networks."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Protocol

import structlog

from manetdiff.errors import ManetDiffError
from manetdiff.server.counters import Counters
from manetdiff.server.store import Store
from manetdiff.server.store.replicas import Owned, Seen
from manetdiff.server.watch import SILENT_S, Verdict, Watch, shared_out

LOG = structlog.get_logger()

# Seconds from one sign of life to the next.
BEAT_S = 0.5
# Seconds after a sign of life in which nobody takes over from who still has its connection: less than others wait,
# counted from before it. Where the connection breaks others wait less, and the next sign of life fails: until then, for
# about BEAT_S, what was one's own is taken for that. Nothing can be written by then; what is shown may be old.
HELD_S = 0.8 * SILENT_S


class Running(Protocol):
    """What runs networks."""

    def fences(self, before: float) -> Mapping[str, int]:
        """Of networks that are run since before this time, by id."""

    def is_taken_up(self, network: str) -> bool:
        """Whether it is run, or will be in a moment."""

    async def take_up(self, network: str, fence: int) -> None:
        """Run it from now on."""

    async def give_up(self, network: str) -> None:
        """Another replica runs it."""


class Membership:
    """Of one service. lost: called with ids of replicas that are gone."""

    def __init__(
        self, store: Store, counters: Counters, running: Running, lost: Callable[[Collection[str]], None]
    ) -> None:
        self._store, self._counters, self._running, self._lost = store, counters, running, lost
        self._watch = Watch()
        self._last = -float("inf")  # when the last sign of life was begun
        self._beating: asyncio.Task[None] | None = None
        self._settling: asyncio.Task[None] | None = None
        self.replicas = 1

    @property
    def is_held(self) -> bool:
        """Whether what was one's own at the last sign of life still is, as far as can be told."""
        return time.monotonic() - self._last < HELD_S

    async def start(self) -> None:
        """Be there; networks that nobody runs are taken up when this returns."""
        await self._beat()
        if self._settling is not None:
            await self._settling
        self._beating = asyncio.create_task(self._go_on())

    async def close(self) -> None:
        """Say nothing more; who is to take over learns it from the store."""
        for task in (self._beating, self._settling):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _go_on(self) -> None:
        while True:
            began = time.monotonic()
            try:
                await self._beat()
            except ManetDiffError as error:
                LOG.warning("no sign of life", why=str(error))
            except Exception as error:
                LOG.error("no sign of life", exc_info=error)
            await asyncio.sleep(max(0.0, began + BEAT_S - time.monotonic()))

    async def _beat(self) -> None:
        began = time.monotonic()
        try:
            seen = await self._store.beat()
        except Exception:
            self._last = -float("inf")  # the lock may be gone, and others wait for it only for a moment
            raise
        self._last = began
        # After it: a database that was slow must not make others look silent.
        verdict = self._watch.look(seen, time.monotonic())
        self.replicas = len(verdict.here)
        self._lost([peer.id for peer in (*verdict.silent, *verdict.gone)])
        # Beside the signs of life: they must not wait until many networks are taken up.
        if self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._settle(seen, verdict, began))

    async def _settle(self, seen: Seen, verdict: Verdict, began: float) -> None:
        me = self._store.me.id
        mine = {one.network: one.fence for one in seen.networks if one.owner == me}
        for network, fence in self._running.fences(began).items():
            if mine.get(network) != fence:
                LOG.warning("network given up: another replica runs it", network=network)
                self._counters.given_up.inc()
                await self._tried(self._running.give_up(network))
        for peer in verdict.silent:
            LOG.warning("replica says nothing: its networks are taken over", replica=peer.id)
            await self._tried(self._store.end(peer))
        for peer in verdict.gone:
            await self._tried(self._store.forget(peer))
        for one in shared_out(seen.networks, verdict).get(me, []):
            await self._tried(self._take_over(one))
        for network, fence in mine.items():  # of a database that has answered too late, say
            if not self._running.is_taken_up(network):
                await self._tried(self._running.take_up(network, fence))

    async def _take_over(self, one: Owned) -> None:
        if await self._store.take(one):
            await self._running.take_up(one.network, one.fence + 1)
            self._counters.taken_over.inc()
            LOG.info("network taken over", network=one.network, of=one.owner or "nobody")

    async def _tried(self, one: Awaitable[None]) -> None:
        """Of one network or replica: what is wrong with it must not keep the others."""
        try:
            await one
        except ManetDiffError as error:
            LOG.warning("replica not settled", why=str(error))
        except Exception as error:
            LOG.error("replica not settled", exc_info=error)
