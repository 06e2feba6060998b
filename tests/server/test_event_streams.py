"""Events for viewers: a snapshot, what changes, and for who is slow the state that is there now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from manetdiff.client.states import merged
from support.service import created, moved, report, service, small_fleet, until, viewing


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def network(client: TestClient) -> str:
    return created(client, least_gain=0.0)


def _report(client: TestClient, network: str, time: int, **more: Any) -> None:
    body = report(moved(small_fleet(8), time), float(time), **more)
    assert client.post(f"/v1/networks/{network}/positions", json=body).status_code == 200


def _state(client: TestClient, network: str) -> dict[str, Any]:
    state: dict[str, Any] = client.get(f"/v1/networks/{network}/state").json()
    return state


def _in_order(state: dict[str, Any]) -> dict[str, Any]:
    nodes = sorted(state["nodes"], key=lambda node: node["id"])
    links = sorted(state["links"], key=lambda link: (link["source"], link["target"]))
    return {**state, "nodes": nodes, "links": links}


def test_a_snapshot_and_its_changes_add_up_to_the_state(client: TestClient, network: str) -> None:
    with viewing(client, network) as events:
        name, state = next(events)
        assert (name, state["version"], state["nodes"]) == ("snapshot", None, [])
        for time in range(5):
            _report(client, network, time)
            name, change = next(events)
            assert (name, change["version"], change["sequence"]) == ("delta", time + 1, state["sequence"] + 1)
            state = merged(state, change)
            assert _in_order(state) == _in_order(_state(client, network))
        client.put(f"/v1/networks/{network}/pins", json={"silent": ["0"]})
        while state["sequence"] < _state(client, network)["sequence"]:
            state = merged(state, next(events)[1])
        assert state["network"]["pins"]["silent"] == ["0"]
        leaving = {"time": 9.0, "nodes": report(small_fleet(8), 9.0)["nodes"][:4], "complete": True}
        client.post(f"/v1/networks/{network}/positions", json=leaving)
        change = next(events)[1]
        assert sorted(change["gone"]) == ["4", "5", "6", "7"]
        assert _in_order(merged(state, change)) == _in_order(_state(client, network))


def test_a_change_holds_only_what_is_new(client: TestClient, network: str) -> None:
    _report(client, network, 0)
    with viewing(client, network) as events:
        assert len(next(events)[1]["nodes"]) == 8
        client.patch(f"/v1/networks/{network}", json={"name": "Other"})
        name, change = next(events)
        assert (name, change["nodes"], change["links"], change["gone"]) == ("delta", [], [], [])
        assert change["network"]["name"] == "Other"


def test_a_viewer_who_stalls_is_shown_the_latest_state_and_no_backlog(client: TestClient, network: str) -> None:
    with viewing(client, network) as events:
        assert next(events)[0] == "snapshot"
        for time in range(20):
            _report(client, network, time)
        seen: list[tuple[str, dict[str, Any]]] = []
        while not seen or seen[-1][1]["version"] < 20:
            seen.append(next(events))
        assert len(seen) <= 3  # what was on its way when it stalled, and then what is there now
        name, state = seen[-1]
        assert name == "snapshot"
        assert state == _state(client, network)
        _report(client, network, 20)
        assert next(events)[0] == "delta"


def test_viewers_of_a_deleted_network_are_told_and_the_stream_ends(client: TestClient, network: str) -> None:
    with viewing(client, network) as events:
        next(events)
        client.delete(f"/v1/networks/{network}")
        assert next(events) == ("deleted", {})
        assert next(events, None) is None


def test_viewers_who_leave_are_counted_out(client: TestClient, network: str) -> None:
    for _ in range(5):
        with viewing(client, network) as events:
            next(events)
    until(lambda: "manetdiff_viewers 0.0" in client.get("/metrics").text)


def test_a_stream_is_not_to_be_kept_or_held_back_on_its_way(client: TestClient, network: str) -> None:
    with client.stream("GET", f"/v1/networks/{network}/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert (answer.headers["cache-control"], answer.headers["x-accel-buffering"]) == ("no-store", "no")
        assert "content-security-policy" in answer.headers
    assert client.get("/v1/networks/nowhere/events").status_code == 404
