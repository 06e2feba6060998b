"""Clients that mean no good, against a service in a process of its own: it answers the others all the while."""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from served import Served, served
from support.service import report, small_fleet, until

pytestmark = pytest.mark.service

LONGEST_S = 60.0
HEAD = b"POST /v1/networks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


class Service:
    """A service, and a network in it that somebody depends on."""

    def __init__(self, running: Served) -> None:
        self.running = running
        self.client = httpx.Client(base_url=running.url, timeout=LONGEST_S)
        made = self.client.post("/v1/networks", json={"name": "x", "settings": {"preset": "instant"}})
        self.network, self.time = made.json()["id"], 0.0

    def works(self) -> None:
        """It is alive, and a report leads to a version."""
        assert self.client.get("/healthz").json() == {"status": "alive"}
        self.time += 1.0
        answer = self.client.post(f"/v1/networks/{self.network}/positions", json=report(small_fleet(), self.time))
        assert (answer.status_code, answer.json().get("time")) == (200, self.time), answer.text

    def connected(self) -> socket.socket:
        """A connection on which nothing was said yet."""
        return socket.create_connection(("127.0.0.1", self.running.port), timeout=LONGEST_S)

    def sender(self) -> ClientConnection:
        """A WebSocket for its network."""
        address = f"ws://127.0.0.1:{self.running.port}/v1/networks/{self.network}/ingest"
        return connect(address, compression=None, max_size=None, close_timeout=1.0)

    def megabytes(self) -> float:
        """That it holds in memory, where the system says so."""
        file = Path(f"/proc/{self.running.process.pid}/status")
        status = file.read_text() if file.exists() else "VmRSS: 0"
        return next(float(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def counted(self, name: str) -> float:
        """One of its counters."""
        lines = self.client.get("/metrics").text.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("live")
    with served(folder, "--workers", "1", "--max-viewers", "40") as running:
        yield Service(running)
    log = (folder / "live.log").read_text()
    for failure in ("request failed", "frame failed", "update failed", "Exception in ASGI application"):
        assert failure not in log
    assert len(log) < 1_000_000


@pytest.fixture(autouse=True)
def it_goes_on(live: Service) -> Iterator[None]:
    live.works()
    yield
    live.works()


def _answer(connection: socket.socket) -> bytes:
    """All that comes until the other side closes; nothing more once it has reset the connection."""
    answer = b""
    try:
        while part := connection.recv(65536):
            answer += part
    except ConnectionResetError:
        pass
    return answer


def _poured(connection: socket.socket, part: bytes, times: int) -> int:
    """How many bytes were taken before the other side had enough."""
    for k in range(times):
        try:
            connection.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            return k * len(part)
    return times * len(part)


def _is_refused(answer: bytes) -> bool:
    """Whether it is an error of the client's, or the end of the connection without a word."""
    return not answer or answer.startswith(b"HTTP/1.1 4")


def test_half_requests_are_given_up_and_the_others_do_not_wait_for_them(live: Service) -> None:
    heads = [b"", b"G", HEAD[:30], HEAD, HEAD + b"X-Header: and so on"]
    loris = [live.connected() for _ in range(200)]
    for k, one in enumerate(loris):
        one.sendall(heads[k % len(heads)])
    bodies = [live.connected() for _ in range(100)]
    for one in bodies:
        one.sendall(HEAD + b'Content-Length: 100\r\n\r\n{"na')
    live.works()
    for _ in range(10):  # a byte now and then is no request either
        for one in loris[3::5]:
            try:
                one.sendall(b"X")
            except OSError:
                continue
        time.sleep(0.5)
    live.works()
    for one in loris:
        assert _is_refused(_answer(one))
        one.close()
    for one in bodies:
        answer = _answer(one)
        assert answer.startswith(b"HTTP/1.1 408"), answer
        one.close()


def test_heads_without_end_are_not_kept(live: Service) -> None:
    before = live.megabytes()
    for start in (b"GET /", HEAD + b"X-Header: ", b"GET / HTTP/1.1\r\nHost: localhost\r\n"):
        many = [live.connected() for _ in range(5)]
        for one in many:
            part = b"X-Header: and so on\r\n" * 3000 if start.endswith(b"\r\n") else b"x" * 64_000
            one.sendall(start)
            assert _poured(one, part, 400) < 400 * len(part)
            assert _is_refused(_answer(one))
            one.close()
    assert live.megabytes() < before + 60.0


def test_bodies_without_end_are_cut_off(live: Service) -> None:
    before = live.megabytes()
    for path in (b"/v1/networks", b"/nowhere", b"/healthz"):
        one = live.connected()
        one.sendall(HEAD.replace(b"/v1/networks", path) + b"Transfer-Encoding: chunked\r\n\r\n")
        assert _poured(one, b"10000\r\n" + b" " * 65536 + b"\r\n", 1000) < 1000 * 65536
        assert _is_refused(_answer(one))
        one.close()
    trailing = live.connected()
    trailing.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
    assert _poured(trailing, b"X-Trailer: and so on\r\n" * 3000, 1000) < 1000 * 66_000
    trailing.close()
    long = live.connected()
    long.sendall(HEAD + b"Content-Length: 99999999999\r\n\r\n")
    assert _answer(long).startswith(b"HTTP/1.1 413")
    long.close()
    assert live.megabytes() < before + 60.0


def test_what_is_no_http_is_refused(live: Service) -> None:
    rng = random.Random(0)
    for said in (
        *(rng.randbytes(2000) + b"\r\n\r\n" for _ in range(50)),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500) + b"\r\n\r\n",  # as for TLS
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/v1/networks HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n  folded\r\n\r\n",
        b"\r\n" * 1000 + b"\x00\r\n\r\n",
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        HEAD + b"Content-Length: -2\r\n\r\n{}",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n",
    ):
        with live.connected() as one:
            one.sendall(said)
            one.shutdown(socket.SHUT_WR)
            assert _is_refused(_answer(one)), said[:80]


def test_requests_one_after_the_other_on_one_connection_are_answered_in_order(live: Service) -> None:
    with live.connected() as one:
        ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        one.sendall((ask + b"\r\n") * 200 + ask + b"Connection: close\r\n\r\n")
        assert _answer(one).count(b'{"status":"alive"}') == 201


@pytest.mark.parametrize("in_parts", [False, True])
def test_frames_that_are_too_large_end_their_sender_alone(live: Service, in_parts: bool) -> None:
    frame = "x" * 3_000_000
    with live.sender() as one:
        with pytest.raises(ConnectionClosed) as closed:
            one.send((frame[k : k + 100_000] for k in range(0, len(frame), 100_000)) if in_parts else frame)
            one.recv(timeout=LONGEST_S)
        assert closed.value.rcvd is None or closed.value.rcvd.code == 1009
    with live.sender() as other:
        other.send("x" * 1_000_000)
        assert json.loads(other.recv(timeout=LONGEST_S))["status"] == 422


def test_frames_that_are_none(live: Service) -> None:
    rng = random.Random(1)
    key = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
    path = f"/v1/networks/{live.network}/ingest".encode()
    shake = b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + key + b"dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    for said in (
        *(rng.randbytes(500) for _ in range(30)),
        b"\x81\x05hello",  # not masked
        b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff" + bytes(100),  # as long as can be said
        b"\x81\x82\x00\x00\x00\x00\xff\xff",  # no UTF-8
        b"\x83\x80\x00\x00\x00\x00",  # no kind of frame that there is
        b"\x80\x80\x00\x00\x00\x00",  # goes on where nothing has begun
    ):
        with live.connected() as one:
            one.sendall(shake)
            assert one.recv(4096).startswith(b"HTTP/1.1 101")
            one.sendall(said)
            one.shutdown(socket.SHUT_WR)
            _answer(one)
    for wrong in (b"Sec-WebSocket-Version: 12", b"Sec-WebSocket-Key: short", b"Upgrade: websocket, h2c"):
        name = wrong.partition(b":")[0]
        lines = [wrong if line.startswith(name) else line for line in shake.split(b"\r\n")]
        with live.connected() as one:
            one.sendall(b"\r\n".join(lines))
            one.shutdown(socket.SHUT_WR)
            assert not _answer(one).startswith(b"HTTP/1.1 101")
    until(lambda: live.counted("manetdiff_senders") == 0.0)


def test_thousands_of_connections(live: Service) -> None:
    crowd = list[socket.socket]()
    try:
        while len(crowd) < 3000:
            crowd.append(live.connected())
    except OSError:  # as many as this process may have
        for _ in range(20):
            crowd.pop().close()
    ask = b"GET /v1/networks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    statuses = set()
    for one in crowd[:: len(crowd) // 50]:
        try:
            one.sendall(ask)
            statuses.add(_answer(one)[9:12])
        except OSError:
            statuses.add(b"")  # it was let go meanwhile
    assert statuses <= {b"", b"200", b"503"}
    for one in crowd:
        one.close()
    until(lambda: live.client.get("/v1/networks").status_code == 200)


def test_viewers_who_do_not_read_cost_nobody_anything(live: Service) -> None:
    before = live.megabytes()
    ask = f"GET /v1/networks/{live.network}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    crowd = [live.connected() for _ in range(60)]
    for one in crowd:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.sendall(ask)
    until(lambda: live.counted("manetdiff_viewers") == 40.0)
    for _ in range(100):
        live.works()
    assert live.megabytes() < before + 60.0
    for one in crowd:
        one.close()
    until(lambda: live.counted("manetdiff_viewers") == 0.0)
