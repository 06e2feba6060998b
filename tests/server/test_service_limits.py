"""Limits: what is too much is refused with a word, and what is there goes on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse

from manetdiff.server import updating
from manetdiff.server.config import Limits
from support.service import created, report, sending, service, small_fleet, until, viewing

LIMITS = Limits(body=5000, nodes=8, networks=6, viewers=2, senders=2, rate=0.05, burst=4.0)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service"), limits=LIMITS) as made:
        yield made


@pytest.fixture
def network(client: TestClient) -> Iterator[str]:
    made = created(client)
    yield made
    client.delete(f"/v1/networks/{made}")


def _post(client: TestClient, network: str, body: dict[str, Any]) -> Any:
    return client.post(f"/v1/networks/{network}/positions", json=body)


def test_too_many_nodes(client: TestClient, network: str) -> None:
    answer = _post(client, network, report(small_fleet(9), 0.0))
    assert (answer.status_code, "at most 8" in answer.json()["detail"]) == (422, True)
    assert _post(client, network, report(small_fleet(8), 0.0)).json()["version"] == 1
    one_more = {"time": 1.0, "nodes": [{"id": "new", "x": 0.0, "y": 0.0}]}
    assert _post(client, network, one_more).status_code == 422
    assert client.get(f"/v1/networks/{network}").json()["nodes"] == 8


def test_too_many_networks(client: TestClient) -> None:
    made = []
    while (answer := client.post("/v1/networks", json={"name": "One more"})).status_code == 201:
        made.append(answer.json()["id"])
    assert (answer.status_code, "6 networks" in answer.json()["detail"]) == (409, True)
    assert len(client.get("/v1/networks").json()["networks"]) == 6
    assert client.delete(f"/v1/networks/{made.pop()}").status_code == 204
    made.append(created(client))
    for one in made:
        client.delete(f"/v1/networks/{one}")


def test_too_many_reports_a_second(client: TestClient, network: str) -> None:
    answers = [_post(client, network, report(small_fleet(4), float(time))) for time in range(6)]
    assert [answer.status_code for answer in answers[:4]] == [200] * 4
    assert {answer.status_code for answer in answers[4:]} == {429}
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert "0.05 reports a second" in answers[-1].json()["detail"]
    assert _post(client, created(client), report(small_fleet(4), 0.0)).status_code == 200  # others are not held up


def test_too_many_viewers(client: TestClient, network: str) -> None:
    with viewing(client, network) as first, viewing(client, network) as second:
        assert [next(first)[0], next(second)[0]] == ["snapshot", "snapshot"]
        third = client.get(f"/v1/networks/{network}/events")
        assert (third.status_code, third.headers["retry-after"]) == (503, "5")
        assert "manetdiff_viewers 2.0" in client.get("/metrics").text
    until(lambda: "manetdiff_viewers 0.0" in client.get("/metrics").text)
    with viewing(client, network) as again:
        assert next(again)[0] == "snapshot"


def test_too_many_senders(client: TestClient, network: str) -> None:
    with sending(client, network) as first, sending(client, network):
        with pytest.raises(WebSocketDenialResponse) as denied, sending(client, network):
            pass
        assert (denied.value.status_code, denied.value.headers["retry-after"]) == (503, "5")
        first.send_json({"positions": report(small_fleet(4), 0.0)})
        assert first.receive_json()["version"] == 1
    with sending(client, network):
        pass


@pytest.mark.parametrize("declared", [True, False])
def test_bodies_that_are_too_long_whether_they_say_so_or_not(client: TestClient, network: str, declared: bool) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b" " * 1000

    content: Any = b" " * 5001 if declared else endless()
    url, headers = f"/v1/networks/{network}/positions", {"Content-Type": "application/json"}
    answer = client.post(url, content=content, headers=headers)
    assert (answer.status_code, "5,000 bytes" in answer.json()["detail"]) == (413, True)


@contextlib.contextmanager
def _slow_updates(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Updates that take until the event is set."""
    free, made = threading.Event(), updating.next_topology

    def waiting(*given: Any, **named: Any) -> Any:
        assert free.wait(20.0)
        return made(*given, **named)

    monkeypatch.setattr(updating, "next_topology", waiting)
    try:
        yield free
    finally:
        free.set()


def test_more_work_than_there_is_time_for_is_shed_and_what_was_taken_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(tmp_path, limits=Limits(longest_wait=0.05)) as client:
        networks = [created(client) for _ in range(20)]
        with _slow_updates(monkeypatch) as free:
            body = report(small_fleet(4), 0.0)
            taken, shed = list[Any](), list[Any]()
            for one in networks:
                answer = client.post(f"/v1/networks/{one}/positions?wait=false", json=body)
                (taken if answer.status_code == 202 else shed).append((one, answer))
            assert taken
            assert shed
            for _, answer in shed:
                assert (answer.status_code, int(answer.headers["retry-after"]) >= 1) == (503, True)
            assert client.get("/healthz").status_code == 200
            free.set()
        for one, _ in taken:
            until(lambda one=one: client.get(f"/v1/networks/{one}").json()["version"] is not None)  # type: ignore[misc]
        for one, _ in shed:
            described = client.get(f"/v1/networks/{one}").json()
            assert (described["version"], described["nodes"], described["counts"]["shed"]) == (None, 0, 1)
