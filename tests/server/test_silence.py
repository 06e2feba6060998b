"""Nodes that fall silent, come back, and clocks that jump, as senders and viewers see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from support.service import created, report, service, small_fleet, until, viewing


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service")) as made:
        yield made


def _report(client: TestClient, network: str, time: float, *ids: str) -> Any:
    nodes = [node for node in report(small_fleet(), time)["nodes"] if not ids or node["id"] in ids]
    return client.post(f"/v1/networks/{network}/positions", json={"time": time, "nodes": nodes})


def _shown(client: TestClient, network: str) -> dict[str, bool]:
    """Nodes that are there, and whether they are stale."""
    state = client.get(f"/v1/networks/{network}/state").json()
    return {node["id"]: node["stale"] for node in state["nodes"]}


def test_a_silent_node_is_marked_then_taken_out_and_taken_in_when_it_comes_back(client: TestClient) -> None:
    network = created(client, stale=5.0, gone=8.0)
    everyone, others = tuple("012345"), tuple("12345")
    _report(client, network, 0.0)
    assert _shown(client, network) == dict.fromkeys(everyone, False)
    _report(client, network, 6.0, *others)
    assert _shown(client, network) == {**dict.fromkeys(everyone, False), "0": True}
    assert client.get(f"/v1/networks/{network}").json()["stale"] == ["0"]
    _report(client, network, 9.0, *others)
    assert _shown(client, network) == dict.fromkeys(others, False)
    links = client.get(f"/v1/networks/{network}/state").json()["links"]
    assert not [one for one in links if "0" in (one["source"], one["target"])]
    answer = _report(client, network, 10.0, "0").json()
    assert _shown(client, network) == dict.fromkeys(everyone, False)
    assert answer["metrics"]["connected"] == 1.0


def test_a_network_without_any_news_is_marked_and_emptied_by_the_servers_own_clock(client: TestClient) -> None:
    network = created(client, stale=0.2, gone=2.0)
    with viewing(client, network) as events:
        assert next(events)[1]["nodes"] == []
        _report(client, network, 0.0)
        marked = next(state for _, state in events if state["network"]["stale"])
        assert marked["version"] == 1
        assert set(marked["network"]["stale"]) <= set("012345")
        emptied = next(state for _, state in events if state["network"]["nodes"] == 0)
        assert emptied["network"]["waiting"] == "positions of at least 2 more nodes"
    assert _shown(client, network) == dict.fromkeys("012345", True)  # the last that was known, and nobody is there
    answer = _report(client, network, 1.0).json()
    assert answer["version"] == 2
    assert answer["metrics"]["connected"] == 1.0


@pytest.mark.parametrize("jump", [1e6, -1e6])
def test_a_clock_that_jumps_is_refused_and_taken_after_a_silence(client: TestClient, jump: float) -> None:
    network = created(client, stale=1.0, gone=60.0)
    _report(client, network, 2e6)
    refused = _report(client, network, 2e6 + jump)
    assert (refused.status_code, "clock" in refused.json()["detail"]) == (409, True)
    assert client.get(f"/v1/networks/{network}").json()["version"] == 1
    assert _report(client, network, 2e6 + 0.5).status_code == 200
    until(lambda: _report(client, network, 2e6 + jump).status_code == 200)
    assert client.get(f"/v1/networks/{network}").json()["time"] == 2e6 + jump
    assert set(_shown(client, network)) == set("012345")


def test_one_report_from_the_future_takes_nobody_else_out(client: TestClient) -> None:
    network = created(client, stale=0.2, gone=30.0)
    _report(client, network, 0.0)
    assert _report(client, network, 3000.0, "0").status_code == 200
    answer = _report(client, network, 1.0, *"12345").json()
    assert (answer["older"], answer["metrics"]["connected"]) == (0, 1.0)
    assert set(_shown(client, network)) == set("012345")
