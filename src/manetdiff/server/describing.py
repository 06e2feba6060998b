"""What is said about a network itself, whoever says it: who runs it, or who reads it from the database."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from manetdiff.server.states import date_text
from manetdiff.server.store import NetworkRow
from manetdiff.server.versions import Version


@dataclasses.dataclass
class Counts:
    """Since the network was taken up."""

    reports: int = 0
    older: int = 0
    shed: int = 0


def described(
    row: NetworkRow,
    latest: Version | None,
    *,
    nodes: int,
    stale: Collection[str],
    flight: dict[str, object] | None,
    counts: Counts,
) -> dict[str, Any]:
    """The network, JSON-ready."""
    return {
        "id": row.id,
        "name": row.name,
        "created": date_text(row.created),
        "radio": row.radio.to_dict(),
        "settings": row.settings.model_dump(),
        "pins": row.pins.model_dump(),
        "version": None if latest is None else latest.number,
        "time": None if latest is None else latest.time,
        "nodes": nodes,
        "links": 0 if latest is None else len(latest.topology.links),
        "stale": sorted(stale),
        "waiting": waiting_for(nodes),
        "flight": flight,
        "counts": dataclasses.asdict(counts),
    }


def waiting_for(nodes: int) -> str | None:
    """What a topology still needs where there are so many nodes."""
    missing = 2 - nodes
    return None if missing <= 0 else f"positions of at least {missing} more node{'s' if missing > 1 else ''}"
