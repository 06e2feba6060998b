"""A service inside the test's own process, and reports to send to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from manetdiff.fleet import Fleet
from manetdiff.scenarios import draw
from manetdiff.server.app import create_app
from manetdiff.server.config import Config

HERE = "http://localhost"


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
