"""The client and the feeds against `manetdiff serve` itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manetdiff as md
from manetdiff.client import Client, ClientError
from manetdiff.client.feeding import Feed
from manetdiff.client.replay import replay
from manetdiff.client.states import State
from manetdiff.formats import read_tracks
from manetdiff.scenarios import draw, move
from support.live_server import can_serve, live_server

pytestmark = pytest.mark.skipif(not can_serve(), reason="the extra 'serve' is not installed")

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
TOKEN = "a-token-for-tests"
QUICK = {"preset": "instant"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("live")
    (folder / "token").write_text(TOKEN + "\n")
    (folder / "token").chmod(0o600)  # the server takes no other
    with live_server(folder, "--token-file", str(folder / "token"), "--workers", "1") as url:
        yield url


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address, TOKEN) as one:
        yield one


def path_of(steps: int) -> list[md.Fleet]:
    rng = np.random.default_rng(1)
    return move(draw("wedge", 8, rng), "gauss-markov", rng, duration=4.0 * steps, step=4.0)


def test_a_network_from_its_beginning_to_its_end(client: Client, address: str) -> None:
    made = client.create("Patrol", md.Radio(unit=None), QUICK)
    id = made["id"]
    assert (client.named("Patrol")["id"], made["version"]) == (id, None)
    with pytest.raises(ClientError) as nothing_yet:
        client.topology(id)
    assert nothing_yet.value.status in (404, 409)
    for time, fleet in enumerate(path_of(3)):
        answer = client.report(id, 4.0 * time, fleet, complete=True)
    topology = client.topology(id)
    assert topology.on().fleet.ids == fleet.ids
    np.testing.assert_allclose(topology.on().fleet.positions, fleet.positions)
    assert md.metrics(topology)["valid"] == 1.0
    assert md.metrics(topology)["throughput"] == pytest.approx(answer["metrics"]["throughput"])
    assert client.topology(id, 1) is not None
    a, b = (topology.on().fleet.ids[i] for i in topology.links[0])
    pinned = client.pins(id, avoid=[(a, b)])
    assert pinned["pins"]["avoid"] == [[a, b]]
    avoided = client.topology(id)
    named = {frozenset(avoided.on().fleet.ids[i] for i in link) for link in avoided.links}
    assert frozenset((a, b)) not in named
    assert client.unpin(id)["pins"]["avoid"] == []
    client.delete(id)
    with pytest.raises(ClientError) as gone:
        client.network(id)
    assert gone.value.status == 404


def test_merged_events_are_what_the_server_says_the_state_is(client: Client, address: str) -> None:
    id = client.create("Watched", settings=QUICK)["id"]
    fleets = path_of(6)
    seen: dict[int, State] = {}
    first, ended = threading.Event(), threading.Event()

    def watch() -> None:
        for state in Client(address, TOKEN).events(id):
            first.set()
            if state["version"] is not None:
                seen[state["version"]] = state
        ended.set()

    threading.Thread(target=watch, daemon=True).start()
    assert first.wait(30)
    told: dict[int, Any] = {}
    for time, fleet in enumerate(fleets):
        nodes = fleet if time != 3 else fleet.part(range(len(fleet) - 2))  # two of them leave, and come again
        version = client.report(id, 4.0 * time, nodes, complete=True)["version"]
        told[version] = client._connection.asked("GET", f"/v1/networks/{id}/state")
    client.delete(id)
    assert ended.wait(30)
    assert max(told) in seen
    for version, state in told.items():
        if version not in seen:  # a viewer that is slow gets the newest
            continue
        for part, key in (("nodes", lambda one: one["id"]), ("links", lambda one: (one["source"], one["target"]))):
            assert sorted(seen[version][part], key=key) == sorted(state[part], key=key)
        assert seen[version]["metrics"] == state["metrics"]


def test_a_file_is_flown(client: Client) -> None:
    id = client.create("Replayed", settings=QUICK)["id"]
    feed = Feed(client, id)
    replay(feed, read_tracks(EXAMPLES / "patrol.movements"), speed=100.0, step=10.0)
    assert feed.progress.reports == feed.progress.versions >= 1
    assert (feed.progress.refused, feed.progress.trouble) == (0, None)
    assert client.network(id)["time"] == 60.0
    replay(feed, read_tracks(EXAMPLES / "patrol.movements"), speed=1000.0, step=30.0)  # again: time goes on
    assert client.network(id)["time"] == 150.0
    assert feed.progress.older == 0


def test_degrees_of_some_nodes_at_a_time_as_live_feeds_send_them(client: Client) -> None:
    id = client.create("Live", settings=QUICK)["id"]
    feed = Feed(client, id)
    nodes = [{"id": f"uav-{i}", "lat": 48.0 + 0.01 * i, "lon": 11.0, "alt": 500.0 + i} for i in range(4)]
    feed.report(1.7e9, nodes[:1])
    assert feed.progress.version is None
    assert bool(feed.progress.trouble)  # one node has nobody to link to
    feed.report(1.7e9 + 1, [{**node, "heading": 90.0} for node in nodes[1:]])
    assert (client.network(id)["nodes"], feed.progress.trouble) == (4, None)
    assert client.topology(id).on().fleet.has_heights


def test_who_has_no_token_is_turned_away(address: str) -> None:
    for token in (None, "another"):
        with pytest.raises(ClientError) as refused:
            Client(address, token).networks()
        assert refused.value.status == 401
        with pytest.raises(ClientError):
            next(Client(address, token).events("any"))
