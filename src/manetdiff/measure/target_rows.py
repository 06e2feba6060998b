"""The sets' own topologies."""

from __future__ import annotations

from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet

TARGET = "target"


def targets(layouts: LayoutSet) -> Rows:
    """What every way of making topologies is compared with; nothing was timed."""
    return Rows([{**solved.metrics, "target": solved.metrics["throughput"]} for solved in layouts])
