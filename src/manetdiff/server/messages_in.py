"""What comes in over HTTP and WebSocket: checked here, once, field by field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from manetdiff.runtime.presets import PRESETS

# Positions in metres and times in seconds that anyone means; beyond them arithmetic would lose what is small.
FARTHEST, LATEST = 1e9, 1e12
LONGEST_NAME = 128
# Nodes of a report, however many a network may have: what is longer is not even read to its end.
MOST_NODES = 4096


def _printable(text: str) -> str:
    """Names are shown, logged and stored: what cannot be shown has no place in them."""
    if not text.isprintable():
        raise ValueError("must be of printable characters")
    return text


def _known_preset(name: str) -> str:
    if name not in PRESETS:
        raise ValueError(f"must be one of {', '.join(PRESETS)}")
    return name


Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME), AfterValidator(_printable)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Time = Annotated[float, Field(ge=-LATEST, le=LATEST, allow_inf_nan=False)]
Metres = Annotated[float, Field(ge=-FARTHEST, le=FARTHEST, allow_inf_nan=False)]
Angle = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Link = Annotated[list[Name], Field(min_length=2, max_length=2)]
# Seconds of flight a second, and updates a second; slower ones could as well be paused.
Speed = Annotated[float, Field(ge=0.01, le=100, allow_inf_nan=False)]
Rate = Annotated[float, Field(ge=0.1, le=20, allow_inf_nan=False)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]
Preset = Annotated[str, AfterValidator(_known_preset), Field(json_schema_extra={"enum": list(PRESETS)})]


class Message(BaseModel):
    """Nothing beside what is named here is taken: a misspelt setting must not be lost in silence. Nor is a number that
    is written as text, or a truth that is written as a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Settings(Message):
    """How a network is kept.

    - preset: of topologies that are made anew. loyalty, setup, uncertainty, seed: as of `Model.update`.
    - ahead: whether links are judged also by where the fleet is predicted to be at the next report.
    - stale, gone: seconds without news until a node is marked, and until it is taken out.
    - least_gain: share of T by which new links must be better before any are changed; old links that break a rule
      are changed in any case.
    """

    preset: Preset = "balanced"
    loyalty: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] | None = None
    setup: Seconds | None = None
    stale: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 10.0
    gone: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 30.0
    least_gain: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 0.005
    ahead: Literal["predicted", "none"] = "predicted"
    uncertainty: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = 0.0
    seed: Seed = 0

    @model_validator(mode="after")
    def _in_order(self) -> Settings:
        if self.gone < self.stale:
            raise ValueError("gone must not be less than stale: a node is marked before it is taken out")
        return self


class Pins(Message):
    """Links that must be there, pairs that must not be linked, nodes that stay silent; all by id."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"keep": [["A", "B"]], "avoid": [["A", "C"]], "silent": ["D"]}]},
    )

    keep: Annotated[list[Link], Field(max_length=4096)] = []
    avoid: Annotated[list[Link], Field(max_length=4096)] = []
    silent: Annotated[list[Name], Field(max_length=1024)] = []

    @model_validator(mode="after")
    def _of_two(self) -> Pins:
        for pair in (*self.keep, *self.avoid):
            if pair[0] == pair[1]:
                raise ValueError(f"a link joins two nodes, not {pair[0]!r} to itself")
        return self


class NewNetwork(Message):
    """radio: parameters of `Radio`, or `{"link_budget": {…}}`; by default the one that the weights were trained for."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"name": "Patrol"},
                {
                    "name": "Relay",
                    "radio": {
                        "link_budget": {
                            "frequency": 2.4e9,
                            "bandwidth": 10e6,
                            "power": 5,
                            "gain": 15,
                            "noise_figure": 4,
                        }
                    },
                    "settings": {"setup": 2.0, "stale": 5.0, "gone": 20.0},
                },
            ]
        },
    )

    name: Name
    radio: dict[str, Any] | None = None
    settings: Settings = Settings()
    pins: Pins = Pins()


class ChangedNetwork(Message):
    """What is given is changed; of the settings, those that are given."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"settings": {"loyalty": 1.5, "preset": "fast"}}]}
    )

    name: Name | None = None
    radio: dict[str, Any] | None = None
    settings: dict[str, Any] | None = None


class LocalNode(Message):
    """In metres, x to the east and y to the north; yaw in radians, counter-clockwise from east."""

    id: Name
    x: Metres
    y: Metres
    z: Metres | None = None
    yaw: Angle | None = None


class EarthNode(Message):
    """In degrees; altitude in metres, heading clockwise from north."""

    id: Name
    lat: Annotated[float, Field(ge=-90, le=90, allow_inf_nan=False)]
    lon: Annotated[float, Field(ge=-180, le=360, allow_inf_nan=False)]
    alt: Metres | None = None
    heading: Angle | None = None


def _kind(node: object) -> str:
    """By what it says: a node of degrees has a latitude."""
    earth = "lat" in node if isinstance(node, dict) else isinstance(node, EarthNode)
    return "degrees" if earth else "metres"


Node = Annotated[
    Annotated[LocalNode, Tag("metres")] | Annotated[EarthNode, Tag("degrees")],
    Discriminator(_kind),
]


class Positions(Message):
    """Where nodes are at a time (seconds, by any clock that all senders of a network share).

    - complete: whether these are all nodes of the fleet, so that others have left. Where a node points is taken from
      its movement if it does not say so.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "time": 0,
                    "nodes": [
                        {"id": "A", "x": 0, "y": 0, "yaw": 0.0},
                        {"id": "B", "x": 4000, "y": 1500, "yaw": 0.1},
                        {"id": "C", "x": 2500, "y": -3000, "yaw": 0.0},
                    ],
                },
                {
                    "time": 1763459000.0,
                    "nodes": [
                        {"id": "A", "lat": 47.1, "lon": 8.5, "alt": 1200, "heading": 90},
                        {"id": "B", "lat": 47.13, "lon": 8.55, "alt": 1300, "heading": 95},
                        {"id": "C", "lat": 47.09, "lon": 8.58, "alt": 1250, "heading": 80},
                    ],
                },
            ]
        },
    )

    time: Time
    nodes: Annotated[list[Node], Field(min_length=1, max_length=MOST_NODES)]
    complete: bool = False


class NewFlight(Message):
    """A flight that the server flies: speed in seconds of flight a second, rate in updates a second."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"family": "wedge", "nodes": 16, "speed": 4, "rate": 2}]}
    )

    family: Annotated[str, Field(max_length=64)] = "wedge"
    motion: Annotated[str, Field(max_length=64)] | None = None
    nodes: Annotated[int, Field(ge=2, le=1024)] = 16
    seed: Seed = 0
    speed: Speed = 4.0
    rate: Rate = 2.0
    playing: bool = True


class ChangedFlight(Message):
    """What is given is changed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"playing": False}]})

    playing: bool | None = None
    speed: Speed | None = None
    rate: Rate | None = None
