"""The HTTP interface from end to end: networks, positions in, topologies out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import manetdiff as md
from manetdiff.formats import read_topology
from support.service import created, moved, report, service, small_fleet, until

# A network in parts shows in its metrics; here some are.
pytestmark = pytest.mark.filterwarnings("ignore::manetdiff.errors.DisconnectedWarning")

IN_DEGREES = [
    {"id": "A", "lat": 47.1, "lon": 8.5, "alt": 1200, "heading": 90},
    {"id": "B", "lat": 47.13, "lon": 8.55, "alt": 1300, "heading": 95},
    {"id": "C", "lat": 47.09, "lon": 8.58, "alt": 1250, "heading": 80},
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture(scope="module")
def flown(client: TestClient) -> str:
    """A network with eight versions."""
    network, fleet = created(client, least_gain=0.0), small_fleet(8)
    for time in range(8):
        answer = client.post(f"/v1/networks/{network}/positions", json=report(moved(fleet, time), float(time)))
        assert answer.json()["version"] == time + 1
    return network


def _said(client: TestClient, path: str) -> Any:
    answer = client.get(f"/v1/networks/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def _pairs(links: list[list[str]]) -> set[frozenset[str]]:
    return {frozenset(link) for link in links}


def _links(client: TestClient, network: str, version: int) -> set[frozenset[str]]:
    return _pairs(
        [[one["source"], one["target"]] for one in _said(client, f"{network}/state?version={version}")["links"]]
    )


def test_a_network_is_made_listed_read_changed_and_deleted(client: TestClient) -> None:
    wanted = {"name": "Relay", "radio": {"sectors": 6}, "settings": {"setup": 2.0}, "pins": {"silent": ["A"]}}
    answer = client.post("/v1/networks", json=wanted)
    assert answer.status_code == 201
    made = answer.json()
    assert answer.headers["location"] == f"/v1/networks/{made['id']}"
    assert (made["name"], made["version"], made["nodes"], made["links"]) == ("Relay", None, 0, 0)
    assert (made["radio"]["sectors"], made["settings"]["setup"], made["pins"]["silent"]) == (6, 2.0, ["A"])
    assert made["waiting"] == "positions of at least 2 more nodes"
    assert made in _said(client, "")["networks"]
    assert _said(client, made["id"]) == made

    changed = client.patch(f"/v1/networks/{made['id']}", json={"name": "Other", "settings": {"stale": 3.0}}).json()
    assert (changed["name"], changed["settings"]["stale"], changed["settings"]["setup"]) == ("Other", 3.0, 2.0)
    assert _said(client, made["id"]) == changed

    assert client.delete(f"/v1/networks/{made['id']}").status_code == 204
    assert client.get(f"/v1/networks/{made['id']}").status_code == 404
    assert client.delete(f"/v1/networks/{made['id']}").status_code == 404
    assert made["id"] not in [one["id"] for one in _said(client, "")["networks"]]


def test_settings_that_do_not_go_together_change_nothing(client: TestClient) -> None:
    network = created(client)
    before = _said(client, network)
    answer = client.patch(f"/v1/networks/{network}", json={"name": "New", "settings": {"stale": 60.0}})
    assert answer.status_code == 422
    assert "gone must not be less than stale" in answer.json()["detail"]
    assert _said(client, network) == before


def test_a_report_answers_its_version_and_netjson_reads_back_to_the_same_topology(
    client: TestClient, tmp_path: Path
) -> None:
    network, fleet = created(client), small_fleet(8)
    answer = client.post(f"/v1/networks/{network}/positions", json=report(fleet, 4.0)).json()
    assert (answer["version"], answer["time"], answer["changed"], answer["older"]) == (1, 4.0, True, 0)
    assert answer["waiting"] is None
    graph = _said(client, f"{network}/topology")
    assert (graph["type"], graph["properties"]["version"], graph["properties"]["time"]) == ("NetworkGraph", 1, 4.0)
    (tmp_path / "graph.json").write_text(json.dumps(graph))
    read, topology = read_topology(tmp_path / "graph.json")
    assert np.array_equal(read.positions, fleet.positions)
    assert md.metrics(topology) == answer["metrics"]
    assert len(topology.links) == answer["added"]


def test_positions_in_degrees_come_back_in_degrees(client: TestClient) -> None:
    network = created(client)
    body = {"time": 1763459000.0, "nodes": IN_DEGREES}
    assert client.post(f"/v1/networks/{network}/positions", json=body).status_code == 200
    for node, said in zip(_said(client, f"{network}/topology")["nodes"], IN_DEGREES, strict=True):
        told = {name: node["properties"][name] for name in ("lat", "lon", "alt", "heading")}
        assert told == pytest.approx({name: said[name] for name in told}, abs=1e-6)
    frame = _said(client, f"{network}/state")["frame"]
    assert abs(frame["lat"] - 47.1) < 0.1
    metres = client.post(f"/v1/networks/{network}/positions", json=report(small_fleet(2), 1763459001.0))
    assert (metres.status_code, "degrees" in metres.json()["detail"]) == (422, True)


def test_without_waiting_a_report_is_taken_at_once_and_its_version_follows(client: TestClient) -> None:
    network = created(client)
    answer = client.post(f"/v1/networks/{network}/positions?wait=false", json=report(small_fleet(), 0.0))
    assert (answer.status_code, answer.json()) == (202, {"accepted": 6, "older": 0, "left_out": 0})
    until(lambda: _said(client, network)["version"] == 1)
    late = client.post(f"/v1/networks/{network}/positions?wait=false", json=report(small_fleet(), -1.0))
    assert (late.status_code, late.json()) == (202, {"accepted": 0, "older": 6, "left_out": 0})


def test_older_reports_are_counted_and_dropped(client: TestClient) -> None:
    network, fleet = created(client), small_fleet()
    url = f"/v1/networks/{network}/positions"
    client.post(url, json=report(fleet, 10.0))
    answer = client.post(url, json=report(moved(fleet, 1), 9.0)).json()
    assert (answer["version"], answer["older"]) == (1, 6)
    nodes = report(moved(fleet, 2), 9.5)["nodes"]
    mixed = client.post(url, json={"time": 9.5, "nodes": [nodes[0], {"id": "new", "x": 0.0, "y": 0.0}]}).json()
    assert (mixed["version"], mixed["older"]) == (2, 1)
    assert _said(client, network)["counts"] == {"reports": 3, "older": 7, "shed": 0}
    places = {node["id"]: node["x"] for node in _said(client, f"{network}/state")["nodes"]}
    assert places == {**dict(zip(fleet.ids, fleet.horizontal[:, 0].tolist(), strict=True)), "new": 0.0}
    assert "manetdiff_older_nodes_total" in client.get("/metrics").text


def test_nodes_may_be_reported_one_by_one_and_one_alone_makes_no_topology(client: TestClient) -> None:
    network, rows = created(client), report(small_fleet(3), 0.0)["nodes"]
    for number, row in enumerate(rows):
        body = {"time": float(number), "nodes": [row]}
        answer = client.post(f"/v1/networks/{network}/positions", json=body).json()
        assert answer["version"] == (number or None)
        assert answer["waiting"] == (None if number else "positions of at least 1 more node")
    assert _said(client, network)["nodes"] == 3
    alone = client.get(f"/v1/networks/{created(client)}/topology")
    assert (alone.status_code, "at least two nodes" in alone.json()["detail"]) == (409, True)


def test_versions_of_before_are_read_by_their_number(client: TestClient, flown: str) -> None:
    assert _said(client, f"{flown}/topology?version=3")["properties"]["version"] == 3
    state = _said(client, f"{flown}/state?version=3")
    assert (state["version"], state["sequence"], len(state["nodes"])) == (3, 0, 8)
    latest = _said(client, f"{flown}/state")
    assert latest["version"] == 8
    assert {**_said(client, f"{flown}/state?version=8"), "sequence": latest["sequence"]} == latest
    for path in ("topology", "state", "transition", "explain"):
        assert client.get(f"/v1/networks/{flown}/{path}?version=99").status_code == 404


def test_history_is_paged_from_the_newest_back(client: TestClient, flown: str) -> None:
    first = _said(client, f"{flown}/history?limit=3")["versions"]
    assert [one["version"] for one in first] == [8, 7, 6]
    rest = _said(client, f"{flown}/history?before=6")["versions"]
    assert [one["version"] for one in rest] == [5, 4, 3, 2, 1]
    assert _said(client, f"{flown}/history?before=1")["versions"] == []
    assert rest[-1]["mode"] == "generated"
    for one in [*first, *rest]:
        assert one["changed"] == bool(one["added"] or one["dropped"])
        assert one["at"].endswith("Z")


def test_metrics_over_time_are_columns_that_are_thinned_evenly(client: TestClient, flown: str) -> None:
    columns = _said(client, f"{flown}/metrics-over-time")
    assert columns["version"] == list(range(1, 9))
    assert {len(column) for column in columns.values()} == {8}
    assert columns["continuity"][0] is None
    thinned = _said(client, f"{flown}/metrics-over-time?limit=2")
    assert thinned["version"] == [4, 8]
    assert thinned["throughput"] == [columns["throughput"][3], columns["throughput"][7]]
    assert _said(client, f"{flown}/metrics-over-time?since=6")["version"] == [7, 8]


def test_a_transition_leads_from_the_version_before_to_this_one(client: TestClient, flown: str) -> None:
    version = next(one for one in _said(client, f"{flown}/history")["versions"] if one["dropped"] and one["added"])
    number = version["version"]
    made = _said(client, f"{flown}/transition?version={number}&setup=2")
    assert made["setup"] == 2.0
    links = _links(client, flown, number - 1) - _pairs(made["gone"])
    for step in made["rounds"]:
        assert _pairs(step["drop"]) <= links
        links = links - _pairs(step["drop"]) | _pairs(step["add"])
    assert links == _links(client, flown, number)
    events = client.get(f"/v1/networks/{flown}/transition?version={number}&format=eel")
    assert events.headers["content-type"].startswith("text/plain")
    assert "nem:1" in events.text
    first = client.get(f"/v1/networks/{flown}/transition?version=1")
    assert (first.status_code, "nothing comes before" in first.json()["detail"]) == (409, True)


def test_why_links_have_changed_is_explained(client: TestClient, flown: str) -> None:
    number = next(one["version"] for one in _said(client, f"{flown}/history")["versions"] if one["dropped"])
    made = _said(client, f"{flown}/explain?version={number}")
    update = _said(client, f"{flown}/state?version={number}")["update"]
    told = {kind: [one["link"] for one in made["changes"] if one["kind"] == kind] for kind in ("added", "dropped")}
    assert {kind: sorted(links) for kind, links in told.items()} == {kind: update[kind] for kind in told}
    assert made["lines"]
    assert made["continuity"] == pytest.approx(update["continuity"])


def test_pins_are_kept_and_those_that_cannot_be_are_refused_and_change_nothing(client: TestClient) -> None:
    network = created(client)
    url = f"/v1/networks/{network}"
    client.post(f"{url}/positions", json=report(small_fleet(8), 0.0))
    link = _said(client, f"{network}/state")["links"][0]
    a, b = link["source"], link["target"]
    pinned = client.put(f"{url}/pins", json={"avoid": [[a, b]], "silent": ["nobody"]})
    assert (pinned.status_code, pinned.json()["pins"]["avoid"]) == (200, [[a, b]])
    state = _said(client, f"{network}/state")
    assert {a, b} not in [{one["source"], one["target"]} for one in state["links"]]
    assert state["network"]["pins"] == pinned.json()["pins"]
    impossible = client.put(f"{url}/pins", json={"keep": [[a, b]], "avoid": [[b, a]]})
    assert impossible.status_code == 422
    assert _said(client, f"{network}/state") == state
    freed = client.delete(f"{url}/pins").json()
    assert freed["pins"] == {"keep": [], "avoid": [], "silent": []}
    kept = client.put(f"{url}/pins", json={"keep": [[a, b]]}).json()
    assert kept["pins"]["keep"] == [[a, b]]
    shown = {(one["source"], one["target"]): one["pinned"] for one in _said(client, f"{network}/state")["links"]}
    assert [ends for ends, pinned in shown.items() if pinned] in ([(a, b)], [(b, a)])


def test_under_another_radio_links_are_reconsidered_at_once(client: TestClient) -> None:
    network = created(client)
    client.post(f"/v1/networks/{network}/positions", json=report(small_fleet(8), 0.0))
    changed = client.patch(f"/v1/networks/{network}", json={"radio": {"range": 1.0}}).json()
    assert (changed["version"], changed["radio"]["range"]) == (2, 1.0)
    assert max(link["distance"] for link in _said(client, f"{network}/state")["links"]) <= _said(
        client, f"{network}/state"
    )["range"] * (1 + 1e-9)


def test_a_flight_is_flown_paused_dragged_and_landed(client: TestClient) -> None:
    network = created(client)
    url = f"/v1/networks/{network}/flight"
    flown = client.put(url, json={"family": "wedge", "nodes": 5, "speed": 10, "rate": 20}).json()
    assert (flown["nodes"], flown["flight"]["family"], flown["flight"]["playing"]) == (5, "wedge", True)
    until(lambda: _said(client, network)["version"] >= 3)
    paused = client.patch(url, json={"playing": False}).json()
    assert (paused["flight"]["playing"], paused["flight"]["rate"]) == (False, 20)
    node = _said(client, f"{network}/state")["nodes"][0]
    there = {"id": node["id"], "x": node["x"] + 500.0, "y": node["y"]}
    dragged = client.post(f"/v1/networks/{network}/positions", json={"time": 0, "nodes": [there]})
    assert dragged.status_code == 200
    places = {one["id"]: one["x"] for one in _said(client, f"{network}/state")["nodes"]}
    assert places[node["id"]] == pytest.approx(there["x"], abs=200.0)  # it may have flown on a moment before the pause
    stranger = {"time": 0, "nodes": [{"id": "stranger", "x": 0, "y": 0}]}
    assert client.post(f"/v1/networks/{network}/positions", json=stranger).status_code == 422
    landed = client.delete(url).json()
    assert (landed["flight"], landed["nodes"]) == (None, 5)
    assert client.patch(url, json={"playing": True}).status_code == 422
    assert client.put(url, json={"family": "nonsense"}).status_code == 422
    assert client.put(url, json={"family": "wedge", "motion": "nonsense"}).status_code == 422
    assert _said(client, network)["flight"] is None


def test_a_denoising_goes_from_noise_to_a_topology_of_the_latest_fleet(client: TestClient, flown: str) -> None:
    made = _said(client, f"{flown}/denoising?steps=4&seed=1")
    assert (made["version"], len(made["nodes"])) == (8, 8)
    times = [step["time"] for step in made["steps"]]
    assert times == sorted(times, reverse=True)
    assert made["polished"]["throughput"] >= made["corrected"]["throughput"] > 0.0
    assert made == _said(client, f"{flown}/denoising?steps=4&seed=1")
    assert client.get(f"/v1/networks/{flown}/denoising?steps=51").status_code == 422


def test_what_there_is_to_choose_from_can_be_chosen(client: TestClient) -> None:
    choices = client.get("/v1/choices").json()
    assert choices["version"] == md.__version__
    for radio in choices["radios"]:
        made = client.post("/v1/networks", json={"name": radio["title"], "radio": radio["radio"]})
        assert (made.status_code, made.json()["radio"]) == (201, radio["radio"])
    network = created(client)
    for family, motions in choices["families"].items():
        plan = {"family": family, "motion": motions[-1], "nodes": 4, "playing": False}
        assert client.put(f"/v1/networks/{network}/flight", json=plan).status_code == 200
    for preset in choices["presets"]:
        settings = client.patch(f"/v1/networks/{network}", json={"settings": {"preset": preset}}).json()["settings"]
        assert settings["preset"] == preset


def test_the_service_says_that_it_lives_is_ready_and_what_it_counts(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}
    counted = client.get("/metrics")
    assert counted.headers["content-type"].startswith("text/plain")
    for name in ("manetdiff_networks", "manetdiff_report_seconds_count", 'manetdiff_reports_total{outcome="taken"}'):
        assert name in counted.text
    assert client.get("/").headers["content-type"].startswith("text/html")
    assert client.get("/page/main.js").status_code == 200
