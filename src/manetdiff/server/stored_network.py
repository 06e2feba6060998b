"""One network as the database has it, for replicas that do not run it: as it was when its latest version was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from manetdiff.server.describing import Counts, described
from manetdiff.server.store import NetworkRow
from manetdiff.server.versions import Version


@dataclass(frozen=True)
class StoredNetwork:
    """It can be looked at, and nothing else. What only its owner knows, such as its counts, is not in it."""

    row: NetworkRow
    latest: Version | None

    def described(self) -> dict[str, Any]:
        """The network, JSON-ready."""
        row, latest = self.row, self.latest
        return described(
            row,
            latest,
            nodes=0 if latest is None else len(latest.fleet),
            stale=() if latest is None else latest.stale,
            flight=None
            if row.flight is None
            else {**row.flight.model_dump(), "time": 0.0 if latest is None else latest.time},
            counts=Counts(),
        )
