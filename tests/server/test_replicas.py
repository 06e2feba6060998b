"""Two services on one PostgreSQL: any shows a network, one runs it, the other takes over."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from manetdiff.server.config import Limits
from manetdiff.server.errors import LaterError, MovedError
from manetdiff.server.networks import Networks
from support.postgres import postgres
from support.service import created, moved, report, service, small_fleet, until, viewing

READ = (
    *("topology", "topology?version=1", "state?version=1", "history", "metrics-over-time"),
    *("transition", "explain", "denoising?steps=2"),
)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgres() as address:
        yield address


def _networks(client: TestClient) -> Networks:
    networks: Networks = client.app._app.state.networks  # type: ignore[attr-defined]
    return networks


def _reported(client: TestClient, network: str, time: float) -> Any:
    return client.post(f"/v1/networks/{network}/positions", json=report(moved(small_fleet(), int(time)), time))


def _without_counts(described: dict[str, Any]) -> dict[str, Any]:
    return {**described, "counts": None}


def test_any_shows_a_network_one_runs_it_and_the_other_takes_over(database: str, tmp_path: Path) -> None:
    with service(tmp_path, database=database, limits=Limits(networks=2)) as second:
        with service(tmp_path, database=database, limits=Limits(networks=2)) as first:
            network = created(first)
            for time in (1.0, 2.0):
                assert _reported(first, network, time).status_code == 200
            first.patch(f"/v1/networks/{network}", json={"name": "Renamed"})
            url = f"/v1/networks/{network}"
            # What is read is the same at both.
            assert _without_counts(second.get(url).json()) == _without_counts(first.get(url).json())
            for path in READ:
                here, there = first.get(f"{url}/{path}"), second.get(f"{url}/{path}")
                assert (here.status_code, there.status_code) == (200, 200), path
                if "denoising" not in path and "state" not in path:
                    assert here.json() == there.json(), path
            shown = second.get(f"{url}/state").json()
            assert (shown["version"], shown["sequence"], shown["network"]["name"]) == (2, 0, "Renamed")
            other = created(second)
            for client in (first, second):
                assert [one["id"] for one in client.get("/v1/networks").json()["networks"]] == [network, other]
                assert client.post("/v1/networks", json={"name": "One more"}).status_code == 409
                assert client.get("/v1/networks/unknown").status_code == 404
                assert client.delete("/v1/networks/unknown").status_code == 404
                for method in ("GET", "DELETE"):
                    assert client.request(method, "/v1/networks/a%00b").status_code == 404
                assert client.head(f"{url}/events").status_code == 405
                assert client.get("/readyz").status_code == 200
            # The other one cannot reach its owner, which does not say where it is.
            refused = _reported(second, network, 3.0)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert "--advertise" in refused.json()["detail"]
            with contextlib.suppress(Exception), second.websocket_connect(f"ws://localhost{url}/ingest"):
                pytest.fail("nobody is there to talk to")
        # The first one has stopped.
        until(lambda: _reported(second, network, 4.0).status_code == 200)
        assert second.get(url).json()["version"] == 3
        counters = second.get("/metrics").text
        assert "manetdiff_taken_over_total 1.0" in counters
        assert "manetdiff_networks 2.0" in counters
        for one in (network, other):
            assert second.delete(f"/v1/networks/{one}").status_code == 204
        assert second.get("/v1/networks").json() == {"networks": []}


def test_who_is_no_longer_the_owner_says_so_and_lets_its_viewers_go(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("manetdiff.server.membership.BEAT_S", 600.0)  # it notices nothing by itself
    monkeypatch.setattr("manetdiff.server.membership.HELD_S", 600.0)
    with service(tmp_path, database=database) as client:
        network = created(client)
        assert _reported(client, network, 1.0).status_code == 200
        networks = _networks(client)
        assert client.portal is not None
        assert networks.membership is not None
        with viewing(client, network) as events:
            assert next(events)[0] == "snapshot"
            store = networks.services.store
            (seen,) = client.portal.call(store.beat).networks
            assert client.portal.call(store.take, seen)  # as another one would have
            for time in (2.0, 3.0):
                refused = _reported(client, network, time)
                assert (refused.status_code, "another replica" in refused.json()["detail"]) == (503, True)
            assert [one["version"] for one in client.portal.call(store.history, network, None, 9)] == [1]
            client.portal.call(networks.membership._beat)
            assert list(events) == []  # the stream has ended
        until(lambda: _reported(client, network, 4.0).status_code == 200)  # its own again, under the next fence
        assert client.get(f"/v1/networks/{network}").json()["version"] == 2
        assert "manetdiff_given_up_total 1.0" in client.get("/metrics").text
        client.delete(f"/v1/networks/{network}")


def test_a_network_that_is_given_up_before_its_flight_has_begun_is_not_flown(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(tmp_path, database=database) as client:
        network = created(client)
        networks = _networks(client)
        live = networks.find(network)

        async def given_up(_: Any) -> None:
            await networks.give_up(network)
            raise MovedError("another replica runs this network now")

        monkeypatch.setattr(live, "take_moment", given_up)
        assert client.put(f"/v1/networks/{network}/flight", json={"nodes": 4}).status_code == 503
        assert live.pilot._task is None
        until(lambda: client.delete(f"/v1/networks/{network}").status_code == 204)  # it is taken up again


def test_a_sign_of_life_that_fails_ends_streams_and_what_is_read_comes_from_the_database(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(tmp_path, database=database) as client:
        network = created(client)
        _reported(client, network, 1.0)
        networks = _networks(client)

        async def broken() -> None:
            raise LaterError("the database does not take it")

        with viewing(client, network) as events:
            assert next(events)[0] == "snapshot"
            monkeypatch.setattr(networks.services.store, "beat", broken)
            assert list(events) == []  # the stream has ended
        assert not networks.is_here(network)
        assert client.get(f"/v1/networks/{network}/state").json()["sequence"] == 0
        monkeypatch.undo()
        until(lambda: networks.is_here(network))
        with viewing(client, network) as events:
            assert next(events)[0] == "snapshot"
        client.delete(f"/v1/networks/{network}")


def test_without_a_sign_of_life_nothing_is_answered_from_memory(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(tmp_path, database=database) as client:
        network = created(client)
        _reported(client, network, 1.0)
        networks = _networks(client)
        assert networks.is_here(network)
        monkeypatch.setattr("manetdiff.server.membership.HELD_S", -1.0)
        assert not networks.is_here(network)
        assert client.get(f"/v1/networks/{network}/state").json()["sequence"] == 0  # from the database
        assert _reported(client, network, 2.0).status_code == 503
        monkeypatch.undo()
        assert _reported(client, network, 3.0).json()["version"] == 2
        client.delete(f"/v1/networks/{network}")


def test_flights_go_on_at_who_takes_over(database: str, tmp_path: Path) -> None:
    with service(tmp_path, database=database) as second:
        with service(tmp_path, database=database) as first:
            network = created(first)
            url = f"/v1/networks/{network}"
            first.put(f"{url}/flight", json={"nodes": 4, "rate": 20, "speed": 1})
            until(lambda: first.get(url).json()["version"] >= 3)
            assert second.get(url).json()["flight"]["nodes"] == 4
        version = second.get(url).json()["version"]
        until(lambda: second.get(url).json()["version"] > version)
        assert second.get(url).json()["flight"]["playing"]
