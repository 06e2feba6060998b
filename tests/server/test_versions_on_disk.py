"""What is kept: the same on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import delete, text

import manetdiff as md
from manetdiff.server.errors import LaterError, ServiceError, UnknownError
from manetdiff.server.messages_in import NewFlight, Pins, Settings
from manetdiff.server.store import NetworkRow, Store
from manetdiff.server.store.database import opened
from manetdiff.server.store.tables import METADATA
from manetdiff.server.versions import Change, Version
from support.postgres import postgres
from support.service import small_fleet

Result = TypeVar("Result")

ROW = NetworkRow("abc", "Ünï 'net'", 1.5, md.Radio(), Settings(setup=2.0), Pins(keep=[["a", "b"]]))
OLD = dataclasses.replace(ROW, id="old")

# Ends all other connections.
OTHERS = (
    "select pg_terminate_backend(pid) from pg_stat_activity "
    "where pid <> pg_backend_pid() and datname = current_database()"
)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('store') / 'test.db'}"
    else:
        with postgres() as address:
            yield address


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    made = Store(address)
    yield made
    for row in _run(made.networks()):
        _run(made.remove_network(row))
    made.close()


def _run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run(coroutine)


def _version(number: int, at: float = 0.0) -> Version:
    fleet = small_fleet(4)
    topology = md.solve(fleet, md.Radio(), method="mst-greedy")
    change = Change("quick", 1.5, None, 0.1 + 0.2, (("0", "1"),), (), 1, None)
    return Version(number, 0.1 * number, at, topology, (1.0,) * 4, frozenset("0"), md.metrics(topology), change)


def test_networks_and_versions_come_back_as_they_were(store: Store, address: str) -> None:
    _run(store.add_network(ROW))
    for number in range(1, 6):
        _run(store.add_version(ROW, _version(number)))
    changed = dataclasses.replace(ROW, name="Other", flight=NewFlight(family="line"))
    _run(store.change_network(changed))
    store.close()
    again = Store(address)
    try:
        assert _run(again.networks()) == [changed]
        latest = _run(again.version("abc"))
        assert latest is not None
        assert latest.to_record() == _version(5).to_record()
        assert (latest.number, latest.time) == (5, 0.5)
        before = _run(again.version_before("abc", 3))
        assert before is not None
        assert before.number == 2
        assert [one["version"] for one in _run(again.history("abc", 4, 2))] == [3, 2]
        assert [one["version"] for one in _run(again.over_time("abc", 0, 3))] == [1, 3, 5]
        assert [one["version"] for one in _run(again.over_time("abc", 3, 3))] == [4, 5]
        assert _run(again.over_time("nobody", 0, 3)) == []
        with pytest.raises(UnknownError):
            _run(again.version("abc", 9))
        assert _run(again.version("nobody")) is None
        _run(again.remove_network(changed))
        assert _run(again.networks()) == []
    finally:
        again.close()
        store.__init__(address)  # type: ignore[misc]  # for the fixture to close


def test_of_several_networks_the_latest_versions_are_found(store: Store) -> None:
    for row in (ROW, OLD):
        _run(store.add_network(row))
    for number in (1, 2, 10):
        _run(store.add_version(ROW, _version(number)))
    assert {id: one.number for id, one in _run(store.latest(["abc", "old", "nobody"])).items()} == {"abc": 10}
    assert _run(store.latest([])) == {}


def test_history_is_pruned_by_number_and_age_but_never_the_latest(store: Store) -> None:
    for row in (ROW, OLD):
        _run(store.add_network(row))
    for number in range(1, 9):
        _run(store.add_version(ROW, _version(number, at=100.0)))
        _run(store.add_version(OLD, _version(number, at=float(number))))
    assert _run(store.prune(["abc", "old"], versions=3, since=50.0)) == 5 + 7
    assert [one["version"] for one in _run(store.history("abc", None, 99))] == [8, 7, 6]
    assert [one["version"] for one in _run(store.history("old", None, 99))] == [8]


def test_a_long_history_is_deleted_a_few_at_a_time_so_that_others_can_write_between(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manetdiff.server.store.store.PRUNED_TOGETHER", 3)
    _run(store.add_network(ROW))
    for number in range(1, 9):
        _run(store.add_version(ROW, _version(number)))
    left, write = list[int](), store._write

    async def counted(job: Any) -> Any:
        left.append(len(await store.history("abc", None, 99)))
        return await write(job)

    monkeypatch.setattr(store, "_write", counted)
    _run(store.remove_network(ROW))
    assert left == [8, 5, 2]
    assert _run(store.networks()) == []
    assert _run(store.history("abc", None, 99)) == []


def test_one_that_cannot_be_written_does_not_take_others_with_it(store: Store) -> None:
    _run(store.add_network(ROW))

    async def at_once() -> list[Any]:
        jobs = [store.add_version(ROW, _version(number)) for number in (1, 2, 2, 3)]
        return await asyncio.gather(*jobs, return_exceptions=True)

    outcomes = _run(at_once())
    assert [isinstance(one, LaterError) for one in outcomes].count(True) == 1
    assert [one["version"] for one in _run(store.history("abc", None, 9))] == [3, 2, 1]


def test_the_migrations_make_the_tables_that_the_code_knows(store: Store, address: str) -> None:
    engine = opened(address)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_two_services_do_not_share_a_file(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    with pytest.raises(ServiceError, match="another service"):
        Store(f"sqlite:///{tmp_path / 'x.db'}")
    store.close()


def test_a_database_that_is_lost_is_said_and_found_again(store: Store, address: str) -> None:
    if not address.startswith("postgresql"):
        pytest.skip("SQLite is no server that goes away")
    engine = opened(address)
    with engine.connect() as connection:
        connection.execute(text(OTHERS))
    engine.dispose()
    for _ in range(3):  # connections that are broken are noticed and made again
        try:
            _run(store.add_network(dataclasses.replace(ROW, id="later")))
            break
        except LaterError:
            continue
    assert [row.id for row in _run(store.networks())] == ["later"]


@pytest.mark.parametrize("wrong", ["mysql://x/y", "nonsense", "sqlite://", "sqlite:////nowhere/at/all.db"])
def test_an_address_that_is_none_is_refused_without_repeating_a_password(wrong: str) -> None:
    with pytest.raises(ServiceError):
        Store(wrong)
    with pytest.raises(ServiceError) as error:
        Store("mysql://user:secret@host/name")
    assert "secret" not in str(error.value)


def test_deleting_rows_by_hand_leaves_no_orphans(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    _run(store.add_network(ROW))
    _run(store.add_version(ROW, _version(1)))
    engine = opened(f"sqlite:///{tmp_path / 'x.db'}")
    with engine.begin() as connection:
        connection.execute(delete(METADATA.tables["networks"]))
    engine.dispose()
    assert _run(store.history("abc", None, 9)) == []
    store.close()


def test_sqlite_is_durable_and_nobody_waits_for_readers(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    engine = opened(f"sqlite:///{tmp_path / 'x.db'}")
    with engine.connect() as connection:
        told = [connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous", "foreign_keys")]
        assert told == ["wal", 2, 1]
        assert connection.scalar(text("PRAGMA busy_timeout")) >= 5000
    engine.dispose()
    store.close()


def test_a_migration_that_is_cut_short_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"sqlite:///{tmp_path / 'x.db'}"
    create, made = Operations.create_table, []

    def cut_short(self: Operations, name: str, *columns: Any, **more: Any) -> Any:
        if name == "versions":
            raise KeyboardInterrupt
        made.append(name)
        return create(self, name, *columns, **more)

    monkeypatch.setattr(Operations, "create_table", cut_short)
    with pytest.raises(KeyboardInterrupt):
        Store(address)
    assert made == ["networks"]
    monkeypatch.undo()
    Store(address).close()


def test_a_database_of_a_release_to_come_is_said(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'x.db'}"
    Store(address).close()
    engine = opened(address)
    with engine.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    engine.dispose()
    with pytest.raises(ServiceError, match="not one of this release"):
        Store(address)
