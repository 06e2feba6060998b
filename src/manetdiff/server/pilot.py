"""Who flies a network's own flight: moment by moment, at the speed and the rate of its plan."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING

import structlog

from manetdiff.errors import ManetDiffError
from manetdiff.server.errors import LaterError, MovedError, RefusedError
from manetdiff.server.flying import Flown
from manetdiff.server.messages_in import ChangedFlight, NewFlight
from manetdiff.server.pool import Pool

if TYPE_CHECKING:
    from manetdiff.server.live_network import LiveNetwork

LOG = structlog.get_logger()

# Seconds: a flight that goes on from a later time would come to the end of what a report may say.
LATEST_START = 1e11


class Pilot:
    """Of one network. flown: the flight that is under way, or paused; None: positions come from elsewhere."""

    def __init__(self, network: LiveNetwork, pool: Pool) -> None:
        self.flown: Flown | None = None
        self._network, self._pool = network, pool
        self._task: asyncio.Task[None] | None = None
        self._controls = asyncio.Lock()  # two who launch at once must not both fly

    async def fly(self, plan: NewFlight) -> None:
        """Begin a flight, with a fleet that is drawn; its first version is there when this returns."""
        self._network.check_size(plan.nodes)
        latest = self._network.latest
        start = 0.0 if latest is None or latest.time > LATEST_START else latest.time + 1.0
        flown = await self._pool.run(lambda: Flown(plan, time=start))
        async with self._controls:
            await self.stop()
            await self._network.begin_anew()
            await self._begin(flown)

    async def resume(self, plan: NewFlight) -> None:
        """Go on with a flight that was under way when the service was stopped, from where the fleet was last."""
        latest = self._network.latest
        if latest is None or latest.fleet.frame is not None:
            return
        fleet, then = latest.fleet, latest.time
        try:
            await self._begin(await self._pool.run(lambda: Flown(plan, fleet, then)))
        except ManetDiffError as error:
            LOG.warning("flight not resumed", network=self._network.row.id, why=str(error))

    async def change(self, change: ChangedFlight) -> None:
        """Another speed or rate, pause, or go on."""
        async with self._controls:
            if self.flown is None:
                raise RefusedError("the network has no flight: PUT one first")
            given = {name: value for name, value in change.model_dump().items() if value is not None}
            self.flown.plan = self.flown.plan.model_copy(update=given)
            await self._network.keep_flight(self.flown.plan)

    async def land(self) -> None:
        """End the flight; the fleet stays where it is."""
        async with self._controls:
            await self.stop()
            await self._network.settled()  # no version of it comes after this
            self.flown = None
            await self._network.keep_flight(None)

    async def stop(self) -> None:
        """Leave the controls; the flight could go on."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _begin(self, flown: Flown) -> None:
        await self._network.keep_flight(flown.plan)
        self.flown = flown
        try:
            await self._network.take_moment(flown.report())
        except MovedError:  # there is no next moment here
            raise
        except LaterError as error:  # the next moment comes soon
            self._left_out(error)
        if not self._network.is_closed:  # which may have been meanwhile, and would end a flight no second time
            self._task = asyncio.create_task(self._go_on(flown))

    async def _go_on(self, flown: Flown) -> None:
        then = time.monotonic()
        while True:
            began = time.monotonic()
            seconds, then = flown.plan.speed * (began - then), began
            try:
                if flown.plan.playing:
                    await self._pool.run(lambda seconds=seconds: flown.go(seconds))  # type: ignore[misc]
                    await self._network.take_moment(flown.report())
            except ManetDiffError as error:  # too much to do just now, say
                self._left_out(error)
            except Exception as error:
                self._network.failed(error)
            await asyncio.sleep(max(0.0, began + 1.0 / flown.plan.rate - time.monotonic()))

    def _left_out(self, error: ManetDiffError) -> None:
        LOG.info("moment of a flight left out", network=self._network.row.id, why=str(error))
