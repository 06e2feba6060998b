"""What stands before every request: tokens, names, origins, bodies, and the headers of every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Message, Receive, Scope, Send
from structlog.testing import capture_logs

from manetdiff.server import guard
from manetdiff.server.config import Config, Limits
from manetdiff.server.live_network import LiveNetwork
from support.service import created, report, service, small_fleet

TOKEN = "a-token-for-tests-0123456789"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with service(tmp_path_factory.mktemp("service"), token=TOKEN, hosts=("Relay.example",)) as made:
        yield made


@pytest.fixture
def stranger(client: TestClient) -> Iterator[TestClient]:
    """The same client without its token."""
    said = client.headers.pop("Authorization")
    yield client
    client.headers["Authorization"] = said


WRONG = [
    None,
    "",
    TOKEN,
    f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN.upper()}",
    f"Basic {TOKEN}",
    "Bearer ",
    "Bearer " + "x" * 4000,
]


@pytest.mark.parametrize("said", WRONG)
def test_without_the_token_nothing_is_told_and_nothing_done(stranger: TestClient, said: str | None) -> None:
    headers = {} if said is None else {"Authorization": said}
    for method, path in [
        ("GET", "/v1/networks"),
        ("GET", "/v1/choices"),
        ("GET", "/metrics"),
        ("POST", "/v1/networks"),
        ("DELETE", "/v1/networks/some"),
        ("GET", "/v1/networks/some/events"),
        ("GET", "/nowhere"),
    ]:
        answer = stranger.request(method, path, headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json() == {"detail": "say who you are: Authorization: Bearer TOKEN"}
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        stranger.websocket_connect("ws://localhost/v1/networks/some/ingest", headers=headers),
    ):
        pass
    assert denied.value.status_code == 401


def test_a_token_in_the_address_is_worth_nothing(stranger: TestClient) -> None:
    assert stranger.get(f"/v1/networks?token={TOKEN}&access_token={TOKEN}").status_code == 401


def test_with_the_token_all_is_open_and_without_it_only_the_page_and_signs_of_life(client: TestClient) -> None:
    network = created(client)
    assert client.post(f"/v1/networks/{network}/positions", json=report(small_fleet(), 0.0)).status_code == 200
    headers = {"Authorization": client.headers["Authorization"]}
    with client.websocket_connect(f"ws://localhost/v1/networks/{network}/ingest", headers=headers) as socket:
        socket.send_json({"positions": report(small_fleet(), 1.0)})
        assert socket.receive_json()["version"] == 2
    del client.headers["Authorization"]
    for path in ("/", "/page/main.js", "/healthz", "/readyz", "/openapi.json"):
        assert client.get(path).status_code == 200
    for path in ("/page/../v1/networks", "/page/%2e%2e/v1/networks", "/page/..%2fconfig.py", "/page//etc/passwd"):
        assert client.get(path).status_code in (401, 404)
    client.headers.update(headers)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "[::2]", "127.0.0.2", "local host"])
def test_names_that_are_not_the_services_own_are_not_answered(client: TestClient, host: str) -> None:
    assert client.get("/v1/networks", headers={"Host": host}).status_code == 421
    assert client.get("/", headers={"Host": host}).status_code == 421
    assert client.get("/healthz", headers={"Host": host}).status_code == 200  # an orchestrator asks by any address


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8470", "127.0.0.1:1", "[::1]:8470", "relay.example"])
def test_names_that_are_its_own_are(client: TestClient, host: str) -> None:
    assert client.get("/v1/networks", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "http://localhost:81", "http://localhost.evil.example", "file://"]
)
def test_pages_of_other_origins_are_not_served_and_no_answer_invites_them(client: TestClient, origin: str) -> None:
    for method in ("GET", "OPTIONS", "POST"):
        answer = client.request(method, "/v1/networks", headers={"Origin": origin})
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
    with (
        pytest.raises(WebSocketDenialResponse) as denied,
        client.websocket_connect("ws://localhost/v1/networks/some/ingest", headers={"Origin": origin}),
    ):
        pass
    assert denied.value.status_code == 403
    assert client.get("/v1/networks", headers={"Origin": "http://localhost"}).status_code == 200


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"]
)
def test_bodies_that_a_foreign_form_could_send_are_refused(client: TestClient, kind: str | None) -> None:
    answer = client.post("/v1/networks", content=b'{"name": "x"}', headers={"Content-Type": kind} if kind else {})
    assert answer.status_code == 415
    kind = "Application/JSON; charset=utf-8"
    assert client.post("/v1/networks", content=b'{"name": "x"}', headers={"Content-Type": kind}).status_code == 201


@pytest.mark.parametrize("length", ["-1", "abc", "9" * 16, "1e3", ""])
def test_lengths_that_are_no_numbers_are_refused(client: TestClient, length: str) -> None:
    answer = client.post("/v1/networks", content=b"{}", headers={**JSON, "Content-Length": length})
    assert answer.status_code == 400


def test_every_answer_tells_browsers_what_they_may_do(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    network = created(client)
    answers = [
        client.get("/"),
        client.get("/page/main.js"),
        client.get("/page/nowhere.js"),
        client.get("/nowhere"),
        client.get("/healthz"),
        client.get("/openapi.json"),
        client.put("/v1/networks", headers=JSON),
        client.get(f"/v1/networks/{network}/topology"),
        client.delete(f"/v1/networks/{network}"),
        client.get("/v1/networks", headers={"Host": "evil.example"}),
        client.get("/v1/networks", headers={"Origin": "null"}),
        client.get("/v1/networks", headers={"Authorization": "Bearer wrong"}),
        client.post("/v1/networks", content=b"{}"),
        client.post("/v1/networks", content=b"{", headers=JSON),
        client.post("/v1/networks", content=b" " * 3_000_000, headers=JSON),
    ]

    def broken(_: LiveNetwork) -> dict[str, Any]:
        raise ValueError("broken for a test")

    created(client)
    monkeypatch.setattr(LiveNetwork, "described", broken)
    with capture_logs() as logged:
        answers.append(client.get("/v1/networks"))
    assert [one["event"] for one in logged] == ["request failed"]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200, 200, 404, 404, 200, 200, 405, 409, 204, 421, 403, 401, 415, 422, 413, 500]
    assert "broken for a test" not in answers[-1].text
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert "*" not in policy
        assert "frame-ancestors 'none'" in policy


def test_the_page_needs_nothing_that_the_policy_forbids(client: TestClient) -> None:
    page = client.get("/").text.lower()
    assert "<script>" not in page
    for forbidden in (" style=", " onclick=", " onload=", "javascript:", "http://", "<style"):
        assert forbidden not in page, forbidden


def _asked(app: Any, receive: Receive, **more: Any) -> MutableMapping[str, Any]:
    """What an ASGI application answers to a POST whose body comes as `receive` has it."""
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope: Scope = {"type": "http", "method": "POST", "path": "/v1/networks", "headers": headers, **more}
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]


async def _reader(scope: Scope, receive: Receive, send: Send) -> None:
    """Reads its body and says how long it is."""
    length = 0
    while True:
        try:
            message = await receive()
        except HTTPException as error:
            await PlainTextResponse(str(error.detail), error.status_code, error.headers)(scope, receive, send)
            return
        length += len(message["body"])
        if not message["more_body"]:
            break
    await PlainTextResponse(str(length))(scope, receive, send)


def test_a_body_that_never_ends_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_S", 0.05)
    app = guard.Guard(_reader, Config("sqlite:///x"))

    async def slow() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b" ", "more_body": True}

    answer = _asked(app, slow)
    assert answer["status"] == 408
    assert (b"connection", b"close") in answer["headers"]


def test_more_requests_at_a_time_than_can_be_answered_are_told_when_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "AT_ONCE", 3)
    app = guard.Guard(_reader, Config("sqlite:///x", limits=Limits(viewers=1, senders=1)))

    async def crowd() -> list[int]:
        open_now, statuses = asyncio.Event(), list[int]()

        async def receive() -> Message:
            await open_now.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
                if message["status"] == 503:
                    assert (b"retry-after", b"2") in message["headers"]

        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]

        def ask(path: str) -> asyncio.Task[None]:
            scope: Scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
            return asyncio.create_task(app(scope, receive, send))

        asked = [ask("/v1/networks") for _ in range(8)]
        health = ask("/healthz")
        await asyncio.sleep(0.01)
        assert statuses == [503] * 3
        open_now.set()
        await asyncio.gather(*asked, health, ask("/v1/networks"))
        return statuses

    assert sorted(asyncio.run(crowd())) == [200] * 7 + [503] * 3


def test_behind_a_proxy_any_name_is_taken_unless_names_are_given(tmp_path: Path) -> None:
    with service(tmp_path, token=TOKEN, host="0.0.0.0", behind_proxy=True) as client:
        assert client.get("/v1/networks", headers={"Host": "any.example"}).status_code == 200
    with service(tmp_path, token=TOKEN, host="0.0.0.0", behind_proxy=True, hosts=("one.example",)) as client:
        assert client.get("/v1/networks", headers={"Host": "any.example"}).status_code == 421
        assert client.get("/v1/networks", headers={"Host": "one.example"}).status_code == 200


def test_files_of_the_page_are_asked_for_again_after_an_upgrade(tmp_path: Path) -> None:
    with service(tmp_path) as client:
        for path in ("/", "/page/main.js"):
            assert client.get(path).headers["cache-control"] == "no-cache"
        first = client.get("/page/main.js")
        again = client.get("/page/main.js", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
