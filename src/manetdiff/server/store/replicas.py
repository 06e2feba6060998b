"""Several services on one PostgreSQL: who is there, and which of them each network belongs to.

A replica holds an advisory lock by the connection that it writes over: where that breaks, it counts as gone. Each row
of a network names its owner and a fence, which counts up whenever the network changes hands; what an owner writes is
taken only under the fence that it knows. So one that was stopped for a while, or cut off, cannot write any more once
another has taken over, whatever it believes.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, delete, select, text, update
from sqlalchemy.dialects.postgresql import insert

from manetdiff.server.errors import ServiceError
from manetdiff.server.store.tables import NETWORKS, REPLICAS

# Of advisory locks: any numbers, but always the same. One that earlier releases hold alone, and one for each replica.
ALONE, CLASS = 7_216_405_118, 721_640

_HELD = text(
    "select objid::bigint from pg_locks where locktype = 'advisory' and granted and objsubid = 2 and classid = :class "
    "and database = (select oid from pg_database where datname = current_database())"
).bindparams(bindparam("class", CLASS))
# Whoever writes as this replica, but for the connection that asks.
_END = text(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = :name and pid <> pg_backend_pid() "
    "and datname = current_database()"
)
_OWNED = select(NETWORKS.c.id, NETWORKS.c.owner, NETWORKS.c.fence).order_by(NETWORKS.c.created, NETWORKS.c.id)


@dataclass(frozen=True)
class Replica:
    """One service. id: of this run of it. lock: of its advisory lock. address: where others reach it, if they do."""

    address: str = ""
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    lock: int = field(default_factory=lambda: secrets.randbelow(2**31))

    @property
    def name(self) -> str:
        """Of the connection that it writes over, as `pg_stat_activity` shows it."""
        return f"manetdiff {self.id}"


@dataclass(frozen=True)
class Peer:
    """A replica as others see it. here: whether it holds its lock."""

    id: str
    address: str
    beat: int
    here: bool


@dataclass(frozen=True)
class Owned:
    """Whose a network is, if anybody's, and how often it has changed hands."""

    network: str
    owner: str | None
    fence: int


@dataclass(frozen=True)
class Seen:
    """What there is at a moment: replicas, oneself among them, and networks, the oldest first."""

    peers: list[Peer]
    networks: list[Owned]


def join(connection: Connection, me: Replica) -> None:
    """Be there as long as this connection lasts."""
    connection.execute(text("select set_config('application_name', :name, false)"), {"name": me.name})
    if not connection.scalar(text("select pg_try_advisory_lock_shared(:alone)"), {"alone": ALONE}):
        raise ServiceError("a service of an earlier release runs on this database, which it wants to itself: stop it")
    if not connection.scalar(text("select pg_try_advisory_lock(:class, :lock)"), {"class": CLASS, "lock": me.lock}):
        # A connection of before, of which the database has not noticed that it is broken.
        connection.execute(_END, {"name": me.name})
        raise ServiceError("the connection to the database was lost, and is being made again")


def beat(connection: Connection, me: Replica) -> Seen:
    """Give a sign of life, and look who else is there."""
    mine = insert(REPLICAS).values(id=me.id, lock=me.lock, address=me.address, beat=1)
    connection.execute(mine.on_conflict_do_update(index_elements=[REPLICAS.c.id], set_={"beat": REPLICAS.c.beat + 1}))
    # In this order: who owns a network by now holds a lock later on, or is gone.
    networks = connection.execute(_OWNED).all()
    replicas = connection.execute(select(REPLICAS)).all()
    held = set(connection.scalars(_HELD))
    return Seen(
        [Peer(row.id, row.address, row.beat, row.lock in held) for row in replicas],
        [Owned(row.id, row.owner, row.fence) for row in networks],
    )


def take(connection: Connection, me: Replica, one: Owned) -> bool:
    """Whether the network is one's own now, under the next fence: nobody else was faster."""
    of = (NETWORKS.c.id == one.network) & (NETWORKS.c.fence == one.fence)
    return connection.execute(update(NETWORKS).where(of).values(owner=me.id, fence=one.fence + 1)).rowcount == 1


def end(connection: Connection, replica: str) -> None:
    """Take its connection, and with it its lock, from a replica that says nothing any more."""
    connection.execute(_END, {"name": Replica(id=replica).name})


def forget(connection: Connection, gone: Peer) -> None:
    """It is gone, unless it has given a sign of life meanwhile."""
    connection.execute(delete(REPLICAS).where(REPLICAS.c.id == gone.id, REPLICAS.c.beat == gone.beat))


def owner(connection: Connection, network: str) -> Peer | None:
    """Who runs the network, as far as it is said; None: nobody."""
    named = select(REPLICAS).join(NETWORKS, NETWORKS.c.owner == REPLICAS.c.id).where(NETWORKS.c.id == network)
    row = connection.execute(named).one_or_none()
    return None if row is None else Peer(row.id, row.address, row.beat, True)


def leave(connection: Connection, me: Replica) -> None:
    """Let all networks go, for others to take them up at once."""
    let_go = update(NETWORKS).where(NETWORKS.c.owner == me.id).values(owner=None)
    connection.execute(let_go)
    connection.execute(delete(REPLICAS).where(REPLICAS.c.id == me.id))
