"""A server that answers as `manetdiff serve` does, but makes no topologies: it records what it is asked, and says what
a test tells it to say."""

from __future__ import annotations

import json
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

# Closes the connection without an answer, as a server that is restarted does.
HANG_UP = "hang up"


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class _Quiet(ThreadingHTTPServer):
    """It does not mind clients that leave before they were told everything."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class FakeController:
    """networks: that are there. asked: all requests. answers: to be given first, of any status, headers and JSON.
    streams: what each request for events gets, the last of them again and again."""

    def __init__(self) -> None:
        self.networks: list[dict[str, Any]] = []
        self.asked: list[Asked] = []
        self.answers: deque[tuple[int, dict[str, str], Any] | str] = deque()
        self.streams: list[list[tuple[str, Any]]] = []
        self.connections = 0
        self._changed = threading.Condition()
        self._server = _Quiet(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def add(self, id: str, name: str, time: float | None = None) -> dict[str, Any]:
        network = {"id": id, "name": name, "version": None, "time": time, "waiting": None}
        self.networks.append(network)
        return network

    @property
    def reports(self) -> list[Any]:
        """What was sent to the positions of any network."""
        return [one.body for one in self.asked if "/positions" in one.path]

    def wait_for(self, count: int, what: str = "/positions", seconds: float = 20.0) -> list[Any]:
        """The bodies of requests, once there are so many of them."""

        def there() -> list[Any]:
            return [one.body for one in self.asked if what in one.path]

        with self._changed:
            assert self._changed.wait_for(lambda: len(there()) >= count, seconds), self.asked
        return there()

    def record(self, asked: Asked) -> None:
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()

    def answer(self, asked: Asked) -> tuple[int, dict[str, str], Any] | str:
        if self.answers:
            return self.answers.popleft()
        path = asked.path.partition("?")[0]
        if path == "/v1/networks" and asked.method == "GET":
            return 200, {}, {"networks": self.networks}
        if path == "/v1/networks":
            return 201, {}, self.add(f"n{len(self.networks)}", asked.body["name"])
        found = next((one for one in self.networks if path.startswith(f"/v1/networks/{one['id']}")), None)
        if found is None:
            return 404, {}, {"detail": "there is no such network"}
        if path.endswith("/positions"):
            found["version"] = (found["version"] or 0) + 1
            return 200, {}, {"version": found["version"], "time": asked.body["time"], "older": 0, "waiting": None}
        if asked.method == "DELETE" and path.count("/") == 3:
            self.networks.remove(found)
            return 204, {}, None
        return 200, {}, found

    def serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        controller = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                controller.connections += 1

            def log_message(self, *_: Any) -> None: ...

            def _do(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = Asked(self.command, self.path, dict(self.headers), json.loads(data) if data else None)
                controller.record(asked)
                if self.path.endswith("/events") and controller.streams:
                    self._stream()
                    return
                answer = controller.answer(asked)
                if isinstance(answer, str):
                    self.close_connection = True
                    return
                status, headers, document = answer
                body = b"" if document is None else json.dumps(document).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def _stream(self) -> None:
                stream = controller.streams[0] if len(controller.streams) == 1 else controller.streams.pop(0)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                self.wfile.write(b": hello\r\n\r\n")
                for kind, data in stream:
                    self.wfile.write(f"id: 1\nevent: {kind}\ndata: {json.dumps(data)}\n\n".encode())
                    self.wfile.flush()

            do_GET = do_POST = do_PUT = do_DELETE = _do  # noqa: N815

        return Handler


@contextmanager
def fake_controller() -> Iterator[FakeController]:
    """Running in a thread of its own."""
    controller = FakeController()
    thread = threading.Thread(target=controller.serve, daemon=True)
    thread.start()
    try:
        yield controller
    finally:
        controller.close()
        thread.join(5)


def state(version: int | None, links: list[tuple[str, str]], time: float = 0.0, nodes: str = "ABC") -> dict[str, Any]:
    """A state as the server's snapshots hold it."""
    return {
        "sequence": version or 0,
        "network": {"id": "n0", "name": "Patrol", "waiting": "no positions yet"},
        "version": version,
        "time": time,
        "nodes": [{"id": one, "x": 1.0, "y": 2.0, "yaw": 0.0, "parity": 0, "stale": False} for one in nodes],
        "links": [{"source": source, "target": target, "pinned": False} for source, target in links],
        "metrics": {"throughput": 12.5, "sustained": 6.25, "valid": 1.0},
        "update": {
            "mode": "quick",
            "milliseconds": 4.5,
            "continuity": 0.75,
            "added": [list(link) for link in links[:1]],
            "dropped": [["B", "C"]],
            "turned": 1,
            "unmet": None,
        },
    }
