"""Updates of moved fleets: what each way of updating keeps of the links and of T, and how long it takes."""

from __future__ import annotations

from dataclasses import dataclass

from manetdiff.measure.moved import Moved
from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet
from manetdiff.measure.store import RowStore
from manetdiff.measure.ways.repairs import WAYS, repaired
from manetdiff.measure.ways.runtime import with_generated
from manetdiff.measure.ways.updates import updated

MOVEMENTS = (0.1, 0.3)
BEFORE = "careful"
# What the moved fleets' topologies are compared with.
TARGET_MOVES = 50_000
# Weights that were trained with heading-conditioned transitions.
HEADING = "netdiff-heading"


@dataclass(frozen=True)
class UpdateRow:
    """Means over moved fleets. ratio: T over that of a long search from scratch."""

    movement: float
    way: str
    seconds: float
    ratio: float
    connected: float
    parity: float
    valid: float
    continuity: float


def update_rows(store: RowStore, layouts: LayoutSet) -> list[UpdateRow]:
    """Every way of updating, on every layout moved by each of MOVEMENTS."""
    before = with_generated(layouts, BEFORE)
    return [
        UpdateRow(
            movement,
            way,
            rows.mean("milliseconds") / 1e3,
            **rows.means(("ratio", "connected", "parity", "valid", "continuity")),
        )
        for movement in MOVEMENTS
        for way, rows in _ways(store, Moved(before, movement, TARGET_MOVES)).items()
    ]


def _ways(store: RowStore, moved: Moved) -> dict[str, Rows]:
    return {
        "50 steps, anew": updated(store, moved, "anew", steps=50, samples=1, polish=False),
        "preset balanced, anew": updated(store, moved, "anew"),
        "minor": updated(store, moved, "minor"),
        "minor, 8 steps": updated(store, moved, "minor", steps=8),
        "standard": updated(store, moved, "standard"),
        "standard, 15 steps": updated(store, moved, "standard", steps=15),
        "guided": updated(store, moved, "guided"),
        "minor, by heading": updated(store, moved, "minor", weights=HEADING),
        "standard, by heading": updated(store, moved, "standard", weights=HEADING),
        "standard, polished": updated(store, moved, "standard", polish=500),
        **{way: repaired(store, moved, way) for way in WAYS},
    }
