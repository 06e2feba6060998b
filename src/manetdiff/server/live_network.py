"""One network as it runs: reports come in, at most one update is under way, versions are stored and then shown.

All of it runs on the event loop but for the updates themselves, which the pool makes. Reports that come while an update
is under way are merged and served by the next one, all together: nothing queues up.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import structlog

from manetdiff.errors import ManetDiffError
from manetdiff.runtime.model import Model
from manetdiff.server.bucket import Bucket
from manetdiff.server.config import Limits
from manetdiff.server.counters import Counters
from manetdiff.server.describing import Counts, described, waiting_for
from manetdiff.server.errors import LaterError, MovedError, OverloadedError, RefusedError, UnknownError
from manetdiff.server.hub import Hub
from manetdiff.server.messages_in import NewFlight, Pins, Positions
from manetdiff.server.pilot import Pilot
from manetdiff.server.pool import Pool
from manetdiff.server.roster import Merged, Roster
from manetdiff.server.states import State, state_of, with_stale
from manetdiff.server.store import NetworkRow, Store
from manetdiff.server.updating import Wanted, next_version
from manetdiff.server.versions import Version
from manetdiff.server.waiting import Waiting

LOG = structlog.get_logger()

# Changes of a network's settings or pins that may wait for their turn.
MOST_CHANGES = 8


@dataclass(frozen=True)
class Services:
    """What all networks share. pool: for updates. looks: for what people want to see, which must not hold those up."""

    model: Model
    store: Store
    pool: Pool
    looks: Pool
    counters: Counters
    limits: Limits


class LiveNetwork:
    """One network."""

    def __init__(self, row: NetworkRow, latest: Version | None, services: Services) -> None:
        self.row, self.latest = row, latest
        self.counts = Counts()
        self._services = services
        self._roster = Roster(services.limits.nodes)
        if latest is not None:
            self._roster.restore(latest.nodes(), latest.heard, latest.time, time.monotonic())
        self._bucket = Bucket(services.limits.rate, services.limits.burst)
        self._turn = asyncio.Lock()  # one update at a time
        self._changes = 0  # under way, or waiting for their turn
        self._writing = asyncio.Lock()  # one change of the row at a time
        self._served: Waiting | None = None  # who waits for the version under way
        self._asked: Waiting | None = None  # who waits for the version after the one under way
        self._worker: asyncio.Task[None] | None = None
        self.pilot = Pilot(self, services.pool)
        self._closed: RefusedError | None = None  # why no more versions are made
        self._afresh = False  # whether the next topology owes nothing to the one before
        self._unsure = False  # whether what is on disk may be more than what is known here
        self._stale: frozenset[str] = frozenset() if latest is None else latest.stale
        self.hub = Hub(state_of(latest, self.described()))

    # What is told about it.

    def described(self) -> dict[str, Any]:
        """The network, JSON-ready."""
        return described(
            self.row,
            self.latest,
            nodes=len(self._roster),
            stale=self._stale,
            flight=None if self.pilot.flown is None else self.pilot.flown.to_dict(),
            counts=self.counts,
        )

    @property
    def is_closed(self) -> bool:
        """Whether no more versions are made."""
        return self._closed is not None

    # Reports.

    async def report(self, positions: Positions, *, wait: bool = True) -> dict[str, Any]:
        """Take a report; with `wait` the answer is that of the version that it has led to, which is on disk."""
        began = time.monotonic()
        counters = self._services.counters
        try:
            self._bucket.take(began)
            if self.pilot.flown is not None:
                self.pilot.flown.drag(positions)
                positions = self.pilot.flown.report()
            merged = self._merge(positions)
        except LaterError as error:
            self.counts.shed += isinstance(error, OverloadedError)
            counters.reports.labels("shed" if isinstance(error, OverloadedError) else "too often").inc()
            raise
        except RefusedError:
            counters.reports.labels("refused").inc()
            raise
        self.counts.reports += 1
        self.counts.older += merged.older
        counters.reports.labels("taken" if merged.taken else "older").inc()
        counters.older.inc(merged.older)
        news = merged.taken or merged.left
        if not wait:
            if news:
                self._ask()
            return {"accepted": merged.taken, "older": merged.older, "left_out": merged.left_out}
        version = await self._ask().join() if news else self.latest
        counters.report_s.observe(time.monotonic() - began)
        return self._answer(version, merged)

    async def take_moment(self, positions: Positions) -> None:
        """Take a report of the service's own flight, and wait for its version."""
        self._merge(positions)
        await self._ask().join()

    def _merge(self, positions: Positions) -> Merged:
        if self._asked is None:  # else the report is merged into an update that is waiting already
            self._services.pool.check_room()
        else:
            self._asked.check_room()
        return self._roster.merge(positions, time.monotonic(), self.row.settings.stale)

    def _answer(self, version: Version | None, merged: Merged) -> dict[str, Any]:
        told: dict[str, Any] = {
            "version": None,
            "time": None,
            "changed": False,
            "added": 0,
            "dropped": 0,
            "metrics": {},
        }
        if version is not None:
            by_this = bool(merged.taken or merged.left)  # else it is the version of others
            added, dropped = (len(version.change.added), len(version.change.dropped)) if by_this else (0, 0)
            told = {
                "version": version.number,
                "time": version.time,
                "changed": bool(added or dropped),
                "added": added,
                "dropped": dropped,
                "metrics": dict(version.metrics),
            }
        return {**told, "older": merged.older, "left_out": merged.left_out, "waiting": waiting_for(len(self._roster))}

    # Updates.

    def _ask(self) -> Waiting:
        """See to it that another version will be made, from what is known by then."""
        if self._closed is not None:
            raise self._closed
        if self._asked is None:
            self._asked = Waiting()
            self._services.pool.reserve()  # at once: of many that come together each must see the others
            if self._worker is None or self._worker.done():
                self._worker = asyncio.create_task(self._work())
        return self._asked

    async def _work(self) -> None:
        while (asked := self._asked) is not None:
            async with self._turn:
                self._asked, self._served = None, asked  # from here on reports are news again
                self._services.pool.release()
                try:
                    asked.answer(await self._advance(self.row))
                except Exception as error:
                    self.failed(error)
                    asked.fail(error)

    def failed(self, error: Exception) -> None:
        """Count and log it."""
        self._services.counters.failures.labels(type(error).__name__).inc()
        if isinstance(error, ManetDiffError):
            LOG.warning("update failed", network=self.row.id, why=str(error))
        else:
            LOG.error("update failed", network=self.row.id, exc_info=error)

    async def _advance(self, row: NetworkRow, *, strict: bool = False) -> Version | None:
        """Make the next version, store it, and show it; None where there are too few nodes."""
        services = self._services
        if self._closed is not None:
            raise self._closed
        if self._unsure:
            self.latest = await services.store.version(row.id)
            self._unsure = False
        now = time.monotonic()
        if self.pilot.flown is None:
            services.counters.taken_out.inc(len(self._roster.take_out(now, row.settings.gone)))
        self._stale = frozenset() if self.pilot.flown is not None else self._roster.stale(now, row.settings.stale)
        seen = self._roster.seen()
        if len(seen) < 2:
            self.show()
            return None
        before = None if self._afresh else self.latest
        number = 1 if self.latest is None else self.latest.number + 1
        clock = self._roster.clock
        assert clock is not None  # somebody was heard
        wanted, stale = Wanted(row.radio, row.settings, row.pins), self._stale

        def make() -> tuple[Version, State]:
            version = next_version(services.model, before, seen, clock, wanted, number, stale, strict=strict)
            return version, state_of(version, {"pins": row.pins.model_dump()})

        version, state = await services.pool.run(make)
        if self._closed is not None:  # meanwhile
            raise self._closed
        try:
            await services.store.add_version(row, version)
        except LaterError as error:
            self._unsure = True
            raise self._refused(error) from None
        self.latest, self._afresh = version, False
        change, counters = version.change, services.counters
        counters.versions.labels(change.mode).inc()
        counters.update_s.observe(1e-3 * change.milliseconds)
        counters.changed.labels("added").inc(len(change.added))
        counters.changed.labels("dropped").inc(len(change.dropped))
        self.hub.publish({**state, "network": self.described()})
        return version

    # Settings.

    async def change(self, changed: Callable[[NetworkRow], NetworkRow]) -> None:
        """Another name, radio or settings, from now on; links are reconsidered under another radio.

        changed: of the network as it is by then, which others may be changing, too.
        """
        async with self._changing():
            before = self.row.radio
            await self._write(changed)
            if self.row.radio != before and len(self._roster) >= 2:
                await self._advance(self.row)
            else:
                self.show()

    async def pin(self, pins: Pins) -> None:
        """Keep to these pins from now on; those that cannot be kept to are refused, and nothing changes."""
        async with self._changing():
            if len(self._roster) >= 2:
                await self._advance(dataclasses.replace(self.row, pins=pins), strict=True)
            await self._write(lambda row: dataclasses.replace(row, pins=pins))
            self.show()

    async def keep_flight(self, plan: NewFlight | None) -> None:
        """Remember the flight, or that there is none, also for when the service is started again."""
        await self._write(lambda row: dataclasses.replace(row, flight=plan))
        self.show()

    @contextlib.asynccontextmanager
    async def _changing(self) -> AsyncIterator[None]:
        """The turn of somebody who changes something; few may wait for it, and reports wait for none of them long."""
        self._services.pool.check_room()
        if self._changes >= MOST_CHANGES:
            raise OverloadedError(f"{MOST_CHANGES} others are changing this network already")
        self._changes += 1
        try:
            async with self._turn:
                yield
        finally:
            self._changes -= 1

    async def settled(self) -> None:
        """Returns when no update is under way."""
        async with self._turn:
            pass

    async def _write(self, changed: Callable[[NetworkRow], NetworkRow]) -> None:
        """Change the row, on disk and then here; one after the other, so that nobody undoes what another has done."""
        if self._closed is not None:
            raise self._closed
        async with self._writing:
            row = changed(self.row)
            try:
                await self._services.store.change_network(row)
            except LaterError as error:
                raise self._refused(error) from None
            self.row = row

    def _refused(self, error: LaterError) -> RefusedError:
        """What to say of something that was not written; of a network that another replica runs, from now on."""
        if isinstance(error, MovedError):
            self._closed = self._closed or error
        return self._closed or error

    def check_size(self, nodes: int) -> None:
        """Raise where a network may not have so many nodes."""
        if nodes > self._roster.most:
            raise RefusedError(f"the network would have {nodes} nodes: at most {self._roster.most} are taken")

    async def begin_anew(self) -> None:
        """Forget who is there: the next topology owes nothing to the one before."""
        async with self._turn:
            self._roster.forget()
            self._afresh = True

    def show(self) -> None:
        """Show viewers what is said about the network now; the topology is as it was."""
        pinned = {frozenset(pair) for pair in self.row.pins.keep}
        links = [
            {**link, "pinned": frozenset((link["source"], link["target"])) in pinned}
            for link in self.hub.state["links"]
        ]
        gone = {node["id"] for node in self.hub.state["nodes"]} - self._roster.ids
        state = {**with_stale(self.hub.state, self._stale | gone), "links": links, "network": self.described()}
        self.hub.publish(state)

    # Time.

    def tick(self) -> None:
        """Look who has not been heard of: nodes are marked, then taken out."""
        if self.pilot.flown is not None or not len(self._roster):
            return
        now, settings = time.monotonic(), self.row.settings
        if self._roster.stale(now, settings.gone):
            if self._asked is None and len(self._roster) >= 2:
                self._ask()
            elif len(self._roster) < 2:
                self._services.counters.taken_out.inc(len(self._roster.take_out(now, settings.gone)))
                self.show()
            return
        stale = self._roster.stale(now, settings.stale)
        if stale != self._stale:
            self._stale = stale
            self.show()

    # The end.

    async def close(self, why: RefusedError | None = None) -> None:
        """Stop; who waits is told why. Viewers are told where the network is deleted (UnknownError), and let go."""
        why = LaterError("the service is stopping") if why is None else why
        self._closed = why
        await self.pilot.stop()
        if self._worker is not None:
            self._worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._worker
        if self._asked is not None:
            self._services.pool.release()
        for waiting in (self._served, self._asked):
            if waiting is not None:
                waiting.fail(why)
        self._asked = None
        if isinstance(why, UnknownError):
            self.hub.close()
        else:
            self.hub.stop()
