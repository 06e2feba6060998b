"""What comes while an update is under way: deletions, pins, settings, flights, and the end of the service."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from manetdiff.flights import explain
from manetdiff.server import live_network, updating
from manetdiff.server.config import Limits
from manetdiff.server.errors import LaterError, OverloadedError
from manetdiff.server.live_network import LiveNetwork
from manetdiff.server.messages_in import Positions
from manetdiff.server.networks import Networks
from manetdiff.server.routes import topology
from manetdiff.server.store import NetworkRow, Store
from manetdiff.server.store.database import opened
from manetdiff.server.store.writer import Writer
from manetdiff.server.versions import Version
from support.service import created, moved, report, service, small_fleet, until

LONGEST_S = 20.0


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with service(tmp_path) as made:
        yield made


@pytest.fixture
def beside() -> Iterator[Callable[..., Future[Any]]]:
    """Calls something in a thread of its own."""
    with ThreadPoolExecutor(8) as threads:
        yield threads.submit


class Held:
    """An update that is held up."""

    def __init__(self) -> None:
        self.begun, self.free = threading.Event(), threading.Event()


@contextmanager
def held_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """The next updates begin, and go on once they are free to."""
    held, made = Held(), updating.next_topology

    def waiting(*given: Any, **named: Any) -> Any:
        held.begun.set()
        assert held.free.wait(LONGEST_S)
        return made(*given, **named)

    monkeypatch.setattr(updating, "next_topology", waiting)
    try:
        yield held
    finally:
        held.free.set()
        monkeypatch.setattr(updating, "next_topology", made)


def _report(client: TestClient, network: str, time: float) -> Any:
    return client.post(f"/v1/networks/{network}/positions", json=report(moved(small_fleet(), int(time)), time))


def test_a_network_deleted_during_its_update_answers_who_waits_and_leaves_the_others_alone(
    client: TestClient, beside: Callable[..., Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    deleted, other = created(client), created(client)
    with held_up(monkeypatch) as held:
        waiting = [beside(_report, client, deleted, 0.0)]
        assert held.begun.wait(LONGEST_S)
        waiting += [beside(_report, client, deleted, time) for time in (1.0, 1.0)]
        until(lambda: client.get(f"/v1/networks/{deleted}").json()["counts"]["reports"] == 3)
        pinning = beside(client.put, f"/v1/networks/{deleted}/pins", json={"silent": ["0"]})
        assert client.delete(f"/v1/networks/{deleted}").status_code == 204
        assert [one.result(LONGEST_S).status_code for one in waiting] == [404] * 3
    assert pinning.result(LONGEST_S).status_code == 404
    assert _report(client, other, 0.0).json()["version"] == 1
    assert client.get(f"/v1/networks/{deleted}/history").status_code == 404


def test_a_write_that_nobody_waits_for_any_more_does_not_end_the_writer(tmp_path: Path) -> None:
    engine = opened(f"sqlite:///{tmp_path / 'x.db'}")
    writer, free, begun = Writer(engine), threading.Event(), threading.Event()

    def slow(_: object) -> None:
        begun.set()
        assert free.wait(LONGEST_S)

    under_way = writer.write(slow)
    assert begun.wait(LONGEST_S)
    waiting = writer.write(lambda _: 1)
    under_way.cancel()
    waiting.cancel()
    free.set()
    assert writer.write(lambda _: 7).result(5.0) == 7
    writer.close()
    engine.dispose()


def test_who_changes_the_name_does_not_undo_pins_that_were_set_meanwhile(
    client: TestClient, beside: Callable[..., Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = created(client)
    url = f"/v1/networks/{network}"
    _report(client, network, 0.0)
    with held_up(monkeypatch) as held:
        pinning = beside(client.put, f"{url}/pins", json={"silent": ["0"]})
        assert held.begun.wait(LONGEST_S)
        naming = beside(client.patch, url, json={"name": "Other"})
        loyal = beside(client.patch, url, json={"settings": {"loyalty": 2.0}})
        assert not naming.done()
    assert {one.result(LONGEST_S).status_code for one in (pinning, naming, loyal)} == {200}
    network_now = client.get(url).json()
    assert (network_now["name"], network_now["pins"]["silent"]) == ("Other", ["0"])
    assert network_now["settings"]["loyalty"] == 2.0


def test_pins_and_a_flight_that_change_at_the_same_time_are_both_kept(
    tmp_path: Path, beside: Callable[..., Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(tmp_path) as client:
        url = f"/v1/networks/{created(client)}"
        client.put(f"{url}/flight", json={"nodes": 4, "playing": False})
        with held_up(monkeypatch) as held:
            pinning = beside(client.put, f"{url}/pins", json={"silent": ["0"]})
            assert held.begun.wait(LONGEST_S)
            flying = beside(client.patch, f"{url}/flight", json={"speed": 9.0})
        assert {pinning.result(LONGEST_S).status_code, flying.result(LONGEST_S).status_code} == {200}
    with service(tmp_path) as client:
        kept = client.get(url).json()
        assert (kept["pins"]["silent"], kept["flight"]["speed"]) == (["0"], 9.0)


def test_of_flights_that_are_begun_at_once_one_is_flown_and_none_after_landing(
    client: TestClient, beside: Callable[..., Future[Any]]
) -> None:
    url = f"/v1/networks/{created(client)}"
    plans = [{"nodes": nodes, "rate": 20, "speed": 1} for nodes in (4, 5, 6, 7)]
    begun = [beside(client.put, f"{url}/flight", json=plan) for plan in plans]
    assert {one.result(LONGEST_S).status_code for one in begun} == {200}
    chosen = client.get(url).json()
    until(lambda: client.get(url).json()["version"] > chosen["version"] + 3)
    assert client.get(url).json()["nodes"] == chosen["nodes"]
    landed = client.delete(f"{url}/flight").json()
    threading.Event().wait(0.3)
    assert client.get(url).json()["version"] == landed["version"]


def test_a_flight_that_cannot_be_begun_changes_nothing(tmp_path: Path) -> None:
    with service(tmp_path, limits=Limits(nodes=8)) as client:
        network = created(client)
        _report(client, network, 0.0)
        refused = client.put(f"/v1/networks/{network}/flight", json={"nodes": 9})
        assert (refused.status_code, "at most 8" in refused.json()["detail"]) == (422, True)
        now = client.get(f"/v1/networks/{network}").json()
        assert (now["flight"], now["nodes"], now["version"]) == (None, 6, 1)
        assert _report(client, network, 1.0).json()["version"] == 2


def test_a_flight_follows_a_report_of_any_time(client: TestClient) -> None:
    network = created(client)
    assert _report(client, network, 1e12).status_code == 200
    flown = client.put(f"/v1/networks/{network}/flight", json={"nodes": 4})
    assert (flown.status_code, flown.json()["nodes"]) == (200, 4)


def test_a_node_that_is_dragged_to_the_end_of_the_world_flies_on(client: TestClient) -> None:
    network = created(client)
    url = f"/v1/networks/{network}"
    client.put(f"{url}/flight", json={"nodes": 4, "rate": 20, "speed": 100})
    edge = {"time": 0, "nodes": [{"id": "0", "x": 1e9, "y": -1e9, "yaw": 1e6}]}
    for _ in range(3):
        assert client.post(f"{url}/positions", json=edge).status_code == 200
        version = client.get(url).json()["version"]
        until(lambda version=version: client.get(url).json()["version"] > version + 1)  # type: ignore[misc]
    assert 'manetdiff_failures_total{kind="ValidationError"}' not in client.get("/metrics").text


def test_who_waits_when_the_service_ends_is_told_to_come_again(
    client: TestClient, beside: Callable[..., Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = created(client)
    with held_up(monkeypatch) as held:
        waiting = beside(_report, client, network, 0.0)
        assert held.begun.wait(LONGEST_S)
        assert client.portal is not None
        networks: Networks = client.app._app.state.networks  # type: ignore[attr-defined]
        client.portal.call(networks.close)
        answer = waiting.result(LONGEST_S)
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)


@pytest.mark.parametrize("written", [True, False])
def test_a_write_that_fails_is_said_and_the_next_version_has_a_number_of_its_own(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    network, add = created(client), Store.add_version
    _report(client, network, 0.0)

    async def failing(store: Store, row: NetworkRow, version: Version) -> None:
        if written:  # and then the connection broke
            await add(store, row, version)
        raise LaterError("the database does not take it", 2.0)

    monkeypatch.setattr(Store, "add_version", failing)
    refused = _report(client, network, 1.0)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    assert client.get(f"/v1/networks/{network}").json()["version"] == 1
    monkeypatch.setattr(Store, "add_version", add)
    assert _report(client, network, 2.0).json()["version"] == (3 if written else 2)


def test_an_update_that_fails_in_a_way_nobody_has_foreseen_fails_alone(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, made = created(client), updating.next_topology
    logged: list[Exception] = []

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("broken for a test")

    monkeypatch.setattr(LiveNetwork, "failed", lambda _, error: logged.append(error))
    monkeypatch.setattr(updating, "next_topology", broken)
    with capture_logs():
        failed = _report(client, network, 0.0)
    assert (failed.status_code, "broken" in failed.text) == (500, False)
    assert [str(one) for one in logged] == ["broken for a test"]
    monkeypatch.setattr(updating, "next_topology", made)
    assert _report(client, network, 1.0).json()["version"] == 1


def test_pins_that_are_being_set_when_their_network_is_deleted_are_told_so(
    client: TestClient, beside: Callable[..., Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = created(client)
    _report(client, network, 0.0)
    with held_up(monkeypatch) as held:
        pinning = beside(client.put, f"/v1/networks/{network}/pins", json={"silent": ["0"]})
        assert held.begun.wait(LONGEST_S)
        assert client.delete(f"/v1/networks/{network}").status_code == 204
    assert pinning.result(LONGEST_S).status_code == 404


def test_a_flight_whose_first_moment_there_is_no_time_for_is_flown_or_not_but_never_left_in_the_air(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, take = created(client), LiveNetwork.take_moment
    url = f"/v1/networks/{network}"

    async def too_busy(_: LiveNetwork, __: Positions) -> None:
        raise OverloadedError("too much to do, for a test")

    monkeypatch.setattr(LiveNetwork, "take_moment", too_busy)
    begun = client.put(f"{url}/flight", json={"nodes": 4, "rate": 20})
    assert begun.status_code in (200, 503)
    monkeypatch.setattr(LiveNetwork, "take_moment", take)
    if client.get(url).json()["flight"] is None:
        assert _report(client, network, 0.0).json()["version"] == 1
    else:
        until(lambda: (client.get(url).json()["version"] or 0) >= 2)


def test_who_wants_to_see_something_that_takes_its_time_does_not_hold_up_reports(
    client: TestClient, beside: Callable[..., Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, free, begun = created(client), threading.Event(), threading.Event()
    _report(client, network, 0.0)
    _report(client, network, 1.0)

    def slow(*given: Any) -> Any:
        begun.set()
        assert free.wait(LONGEST_S)
        return explain(*given)

    monkeypatch.setattr(topology, "explain", slow)
    looking = beside(client.get, f"/v1/networks/{network}/explain")
    assert begun.wait(LONGEST_S)
    reporting = beside(_report, client, network, 2.0)
    try:
        assert reporting.result(5.0).json()["version"] == 3
    finally:
        free.set()
    assert looking.result(LONGEST_S).status_code == 200


def test_of_reports_that_come_together_those_beyond_a_second_of_work_are_shed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(tmp_path) as client:
        networks = [created(client) for _ in range(30)]
        held: Networks = client.app._app.state.networks  # type: ignore[attr-defined]
        monkeypatch.setattr(held.services.pool, "_usual_s", 0.3)

        async def at_once() -> list[Any]:
            given = Positions.model_validate(report(small_fleet(), 0.0))
            reports = (held.find(one).report(given) for one in networks)
            return [*await asyncio.gather(*reports, return_exceptions=True)]

        assert client.portal is not None
        outcomes = client.portal.call(at_once)
        assert 0 < sum(isinstance(one, OverloadedError) for one in outcomes) < 30
        assert held.services.pool.waiting == 0


def test_few_may_wait_to_change_a_network(
    client: TestClient, beside: Callable[..., Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = created(client)
    _report(client, network, 0.0)
    monkeypatch.setattr(live_network, "MOST_CHANGES", 2)
    with held_up(monkeypatch) as held:
        waiting = [beside(client.put, f"/v1/networks/{network}/pins", json={"silent": ["0"]}) for _ in range(2)]
        assert held.begun.wait(LONGEST_S)
        until(lambda: client.app._app.state.networks.find(network)._changes == 2)  # type: ignore[attr-defined]
        refused = client.patch(f"/v1/networks/{network}", json={"name": "Other"})
        assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
    assert {one.result(LONGEST_S).status_code for one in waiting} == {200}


def test_a_network_whose_deletion_fails_is_there_for_the_next_attempt(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, remove = created(client), Store.remove_network

    async def failing(_: Store, __: str) -> None:
        raise LaterError("the database does not take it", 2.0)

    monkeypatch.setattr(Store, "remove_network", failing)
    assert client.delete(f"/v1/networks/{network}").status_code == 503
    assert _report(client, network, 0.0).status_code == 200
    monkeypatch.setattr(Store, "remove_network", remove)
    assert client.delete(f"/v1/networks/{network}").status_code == 204
    assert client.get(f"/v1/networks/{network}").status_code == 404


def test_who_leaves_by_a_late_report_of_all_nodes_leads_to_a_version(client: TestClient) -> None:
    network = created(client)
    url = f"/v1/networks/{network}/positions"
    everyone = report(small_fleet(), 5.0)
    client.post(url, json=everyone)
    client.post(url, json={"time": 10.0, "nodes": everyone["nodes"][1:]})
    late = client.post(url, json={"time": 7.0, "nodes": everyone["nodes"][1:], "complete": True}).json()
    assert (late["version"], late["older"]) == (3, 5)
    assert len(client.get(f"/v1/networks/{network}/state").json()["nodes"]) == 5
    older = client.post(url, json={"time": 6.0, "nodes": everyone["nodes"][1:]}).json()
    assert (older["version"], older["changed"], older["added"]) == (3, False, 0)
