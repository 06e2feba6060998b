"""Requests for networks of other replicas: handed on whole, once, and to nobody but those."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from manetdiff.server.app import Senders
from manetdiff.server.config import Limits
from manetdiff.server.counters import Counters
from manetdiff.server.forwarding import FORWARDED, Forwarder, Forwards
from manetdiff.server.peers import Peers
from manetdiff.server.store.replicas import Peer
from support.service import until

ALL = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


async def _told(request: Request) -> Response:
    """What has come."""
    headers = {name: value for name, value in request.headers.items() if name not in ("user-agent",)}
    told = {"path": str(request.url.path), "query": request.url.query, "method": request.method, "headers": headers}
    body = (await request.body()).decode()
    if body == "refuse":
        return JSONResponse({"detail": "not now"}, 503, {"Retry-After": "7", "X-Other": "1"})
    if request.method == "DELETE":
        return Response(status_code=204)
    return JSONResponse({**told, "body": body})


async def _events(_: Request) -> Response:
    async def events() -> AsyncIterator[bytes]:
        yield b"event: snapshot\n\n"
        await asyncio.sleep(30.0)

    return StreamingResponse(events(), media_type="text/event-stream")


async def _echo(asked: WebSocket) -> None:
    if asked.headers.get("authorization") == "Bearer wrong":
        await asked.send_denial_response(JSONResponse({"detail": "no"}, 401))
        return
    if asked.path_params["id"] == "led":
        await asked.send_denial_response(RedirectResponse("/v1/networks/x/ingest"))
        return
    await asked.accept()
    while (text := await asked.receive_text()) != "bye":
        await asked.send_text(f"{asked.headers[FORWARDED.decode()]} {text}")
    await asked.close(4404, "gone")


@pytest.fixture(scope="module")
def owner() -> Iterator[str]:
    """The address of a replica that runs all networks."""
    app = Starlette(
        routes=[
            Route("/v1/networks/{id}/events", _events),
            WebSocketRoute("/v1/networks/{id}/ingest", _echo),
            Route("/{path:path}", _told, methods=ALL),
        ]
    )
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", ws="websockets-sansio", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    until(lambda: server.started)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()


class Replica:
    """One that runs no network. address: of the one that runs all."""

    def __init__(self, address: str | None) -> None:
        self.address = address
        self.forwards, self.senders = Forwards(), Senders(1)
        self.me, self.networks = SimpleNamespace(id="me"), SimpleNamespace()
        self.counters = Counters()

    def is_here(self, network: str) -> bool:
        return network == "mine"

    async def owner(self, network: str) -> Peer | None:
        return None if self.address is None or network == "unknown" else Peer("other", self.address, 1, True)

    def app(self) -> Starlette:
        async def own(_: Request) -> Response:
            return PlainTextResponse("own")

        app = Starlette(
            routes=[Route("/{path:path}", own, methods=ALL)], middleware=[Middleware(Forwarder, peers=Peers())]
        )
        services = SimpleNamespace(store=self, counters=self.counters, limits=Limits(viewers=1))
        self.networks = networks = SimpleNamespace(is_here=self.is_here, services=services, viewers_of_others=0)
        networks.viewers = lambda: networks.viewers_of_others
        app.state.networks, app.state.senders = networks, self.senders
        app.state.forwards = self.forwards
        return app

    def counted(self, outcome: str) -> bool:
        return f'manetdiff_forwarded_total{{outcome="{outcome}"}} 1.0' in self.counters.text().decode()


def _client(replica: Replica) -> TestClient:
    return TestClient(replica.app(), base_url="http://elsewhere:99")


def test_what_changes_a_network_is_handed_on_with_its_body_and_its_token(owner: str) -> None:
    replica = Replica(owner)
    with _client(replica) as client:
        sent = {"Authorization": "Bearer secret", "Cookie": "a=b", "Origin": "http://elsewhere:99", "X-Mine": "1"}
        answer = client.post("/v1/networks/a%20b/positions?wait=false", json={"time": 1}, headers=sent)
        told = answer.json()
        assert (told["method"], told["path"], told["query"]) == ("POST", "/v1/networks/a b/positions", "wait=false")
        assert json.loads(told["body"]) == {"time": 1}
        assert told["headers"]["host"] == owner.removeprefix("http://")
        assert told["headers"]["authorization"] == "Bearer secret"
        assert told["headers"][FORWARDED.decode()] == "me"
        assert not {"cookie", "origin", "x-mine"} & told["headers"].keys()
        assert replica.counted("answered")
        refused = client.put("/v1/networks/x/pins", content="refuse")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "7")
        assert refused.json() == {"detail": "not now"}
        assert "x-other" not in refused.headers
        gone = client.delete("/v1/networks/x")
        assert (gone.status_code, gone.content) == (204, b"")


def test_each_goes_over_a_connection_of_its_own(owner: str) -> None:
    with _client(Replica(owner)) as client:
        for body in ("one", "two", "x" * 1_000_000, "three"):
            told = client.patch("/v1/networks/x", content=body).json()
            assert (told["body"] == body, told["headers"]["connection"]) == (True, "close")


def test_what_breaks_off_is_not_sent_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        came = list[bytes]()

        def take_and_break_off() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection:
                        came.append(connection.recv(65536))

        threading.Thread(target=take_and_break_off, daemon=True).start()
        with _client(Replica(f"http://127.0.0.1:{listening.getsockname()[1]}")) as client:
            assert client.post("/v1/networks/x/positions", json={}).status_code == 503
        assert len(came) == 1
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/v1/networks/x", {}),
        ("GET", "/v1/networks/x/history", {}),
        ("OPTIONS", "/v1/networks/x/events", {}),
        ("POST", "/v1/networks", {}),
        ("POST", "/v1/networks/mine/positions", {}),
        ("POST", "/v1/networks/unknown/positions", {}),
        ("POST", "/v1/networks/x/positions", {FORWARDED.decode(): "another"}),
        ("POST", "/elsewhere", {}),
    ],
)
def test_what_is_read_or_ones_own_or_was_handed_on_already_stays_here(
    owner: str, method: str, path: str, headers: dict[str, str]
) -> None:
    with _client(Replica(owner)) as client:
        assert client.request(method, path, headers=headers).text == "own"


def test_of_a_request_that_breaks_off_nothing_is_handed_on(owner: str) -> None:
    path = "/v1/networks/x/pins"
    scope = {"type": "http", "method": "PUT", "path": path, "raw_path": path.encode(), "query_string": b""}
    parts: list[dict[str, Any]] = [{"type": "http.request", "body": b"{", "more_body": True}]
    came = iter([*parts, {"type": "http.disconnect"}])
    said = list[Any]()

    async def receive() -> dict[str, Any]:
        return next(came)

    async def send(message: Any) -> None:
        said.append(message)

    asyncio.run(asyncio.wait_for(Replica(owner).app()({**scope, "headers": []}, receive, send), 20.0))
    assert said == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", ""])
def test_a_replica_that_is_not_reached_is_a_reason_to_come_again(address: str) -> None:
    replica = Replica(address)
    with _client(replica) as client:
        answer = client.post("/v1/networks/x/positions", json={})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert replica.counted("broken") == bool(address)


async def _viewed(replica: Replica, said: list[Any], leaves: bool, stop: Callable[[], None] | None = None) -> None:
    """An event stream as it comes. leaves: who views it goes; or else its replica does, or what `stop` stops."""
    stop = stop or (lambda: replica.forwards.lost(["nobody", "other"]))
    path = "/v1/networks/x/events"
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
    asked = False

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if asked:
            await asyncio.sleep(0.1 if leaves else 30.0)
            return {"type": "http.disconnect"}
        asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        said.append(message)
        if message.get("body") and not leaves:
            stop()

    await asyncio.wait_for(replica.app()({**scope, "headers": []}, receive, send), 20.0)


def test_an_event_stream_is_passed_on_as_it_comes_and_ends_with_its_replica(owner: str) -> None:
    replica, said = Replica(owner), list[Any]()
    asyncio.run(_viewed(replica, said, leaves=False))
    start, *parts = said
    assert dict(start["headers"])[b"content-type"].startswith(b"text/event-stream")
    assert parts[0]["body"] == b"event: snapshot\n\n"
    assert not parts[-1]["more_body"]
    assert replica.counted("broken")


def test_an_event_stream_is_left_when_its_viewer_leaves(owner: str) -> None:
    replica = Replica(owner)
    asyncio.run(_viewed(replica, [], leaves=True))
    assert replica.counted("answered")


def test_a_websocket_is_joined_to_that_of_the_other_replica(owner: str) -> None:
    with _client(Replica(owner)) as client:
        with client.websocket_connect("/v1/networks/x/ingest") as asked:
            for text in ("one", "two"):
                asked.send_text(text)
                assert asked.receive_text() == f"me {text}"
            asked.send_text("bye")
            with pytest.raises(WebSocketDisconnect) as closed:
                asked.receive_text()
            assert (closed.value.code, closed.value.reason) == (4404, "gone")
        with (
            pytest.raises(WebSocketDenialResponse) as denied,
            client.websocket_connect("/v1/networks/x/ingest", headers={"Authorization": "Bearer wrong"}),
        ):
            pass
        assert denied.value.status_code == 401
    with (
        _client(Replica("http://127.0.0.1:1")) as client,
        pytest.raises(WebSocketDenialResponse) as denied,
        client.websocket_connect("/v1/networks/x/ingest"),
    ):
        pass
    assert denied.value.status_code == 503


def test_viewers_and_senders_that_are_handed_on_count_where_they_come_in(owner: str) -> None:
    replica = Replica(owner)
    app = replica.app()
    with TestClient(app, base_url="http://elsewhere:99") as client:
        with client.websocket_connect("/v1/networks/x/ingest"):
            with pytest.raises(WebSocketDenialResponse) as denied, client.websocket_connect("/v1/networks/x/ingest"):
                pass
            assert (denied.value.status_code, denied.value.headers["retry-after"]) == (503, "5")
        until(lambda: replica.senders.count == 0)
        app.state.networks.viewers_of_others = 1
        assert client.get("/v1/networks/x/events").status_code == 503
        assert client.post("/v1/networks/x/positions", json={}).status_code == 200
    asyncio.run(_viewed(replica, [], leaves=True))
    assert replica.networks.viewers_of_others == 0  # it has left


def test_a_websocket_is_not_led_elsewhere(owner: str) -> None:
    with (
        _client(Replica(owner)) as client,
        pytest.raises(WebSocketDenialResponse) as denied,
        client.websocket_connect("/v1/networks/led/ingest"),
    ):
        pass
    assert denied.value.status_code == 503


def test_streams_that_are_handed_on_end_when_this_replica_stops(owner: str) -> None:
    replica = Replica(owner)
    with _client(replica) as client:
        assert client.portal is not None
        with client.websocket_connect("/v1/networks/x/ingest") as asked:
            asked.send_text("one")
            assert asked.receive_text() == "me one"
            client.portal.call(replica.forwards.end_streams)
            with pytest.raises(WebSocketDisconnect) as closed:
                asked.receive_text()
            assert closed.value.code == 1013
    said = list[Any]()
    asyncio.run(_viewed(replica, said, leaves=False, stop=replica.forwards.end_streams))
    assert not said[-1]["more_body"]
