"""A version of a network: its topology at a moment, what that is worth, and how it came of the one before.

It is stored as a record: plain values, with every number as it was to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manetdiff.fleet import Fleet, LocalFrame
from manetdiff.formats.nodes import geodetic_columns, local_columns
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.server.messages_in import EarthNode, LocalNode
from manetdiff.topology import Topology

Link = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """How a version came of the one before.

    - mode: 'generated' where there was none; 'held' where new links would have gained too little; else as the report of
      an update says. loyalty: what a kept link was worth, in bit/s/Hz. continuity: None where there was none before.
    - added, dropped: links by the ids of their nodes. turned: nodes that changed their parity.
    - unmet: why the pins could not be kept to, where they could not.
    """

    mode: str
    milliseconds: float
    loyalty: float | None
    continuity: float | None
    added: tuple[Link, ...]
    dropped: tuple[Link, ...]
    turned: int
    unmet: str | None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            **self.__dict__,
            "added": [list(link) for link in self.added],
            "dropped": [list(link) for link in self.dropped],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Change:
        """What `to_dict` gave."""
        links = {name: tuple((a, b) for a, b in values[name]) for name in ("added", "dropped")}
        return cls(**{**values, **links})


@dataclass(frozen=True, eq=False)
class Version:
    """One version.

    - number: 1, 2, … in its network. time: of the newest report in it, in seconds of the senders. at: when it was made,
      in seconds since 1970.
    - topology: it knows its fleet and radio. heard: (n,) the time of the last report of each node. stale: ids.
    - metrics: by their names, and `sustained`.
    """

    number: int
    time: float
    at: float
    topology: Topology
    heard: tuple[float, ...]
    stale: frozenset[str]
    metrics: Mapping[str, float]
    change: Change

    @property
    def layout(self) -> Layout:
        """Its fleet under its radio."""
        return self.topology.on()

    @property
    def fleet(self) -> Fleet:
        """Where the nodes were."""
        return self.layout.fleet

    def to_record(self) -> dict[str, Any]:
        """Plain values, from which `from_record` makes the same version again."""
        fleet, frame = self.fleet, self.fleet.frame
        return {
            "ids": list(fleet.ids),
            "positions": fleet.positions.tolist(),
            "yaw": fleet.yaw.tolist(),
            "frame": None if frame is None else [frame.latitude, frame.longitude],
            "radio": self.layout.radio.to_dict(),
            "links": self.topology.links.tolist(),
            "parity": self.topology.parity.tolist(),
            # A node of before the senders' clock was set anew has no time by it.
            "heard": [None if math.isinf(time) else time for time in self.heard],
            "stale": sorted(self.stale),
            "metrics": dict(self.metrics),
            "change": self.change.to_dict(),
        }

    @classmethod
    def from_record(cls, number: int, time: float, at: float, record: Mapping[str, Any]) -> Version:
        """What was stored."""
        frame = None if record["frame"] is None else LocalFrame(*record["frame"])
        fleet = Fleet(record["positions"], record["yaw"], record["ids"], frame)
        layout = Layout(fleet, Radio.from_dict(record["radio"]))
        return cls(
            number=number,
            time=time,
            at=at,
            topology=Topology(record["links"], record["parity"], layout=layout),
            heard=tuple(-math.inf if time is None else time for time in record["heard"]),
            stale=frozenset(record["stale"]),
            metrics=record["metrics"],
            change=Change.from_dict(record["change"]),
        )

    def nodes(self) -> list[LocalNode] | list[EarthNode]:
        """Its nodes as if they had been reported just so.

        They are not checked again: nodes that were set apart may be a little beyond what a report may say.
        """
        fleet = self.fleet
        if fleet.frame is None:
            return [LocalNode.model_construct(**row) for row in _rows(fleet, local_columns(fleet))]
        return [EarthNode.model_construct(**row) for row in _rows(fleet, geodetic_columns(fleet))]


def _rows(fleet: Fleet, columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [{"id": name, **dict(zip(columns, row, strict=True))} for name, row in zip(fleet.ids, values, strict=True)]
