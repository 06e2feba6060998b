"""A service that is started again on its database goes on where it was."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from support.service import created, moved, report, service, small_fleet, until


def _in_degrees(body: dict[str, Any]) -> dict[str, Any]:
    """The same fleet over the Alps."""
    rows = [
        {
            "id": one["id"],
            "lat": 47.0 + one["y"] / 111_200.0,
            "lon": 8.5 + one["x"] / 75_800.0,
            "heading": 90.0 - math.degrees(one["yaw"]),
        }
        for one in body["nodes"]
    ]
    return {**body, "nodes": rows}


def _documents(client: TestClient, network: str) -> list[Any]:
    paths = (
        "topology",
        "topology?version=1",
        "state?version=2",
        "history",
        "metrics-over-time",
        "transition",
        "explain",
    )
    answers = [client.get(f"/v1/networks/{network}/{path}") for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    documents = [answer.json() for answer in answers]
    documents[2]["network"].pop("counts")  # which begin anew
    return documents


@pytest.mark.parametrize("kind", ["metres", "degrees"])
def test_the_same_versions_are_there_and_the_next_one_follows(tmp_path: Path, kind: str) -> None:
    fleet = small_fleet(8)

    def news(time: float) -> dict[str, Any]:
        body = report(moved(fleet, int(time)), time)
        return body if kind == "metres" else _in_degrees(body)

    with service(tmp_path) as client:
        network = created(client, setup=1.0)
        url = f"/v1/networks/{network}"
        for time in range(3):
            client.post(f"{url}/positions", json=news(float(time)))
        client.patch(url, json={"name": "Renamed"})
        client.put(f"{url}/pins", json={"silent": ["nobody"]})
        described, documents = client.get(url).json(), _documents(client, network)
    with service(tmp_path) as client:
        again = client.get(url).json()
        assert {**again, "counts": 0} == {**described, "counts": 0}
        assert _documents(client, network) == documents
        one = {"time": 4.0, "nodes": news(4.0)["nodes"][:1]}
        answer = client.post(f"{url}/positions", json=one).json()
        assert answer["version"] == again["version"] + 1
        state = client.get(f"{url}/state").json()
        assert len(state["nodes"]) == again["nodes"]
        assert state["update"]["mode"] != "generated"


def test_deleted_networks_stay_deleted(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        kept, deleted = created(client), created(client)
        client.post(f"/v1/networks/{deleted}/positions", json=report(small_fleet(), 0.0))
        client.delete(f"/v1/networks/{deleted}")
    with service(tmp_path) as client:
        assert [one["id"] for one in client.get("/v1/networks").json()["networks"]] == [kept]


def test_whatever_clock_comes_first_after_a_restart_is_taken(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        network = created(client)
        client.post(f"/v1/networks/{network}/positions", json=report(small_fleet(), 1e9))
    with service(tmp_path) as client:
        answer = client.post(f"/v1/networks/{network}/positions", json=report(moved(small_fleet(), 1), 5.0)).json()
        assert (answer["version"], answer["time"], answer["older"]) == (2, 5.0, 0)


def test_nodes_set_apart_beyond_what_a_report_may_say_do_not_keep_the_service_from_starting(tmp_path: Path) -> None:
    edge = [{"id": name, "x": 0.0, "y": 1e9} for name in "ABC"]
    with service(tmp_path) as client:
        network = created(client)
        assert client.post(f"/v1/networks/{network}/positions", json={"time": 0, "nodes": edge}).status_code == 200
    with service(tmp_path) as client:
        news = {"time": 1, "nodes": [{"id": "A", "x": 10.0, "y": 1e9 - 10.0}]}
        assert client.post(f"/v1/networks/{network}/positions", json=news).json()["version"] == 2


def test_a_flight_goes_on_from_where_the_fleet_was(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        network = created(client)
        url = f"/v1/networks/{network}"
        client.put(f"{url}/flight", json={"nodes": 4, "rate": 20, "speed": 1})
        until(lambda: client.get(url).json()["version"] >= 3)
    with service(tmp_path) as client:
        resumed = client.get(url).json()
        assert resumed["flight"]["playing"]
        assert resumed["version"] >= 4
        until(lambda: client.get(url).json()["version"] > resumed["version"])
