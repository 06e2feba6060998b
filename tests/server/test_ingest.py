"""Positions and control over a WebSocket: each frame is answered, and none harms the next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from support.service import created, moved, report, sending, service, small_fleet, until


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service")) as made:
        yield made


@pytest.fixture
def network(client: TestClient) -> str:
    return created(client)


def _answer(socket: WebSocketTestSession, frame: object) -> Any:
    socket.send_text(frame if isinstance(frame, str) else json.dumps(frame))
    return socket.receive_json()


def test_positions_pins_and_settings_are_obeyed_in_order_and_answered_with_their_ref(
    client: TestClient, network: str
) -> None:
    with sending(client, network) as socket:
        first = _answer(socket, {"positions": report(small_fleet(8), 0.0), "ref": "one"})
        assert (first["ref"], first["version"], first["older"]) == ("one", 1, 0)
        for time in range(1, 4):
            socket.send_json({"positions": report(moved(small_fleet(8), time), float(time)), "ref": time})
        answers = [socket.receive_json() for _ in range(3)]
        assert [(one["ref"], one["version"]) for one in answers] == [(1, 2), (2, 3), (3, 4)]
        at_once = _answer(socket, {"positions": {**report(small_fleet(8), 9.0), "wait": False}})
        assert at_once == {"accepted": 8, "older": 0, "left_out": 0}
        until(lambda: client.get(f"/v1/networks/{network}").json()["version"] == 5)
        as_posted = _answer(socket, {**report(small_fleet(8), 10.0), "ref": "posted"})
        assert (as_posted["ref"], as_posted["version"]) == ("posted", 6)
        link = client.get(f"/v1/networks/{network}/state").json()["links"][0]
        pinned = _answer(socket, {"pins": {"avoid": [[link["source"], link["target"]]]}, "ref": 0})
        assert (pinned["ref"], pinned["pins"]["avoid"]) == (0, [[link["source"], link["target"]]])
        changed = _answer(socket, {"settings": {"stale": 3.0}})
        assert changed["settings"]["stale"] == 3.0
    assert client.get(f"/v1/networks/{network}").json()["settings"]["stale"] == 3.0


@pytest.mark.parametrize(
    ("frame", "status", "why"),
    [
        ("", 422, "not JSON"),
        ("{", 422, "not JSON"),
        ("[]", 422, "object"),
        ("null", 422, "object"),
        ("{}", 422, "one of positions, pins and settings"),
        ('{"positions": {}, "pins": {}}', 422, "one of"),
        ('{"positions": 3}', 422, "dictionary"),
        ('{"positions": {"time": 0, "nodes": [{"id": "A", "x": 0, "y": 0}], "wait": "false"}}', 422, "wait"),
        ('{"positions": {"time": NaN, "nodes": [{"id": "A", "x": 0, "y": 0}]}}', 422, "time"),
        ('{"positions": {"time": 0, "nodes": []}}', 422, "nodes"),
        ('{"pins": {"keep": [["A"]]}}', 422, "keep.0"),
        ('{"settings": {"nonsense": 1}}', 422, "nonsense"),
        ('{"settings": 3}', 422, "settings"),
        ("[" * 5000, 422, "nested too deeply"),
        ("[" * 100 + "]" * 100, 422, "nested too deeply"),
        ("1" * 5000, 422, "too many digits"),
        ('{"ref": {"a": 1}, "wait": true}', 422, "one of"),
    ],
)
def test_malformed_frames_are_refused_one_by_one(
    client: TestClient, network: str, frame: str, status: int, why: str
) -> None:
    with sending(client, network) as socket:
        refused = _answer(socket, frame)
        assert (refused["status"], why in refused["error"]) == (status, True)
        assert "\n" not in refused["error"]
        assert _answer(socket, {"positions": report(small_fleet(), 0.0)})["version"] == 1


def test_frames_of_bytes_are_refused_and_the_next_is_served(client: TestClient, network: str) -> None:
    with sending(client, network) as socket:
        socket.send_bytes(b"\xff\x00")
        assert socket.receive_json() == {"error": "a frame is text that is JSON, not bytes", "status": 422}
        assert _answer(socket, {"positions": report(small_fleet(), 0.0)})["version"] == 1


def test_refusals_keep_the_ref_and_say_which_they_are(client: TestClient, network: str) -> None:
    with sending(client, network) as socket:
        _answer(socket, {"positions": report(small_fleet(), 1e6)})
        jumped = _answer(socket, {"positions": report(small_fleet(), 0.0), "ref": "\ud800"})
        assert (jumped["status"], jumped["ref"]) == (409, "\ud800")


def test_a_network_that_is_not_there_or_no_longer(client: TestClient, network: str) -> None:
    with pytest.raises(WebSocketDenialResponse) as denied, sending(client, "nowhere"):
        pass
    assert (denied.value.status_code, denied.value.json()) == (404, {"detail": "there is no such network"})
    with sending(client, network) as socket:
        _answer(socket, {"positions": report(small_fleet(), 0.0)})
        client.delete(f"/v1/networks/{network}")
        socket.send_json({"positions": report(small_fleet(), 1.0)})
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
        assert closed.value.code == 4404
    until(lambda: "manetdiff_senders 0.0" in client.get("/metrics").text)
