"""A service inside the test's own process, reports to send to it, and viewers of its events."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient, WebSocketTestSession

from manetdiff.fleet import Fleet
from manetdiff.scenarios import draw
from manetdiff.server.app import create_app
from manetdiff.server.config import Config

HERE = "http://localhost"
LONGEST_S = 20.0


@contextmanager
def service(folder: Path, *, token: str | None = None, **settings: Any) -> Iterator[TestClient]:
    """A client of a service that keeps its database in the folder. settings: of its Config."""
    chosen = {"database": f"sqlite:///{folder / 'test.db'}", "workers": 1, "token": token, **settings}
    with TestClient(create_app(Config(**chosen)), base_url=HERE, raise_server_exceptions=False) as client:
        if token is not None:
            client.headers["Authorization"] = f"Bearer {token}"
        yield client


def created(client: TestClient, **settings: Any) -> str:
    """The id of a new network, whose topologies are made in no time."""
    answer = client.post("/v1/networks", json={"name": "Test", "settings": {"preset": "instant", **settings}})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def small_fleet(nodes: int = 6, seed: int = 0) -> Fleet:
    """A wedge."""
    return draw("wedge", nodes, np.random.default_rng(seed))


def report(fleet: Fleet, time: float, **more: Any) -> dict[str, Any]:
    """Of all nodes of a fleet, in metres."""
    rows = zip(fleet.ids, fleet.horizontal.tolist(), fleet.yaw.tolist(), strict=True)
    return {"time": time, "nodes": [{"id": name, "x": x, "y": y, "yaw": yaw} for name, (x, y), yaw in rows], **more}


def moved(fleet: Fleet, seed: int, metres: float = 300.0) -> Fleet:
    """The fleet with every node somewhere near where it was."""
    return fleet.replace(fleet.positions + metres * np.random.default_rng(seed).standard_normal(fleet.positions.shape))


def until(true: Callable[[], bool], seconds: float = LONGEST_S) -> None:
    """Wait for something that the service does in its own time."""
    end = clock.monotonic() + seconds
    while not true():
        assert clock.monotonic() < end, "it has not come about"
        clock.sleep(0.01)


def sending(client: TestClient, network: str) -> WebSocketTestSession:
    """A WebSocket for a network's positions and control."""
    return client.websocket_connect(f"ws://localhost/v1/networks/{network}/ingest")


@contextmanager
def viewing(client: TestClient, network: str) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
    """The events of a network, by name and data. While they are not read, nothing more is taken of the connection."""
    with client.stream("GET", f"/v1/networks/{network}/events") as answer:
        assert answer.status_code == 200
        yield _events(answer.iter_lines())


def _events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    fields: dict[str, str] = {}
    for line in lines:
        assert not line.startswith(":"), "nothing has come for so long that the service gave a sign of life"
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield fields["event"], json.loads(fields["data"])
            fields = {}
