"""Several services on one PostgreSQL: who owns a network, and that nobody else can write to it."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import pytest
from sqlalchemy import text

import manetdiff as md
from manetdiff.server.errors import ConflictError, LaterError, MovedError, ServiceError
from manetdiff.server.messages_in import Pins, Settings
from manetdiff.server.store import NetworkRow, Store
from manetdiff.server.store.database import opened
from manetdiff.server.store.replicas import ALONE, Owned, Replica
from manetdiff.server.versions import Change, Version
from support.postgres import postgres
from support.service import small_fleet, until

Result = TypeVar("Result")

ROW = NetworkRow("abc", "Net", 1.5, md.Radio(), Settings(), Pins())


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with postgres() as address:
        yield address


@pytest.fixture
def stores(address: str) -> Iterator[tuple[Store, Store]]:
    """The first one owns a network."""
    first, second = Store(address, Replica("http://first:1")), Store(address, Replica("http://second:2"))
    for store in (first, second):
        _run(store.beat())
    _run(first.add_network(ROW))
    _run(first.add_version(ROW, _version(1)))
    yield first, second
    (row,) = _run(second.networks())
    _run(second.remove_network(row))
    first.close()
    second.close()


def _run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(coroutine)


def _version(number: int) -> Version:
    topology = md.solve(small_fleet(4), md.Radio(), method="mst-greedy")
    change = Change("quick", 1.5, None, 0.5, (("0", "1"),), (), 1, None)
    return Version(number, 0.1 * number, 0.0, topology, (1.0,) * 4, frozenset("0"), md.metrics(topology), change)


def _taken(store: Store) -> NetworkRow:
    """The network, once it is the store's."""
    (owned,) = _run(store.beat()).networks
    assert _run(store.take(owned))
    return dataclasses.replace(ROW, fence=owned.fence + 1)


def _here(store: Store) -> dict[str, bool]:
    return {peer.address: peer.here for peer in _run(store.beat()).peers}


def test_everybody_sees_who_is_there_and_whose_a_network_is(stores: tuple[Store, Store]) -> None:
    first, second = stores
    assert _here(second) == {"http://first:1": True, "http://second:2": True}
    assert _run(second.beat()).networks == [Owned("abc", first.me.id, 0)]
    owner = _run(second.owner("abc"))
    assert owner is not None
    assert owner.address == "http://first:1"
    assert _run(second.owner("nobody")) is None


def test_what_an_owner_of_before_writes_is_refused_and_nothing_of_it_is_there(stores: tuple[Store, Store]) -> None:
    first, second = stores
    mine = _taken(second)
    with pytest.raises(MovedError):
        _run(first.add_version(ROW, _version(2)))
    with pytest.raises(MovedError):
        _run(first.change_network(dataclasses.replace(ROW, name="Other")))
    with pytest.raises(MovedError):
        _run(first.remove_network(ROW))
    assert _run(second.networks()) == [mine]
    assert [one["version"] for one in _run(second.history("abc", None, 9))] == [1]
    _run(second.add_version(mine, _version(2)))
    with pytest.raises(MovedError):
        _run(first.add_version(ROW, _version(3)))
    assert [one["version"] for one in _run(first.history("abc", None, 9))] == [2, 1]


def test_an_owner_of_before_deletes_none_of_the_versions(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stores
    monkeypatch.setattr("manetdiff.server.store.store.PRUNED_TOGETHER", 1)
    for number in (2, 3):
        _run(first.add_version(ROW, _version(number)))
    _taken(second)
    with pytest.raises(MovedError):
        _run(first.remove_network(ROW))
    assert [one["version"] for one in _run(second.history("abc", None, 9))] == [3, 2, 1]


def test_a_refused_write_does_not_take_others_with_it(stores: tuple[Store, Store]) -> None:
    first, second = stores
    _taken(second)
    mine = dataclasses.replace(ROW, id="mine")
    _run(first.add_network(mine))

    async def at_once() -> list[Any]:
        jobs = [first.add_version(mine, _version(1)), first.add_version(ROW, _version(2))]
        return await asyncio.gather(*jobs, return_exceptions=True)

    written, refused = _run(at_once())
    assert written is None
    assert isinstance(refused, MovedError)
    assert len(_run(first.history("mine", None, 9))) == 1
    _run(first.remove_network(mine))


def test_of_two_who_take_a_network_one_has_it(stores: tuple[Store, Store]) -> None:
    first, second = stores
    (seen,) = _run(second.beat()).networks
    assert [_run(store.take(seen)) for store in (second, first)] == [True, False]


def test_who_loses_its_connection_loses_its_lock_and_gets_it_back(stores: tuple[Store, Store]) -> None:
    first, second = stores
    (gone,) = (peer for peer in _run(second.beat()).peers if peer.id == first.me.id)
    _run(second.end(gone))
    until(lambda: _here(second) == {"http://first:1": False, "http://second:2": True})
    mine = _taken(second)
    with pytest.raises(LaterError):  # its connection is gone
        _run(first.add_version(ROW, _version(2)))
    with pytest.raises(MovedError):  # and over another one it is too late
        _run(first.add_version(ROW, _version(2)))
    _run(second.add_version(mine, _version(2)))
    assert _here(first) == {"http://first:1": True, "http://second:2": True}


def test_who_is_gone_is_forgotten_unless_it_gives_a_sign_of_life(stores: tuple[Store, Store]) -> None:
    first, second = stores
    (peer,) = (peer for peer in _run(second.beat()).peers if peer.id == first.me.id)
    _run(first.beat())
    _run(second.forget(peer))
    assert first.me.id in {one.id for one in _run(second.beat()).peers}
    (peer,) = (peer for peer in _run(second.beat()).peers if peer.id == first.me.id)
    _run(second.forget(peer))
    assert first.me.id not in {one.id for one in _run(second.beat()).peers}


def test_who_stops_leaves_its_networks_to_others_at_once(address: str, stores: tuple[Store, Store]) -> None:
    _, second = stores
    third = Store(address, Replica("http://third:3"))
    _run(third.beat())
    mine = _taken(third)
    third.close()
    seen = _run(second.beat())
    assert [(one.owner, one.fence) for one in seen.networks] == [(None, mine.fence)]
    assert third.me.id not in {peer.id for peer in seen.peers}


def test_so_many_networks_are_taken_in_all(stores: tuple[Store, Store]) -> None:
    _, second = stores
    with pytest.raises(ConflictError, match="1 networks"):
        _run(second.add_network(dataclasses.replace(ROW, id="more"), most=1))


def test_a_service_of_an_earlier_release_has_the_database_to_itself(address: str) -> None:
    engine = opened(address)
    with engine.connect() as connection:
        connection.execute(text("select pg_advisory_lock(:alone)"), {"alone": ALONE})
        with pytest.raises(ServiceError, match="earlier release"):
            Store(address)
    engine.dispose()
