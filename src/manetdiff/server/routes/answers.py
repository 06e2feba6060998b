"""What is answered, for OpenAPI: what callers may rely on. Answers are made as plain objects and may say more."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


def answers(model: type[BaseModel], status: int = 200) -> dict[int | str, dict[str, Any]]:
    """For OpenAPI: that this is answered."""
    return {status: {"model": model}}


class Counts(BaseModel):
    """Since the network was taken up: reports taken, nodes in them older than what was known, reports shed."""

    reports: int
    older: int
    shed: int


class Described(BaseModel):
    """A network: its settings, and where it stands.

    - version, time: of its latest topology, if there is one. nodes: that are there now; stale: ids of those not heard
      of for a while. waiting: what a topology still needs. flight: that the service flies itself.
    """

    id: str
    name: str
    created: str = Field(examples=["2026-02-03T04:05:06.789Z"])
    radio: dict[str, Any]
    settings: dict[str, Any] = Field(examples=[{"preset": "balanced", "stale": 10.0, "gone": 30.0}])
    pins: dict[str, list[Any]] = Field(examples=[{"keep": [["A", "B"]], "avoid": [], "silent": []}])
    version: int | None
    time: float | None
    nodes: int
    links: int
    stale: list[str]
    waiting: str | None
    flight: dict[str, Any] | None
    counts: Counts


class Listed(BaseModel):
    """All networks, the oldest first."""

    networks: list[Described]


class Reported(BaseModel):
    """What a report has led to: the version that holds it, and whether its links are others than before.

    - older: nodes of the report that were older than what was known, and dropped. left_out: nodes beyond the horizon of
      most others, which are not taken. metrics: by their names.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "version": 7,
                    "time": 12.5,
                    "changed": True,
                    "added": 1,
                    "dropped": 1,
                    "metrics": {"links": 9.0, "throughput": 21.7, "connected": 1.0, "valid": 1.0},
                    "older": 0,
                    "left_out": 0,
                    "waiting": None,
                }
            ]
        }
    )

    version: int | None
    time: float | None
    changed: bool
    added: int
    dropped: int
    metrics: dict[str, float]
    older: int
    left_out: int
    waiting: str | None


class Taken(BaseModel):
    """A report that was taken and is not waited for: nodes that were news, and nodes that were older."""

    accepted: int
    older: int
    left_out: int


class Graph(BaseModel):
    """NetJSON: a NetworkGraph."""

    type: str = Field(examples=["NetworkGraph"])
    protocol: str
    version: str
    metric: str
    nodes: list[dict[str, Any]]
    links: list[dict[str, Any]]
    properties: dict[str, Any]


class State(BaseModel):
    """A version as the events show it.

    - sequence: counts up with each change; 0 for versions of before, and for networks that another replica runs.
    """

    sequence: int
    network: Described
    version: int | None
    time: float | None
    at: str | None
    nodes: list[dict[str, Any]]
    links: list[dict[str, Any]]
    metrics: dict[str, float]
    update: dict[str, Any] | None
    frame: dict[str, float] | None


class Summary(BaseModel):
    """A version in short."""

    version: int
    time: float
    at: str
    nodes: int
    links: int
    throughput: float
    sustained: float
    valid: bool
    connected: bool
    continuity: float | None
    added: int
    dropped: int
    changed: bool
    mode: str
    milliseconds: float


class History(BaseModel):
    """The newest version first."""

    versions: list[Summary]


class Columns(BaseModel):
    """One entry a version, the oldest first."""

    version: list[int]
    time: list[float]
    throughput: list[float]
    sustained: list[float]
    links: list[int]
    continuity: list[float | None]
    added: list[int]
    dropped: list[int]
    milliseconds: list[float]
    nodes: list[int]
    valid: list[bool]


class Explained(BaseModel):
    """T now and of the links of before, and why links have changed: as objects, and as lines to read."""

    throughput: float
    before: float
    continuity: float
    changes: list[dict[str, Any]]
    held_back: list[dict[str, Any]]
    lines: list[str]


class Denoised(BaseModel):
    """A denoising. nodes: ids, which links name by their places."""

    version: int
    nodes: list[str]
    steps: list[dict[str, Any]]
    corrected: dict[str, Any]
    polished: dict[str, Any]
