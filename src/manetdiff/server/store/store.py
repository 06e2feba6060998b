"""Networks and versions on disk: written by one thread, read by any."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, tuple_, update
from sqlalchemy.exc import SQLAlchemyError

from manetdiff.server.errors import LaterError, ServiceError, UnknownError
from manetdiff.server.store.database import cause, disown_by, is_reachable, migrate, opened, own_by, owned
from manetdiff.server.store.rows import SUMMARY, NetworkRow, Summary, summary_of, version_of, version_values
from manetdiff.server.store.tables import NETWORKS, VERSIONS
from manetdiff.server.store.writer import Job, Writer
from manetdiff.server.versions import Version

Result = TypeVar("Result")

PRUNED_TOGETHER = 500
NOTICED_S = 3.0

_OF = VERSIONS.c
_SUMMARY = [_OF[name] for name in SUMMARY]


class Store:
    """The database of one service."""

    def __init__(self, address: str) -> None:
        self._engine = opened(address)
        self._owner = owned(self._engine)
        self._owner.__enter__()
        try:
            self._writer = self._own()
            migrate(self._engine)
        except BaseException as error:
            self._owner.__exit__(None, None, None)
            if isinstance(error, SQLAlchemyError):
                raise ServiceError(f"--database: cannot be opened: {cause(error)}") from None
            raise

    def close(self) -> None:
        """Write what is waiting, and let the database go."""
        with suppress(SQLAlchemyError, ServiceError):
            self._writer.write(disown_by).result()
        self._writer.close()
        self._owner.__exit__(None, None, None)
        self._engine.dispose()

    def _own(self) -> Writer:
        """A writer that has the database to itself. PostgreSQL may need a moment to notice that one was killed."""
        until = time.monotonic() + NOTICED_S
        while True:
            try:
                return Writer(self._engine, own_by)
            except ServiceError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    async def networks(self) -> list[NetworkRow]:
        """All, the oldest first."""
        asked = select(NETWORKS).order_by(NETWORKS.c.created, NETWORKS.c.id)
        return [NetworkRow.from_values(row) for row in await self._read(lambda it: it.execute(asked).all())]

    async def add_network(self, row: NetworkRow) -> None:
        """A new one."""
        await self._write(lambda it: it.execute(insert(NETWORKS).values(row.to_values())))

    async def change_network(self, row: NetworkRow) -> None:
        """All but its versions."""
        changed = update(NETWORKS).where(NETWORKS.c.id == row.id).values(row.to_values())
        await self._write(lambda it: it.execute(changed))

    async def remove_network(self, network: str) -> None:
        """With all its versions."""

        def remove(it: Connection) -> None:
            it.execute(delete(VERSIONS).where(_OF.network == network))
            it.execute(delete(NETWORKS).where(NETWORKS.c.id == network))

        await self._write(remove)

    async def add_version(self, network: str, version: Version) -> None:
        """Returns when it is on disk."""
        values = version_values(network, version)
        await self._write(lambda it: it.execute(insert(VERSIONS).values(values)))

    async def version(self, network: str, number: int | None = None) -> Version | None:
        """One, by default the latest; None where there is none yet."""
        asked = select(VERSIONS).where(_OF.network == network).order_by(_OF.version.desc()).limit(1)
        if number is not None:
            asked = asked.where(_OF.version == number)
        found = await self._read(lambda it: it.execute(asked).one_or_none())
        if found is None and number is not None:
            raise UnknownError(f"there is no version {number}: it was never made, or is pruned")
        return None if found is None else await asyncio.to_thread(version_of, found)

    async def version_before(self, network: str, number: int) -> Version | None:
        """The last one before a version that is kept."""
        asked = select(VERSIONS).where(_OF.network == network, _OF.version < number)
        newest = asked.order_by(_OF.version.desc()).limit(1)
        found = await self._read(lambda it: it.execute(newest).one_or_none())
        return None if found is None else await asyncio.to_thread(version_of, found)

    async def history(self, network: str, before: int | None, limit: int) -> list[Summary]:
        """Versions before a number, the newest first."""
        asked = select(*_SUMMARY).where(_OF.network == network).order_by(_OF.version.desc()).limit(limit)
        if before is not None:
            asked = asked.where(_OF.version < before)
        return [summary_of(row) for row in await self._read(lambda it: it.execute(asked).all())]

    async def over_time(self, network: str, since: int, limit: int) -> list[Summary]:
        """At most so many versions after a number, evenly spaced, the oldest first and the newest among them."""
        of = (_OF.network == network) & (_OF.version > since)
        bounds = select(func.min(_OF.version), func.max(_OF.version)).where(of)

        def thinned(it: Connection) -> Any:
            first, last = it.execute(bounds).one()
            if first is None:
                return []
            every = -(-(last - first + 1) // limit)
            chosen = select(*_SUMMARY).where(of, (last - _OF.version) % every == 0).order_by(_OF.version)
            return it.execute(chosen).all()

        return [summary_of(row) for row in await self._read(thinned)]

    async def prune(self, versions: int, since: float) -> int:
        """Remove versions beyond so many in a network, and those made before a time; never the latest. How many.

        A few at a time, so that nobody who has something to write waits long.
        """
        bounds = select(_OF.network, func.min(_OF.version), func.max(_OF.version)).group_by(_OF.network)
        kept = {
            network: (first, last) for network, first, last in await self._read(lambda it: it.execute(bounds).all())
        }
        count = 0
        for network, (first, last) in kept.items():
            for start in range(first, last - versions + 1, PRUNED_TOGETHER):
                end = min(start + PRUNED_TOGETHER, last - versions + 1)
                of = (_OF.network == network) & (_OF.version >= start) & (_OF.version < end)
                count += await self._removed(of)
        # By the index on age; what is found again is the latest of its network.
        aged = (
            select(_OF.network, _OF.version).where(_OF.at < since).order_by(_OF.at).limit(PRUNED_TOGETHER + len(kept))
        )
        while True:
            found = [(network, version) for network, version in await self._read(lambda it: it.execute(aged).all())]
            old = [(network, version) for network, version in found if version < kept.get(network, (0, 0))[1]]
            if not old:
                return count
            count += await self._removed(tuple_(_OF.network, _OF.version).in_(old))

    async def _removed(self, which: ColumnElement[bool]) -> int:
        return int(await self._write(lambda it: it.execute(delete(VERSIONS).where(which)).rowcount))

    async def is_ready(self) -> bool:
        """Whether the database answers, and may be written to."""
        try:
            return bool(await self._write(is_reachable))
        except LaterError:
            return False

    async def _read(self, job: Callable[[Connection], Result]) -> Result:
        def read() -> Result:
            with self._engine.connect() as connection:
                return job(connection)

        try:
            return await asyncio.to_thread(read)
        except SQLAlchemyError as error:
            raise LaterError(f"the database does not answer: {cause(error)}", 2.0) from None

    async def _write(self, job: Job) -> Any:
        try:
            return await asyncio.wrap_future(self._writer.write(job))
        except ServiceError as error:  # somebody else has the database now
            raise LaterError(str(error), 10.0) from None
        except SQLAlchemyError as error:
            raise LaterError(f"the database does not take it: {cause(error)}", 2.0) from None
