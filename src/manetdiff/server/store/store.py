"""Networks and versions on disk: written by one thread, read by any."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, delete, func, insert, literal, select, tuple_, update
from sqlalchemy.exc import SQLAlchemyError

from manetdiff.server.errors import ConflictError, LaterError, MovedError, ServiceError, UnknownError
from manetdiff.server.store import replicas
from manetdiff.server.store.database import cause, is_reachable, is_shared, migrate, opened, owned
from manetdiff.server.store.replicas import Owned, Peer, Replica, Seen
from manetdiff.server.store.rows import SUMMARY, NetworkRow, Summary, summary_of, version_of, version_values
from manetdiff.server.store.tables import NETWORKS, VERSIONS
from manetdiff.server.store.writer import Job, Writer
from manetdiff.server.versions import Version

Result = TypeVar("Result")

PRUNED_TOGETHER = 500
# Of networks: as they are made, of any length that there is room for.
ID = re.compile(r"[0-9a-f]{1,32}")

_OF = VERSIONS.c
_SUMMARY = [_OF[name] for name in SUMMARY]


class Store:
    """The database of one service, or of one of several. me: which, where there can be several."""

    def __init__(self, address: str, me: Replica | None = None) -> None:
        self.me = me or Replica()
        self._engine = opened(address)
        self.is_shared = is_shared(self._engine)
        self._owner = owned(self._engine)
        self._owner.__enter__()
        try:
            self._writer = Writer(self._engine, self._join)
            migrate(self._engine)
        except BaseException as error:
            self._owner.__exit__(None, None, None)
            if isinstance(error, SQLAlchemyError):
                raise ServiceError(f"--database: cannot be opened: {cause(error)}") from None
            raise

    def close(self) -> None:
        """Write what is waiting, and let go of the database, or of what of it is one's own."""
        if self.is_shared:
            with suppress(SQLAlchemyError, ServiceError):
                self._writer.write(partial(replicas.leave, me=self.me)).result()
        self._writer.close()
        self._owner.__exit__(None, None, None)
        self._engine.dispose()

    def _join(self, connection: Connection) -> None:
        if self.is_shared:
            replicas.join(connection, self.me)

    # Of several services on one database.

    async def beat(self) -> Seen:
        """Give a sign of life, and look who else is there."""
        seen: Seen = await self._write(partial(replicas.beat, me=self.me))
        return seen

    async def take(self, one: Owned) -> bool:
        """Whether the network is one's own now."""
        return bool(await self._write(partial(replicas.take, me=self.me, one=one)))

    async def end(self, peer: Peer) -> None:
        """Take the connection from a replica that says nothing any more."""
        await self._write(partial(replicas.end, replica=peer.id))

    async def forget(self, gone: Peer) -> None:
        """It is gone."""
        await self._write(partial(replicas.forget, gone=gone))

    async def owner(self, network: str) -> Peer | None:
        """Who runs the network, as far as it is said; None: nobody."""
        if not _can_be(network):
            return None
        return await self._read(partial(replicas.owner, network=network))

    # Networks.

    async def networks(self) -> list[NetworkRow]:
        """All, the oldest first."""
        asked = select(NETWORKS).order_by(NETWORKS.c.created, NETWORKS.c.id)
        return [NetworkRow.from_values(row) for row in await self._read(lambda it: it.execute(asked).all())]

    async def network(self, network: str) -> NetworkRow | None:
        """One, if it is there."""
        if not _can_be(network):
            return None
        asked = select(NETWORKS).where(NETWORKS.c.id == network)
        found = await self._read(lambda it: it.execute(asked).one_or_none())
        return None if found is None else NetworkRow.from_values(found)

    async def add_network(self, row: NetworkRow, most: int | None = None) -> None:
        """A new one, of this service. most: networks in all that are taken."""

        def add(it: Connection) -> None:
            if most is not None and (it.scalar(select(func.count()).select_from(NETWORKS)) or 0) >= most:
                raise ConflictError(f"there are {most} networks already, which is as many as are taken: delete one")
            owner = self.me.id if self.is_shared else None
            it.execute(insert(NETWORKS).values(**row.to_values(), owner=owner, fence=row.fence))

        await self._write(add)

    async def change_network(self, row: NetworkRow) -> None:
        """All but its versions."""
        changed = update(NETWORKS).where(_still(row)).values(row.to_values())
        await self._write(lambda it: _check_ours(it.execute(changed).rowcount))

    async def remove_network(self, row: NetworkRow) -> None:
        """With all its versions: a few at a time, as signs of life go over the same connection.

        The newest go last, with the network: where something fails on the way, it goes on from where it was.
        """
        bounds = select(func.min(_OF.version), func.max(_OF.version)).where(_OF.network == row.id)
        first, last = await self._read(lambda it: it.execute(bounds).one())
        if first is not None:
            for end in range(first + PRUNED_TOGETHER, last, PRUNED_TOGETHER):
                await self._write(partial(_remove_before, row=row, end=end))
        await self._write(lambda it: _check_ours(it.execute(delete(NETWORKS).where(_still(row))).rowcount))

    # Versions.

    async def add_version(self, row: NetworkRow, version: Version) -> None:
        """Of a network; returns when it is on disk. A MovedError where the network is another replica's by now."""
        values = version_values(row.id, version)
        # The row of the network is locked: nobody takes it over between the look at its fence and the commit.
        said = [literal(value, _OF[name].type).label(name) for name, value in values.items()]
        ours = select(*said).where(_still(row)).with_for_update(read=True)
        # Of an insertion nobody counts rows unless asked to.
        added = insert(VERSIONS).from_select(list(values), ours).execution_options(preserve_rowcount=True)
        await self._write(lambda it: _check_ours(it.execute(added).rowcount))

    async def version(self, network: str, number: int | None = None) -> Version | None:
        """One, by default the latest; None where there is none yet."""
        asked = select(VERSIONS).where(_OF.network == network).order_by(_OF.version.desc()).limit(1)
        if number is not None:
            asked = asked.where(_OF.version == number)
        found = await self._read(lambda it: it.execute(asked).one_or_none())
        if found is None and number is not None:
            raise UnknownError(f"there is no version {number}: it was never made, or is pruned")
        return None if found is None else await asyncio.to_thread(version_of, found)

    async def latest(self, networks: Collection[str]) -> dict[str, Version]:
        """The latest versions of networks that have one, by id."""
        # One look into the index for each: the greatest of a group would be sought among all versions.
        last = select(_OF.version).where(_OF.network == NETWORKS.c.id).order_by(_OF.version.desc()).limit(1)
        newest = select(NETWORKS.c.id, last.scalar_subquery()).where(NETWORKS.c.id.in_(networks))

        def read(it: Connection) -> Any:
            pairs = [(network, version) for network, version in it.execute(newest) if version is not None]
            return it.execute(select(VERSIONS).where(tuple_(_OF.network, _OF.version).in_(pairs))).all()

        found = await self._read(read)
        return await asyncio.to_thread(lambda: {row.network: version_of(row) for row in found})

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

    async def prune(self, networks: Collection[str], versions: int, since: float) -> int:
        """Of these networks, remove versions beyond so many, and those made before a time; never the latest. How many.

        A few at a time, so that nobody who has something to write waits long.
        """
        ours = _OF.network.in_(networks)
        bounds = select(_OF.network, func.min(_OF.version), func.max(_OF.version)).where(ours).group_by(_OF.network)
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
        old_ones = select(_OF.network, _OF.version).where(ours, _OF.at < since)
        aged = old_ones.order_by(_OF.at).limit(PRUNED_TOGETHER + len(kept))
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
        except ServiceError as error:  # there is no connection that may write just now
            raise LaterError(str(error), 2.0) from None
        except SQLAlchemyError as error:
            raise LaterError(f"the database does not take it: {cause(error)}", 2.0) from None


def _can_be(network: str) -> bool:
    """Whether it can be the id of a network. What cannot is not asked for: PostgreSQL refuses some of it altogether."""
    return ID.fullmatch(network) is not None


def _still(row: NetworkRow) -> ColumnElement[bool]:
    """Whether the network has not changed hands since."""
    return (NETWORKS.c.id == row.id) & (NETWORKS.c.fence == row.fence)


def _remove_before(connection: Connection, row: NetworkRow, end: int) -> None:
    """Versions before a number, of a network that has not changed hands and does not until this is committed."""
    ours = connection.execute(select(NETWORKS.c.id).where(_still(row)).with_for_update(read=True)).all()
    _check_ours(len(ours))
    connection.execute(delete(VERSIONS).where(_OF.network == row.id, _OF.version < end))


def _check_ours(rows: int) -> None:
    if rows != 1:
        raise MovedError("another replica runs this network now")
