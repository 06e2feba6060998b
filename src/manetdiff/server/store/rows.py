"""Rows of the tables as the rest of the service knows them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from manetdiff.radio import Radio
from manetdiff.server.messages_in import NewFlight, Pins, Settings
from manetdiff.server.versions import Version

Summary = dict[str, Any]

# Of a version, beside its record.
SUMMARY = (
    *("version", "time", "at", "nodes", "links", "throughput", "sustained", "valid", "connected"),
    *("continuity", "added", "dropped", "mode", "milliseconds"),
)


@dataclass(frozen=True)
class NetworkRow:
    """A network without its versions.

    - created: seconds since 1970. flight: that the server flies, if it does. fence: how often the network had changed
      hands when this was read; see `store.replicas`.
    """

    id: str
    name: str
    created: float
    radio: Radio
    settings: Settings
    pins: Pins
    flight: NewFlight | None = None
    fence: int = 0

    def to_values(self) -> dict[str, Any]:
        """By the columns' names, but for whose it is."""
        return {
            "id": self.id,
            "name": self.name,
            "created": self.created,
            "radio": json.dumps(self.radio.to_dict()),
            "settings": self.settings.model_dump_json(),
            "pins": self.pins.model_dump_json(),
            "flight": None if self.flight is None else self.flight.model_dump_json(),
        }

    @classmethod
    def from_values(cls, values: Any) -> NetworkRow:
        """values: a row of the table."""
        return cls(
            id=values.id,
            name=values.name,
            created=values.created,
            radio=Radio.from_dict(json.loads(values.radio)),
            settings=Settings.model_validate_json(values.settings),
            pins=Pins.model_validate_json(values.pins),
            flight=None if values.flight is None else NewFlight.model_validate_json(values.flight),
            fence=values.fence,
        )


def version_values(network: str, version: Version) -> dict[str, Any]:
    """A version by the columns' names."""
    change, metrics = version.change, version.metrics
    return {
        "network": network,
        "version": version.number,
        "time": version.time,
        "at": version.at,
        "nodes": len(version.fleet),
        "links": len(version.topology.links),
        "throughput": metrics["throughput"],
        "sustained": metrics["sustained"],
        "valid": metrics["valid"] == 1.0,
        "connected": metrics["connected"] == 1.0,
        "continuity": change.continuity,
        "added": len(change.added),
        "dropped": len(change.dropped),
        "mode": change.mode,
        "milliseconds": change.milliseconds,
        "record": json.dumps(version.to_record(), allow_nan=False, separators=(",", ":")),
    }


def version_of(values: Any) -> Version:
    """values: a row of the table."""
    return Version.from_record(values.version, values.time, values.at, json.loads(values.record))


def summary_of(values: Any) -> Summary:
    """What lists show of a version. values: a row of the table."""
    told = {name: getattr(values, name) for name in SUMMARY}
    return {**told, "changed": bool(values.added or values.dropped)}
