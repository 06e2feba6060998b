"""What a solver has found, and which of two findings is better."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from manetdiff.radio import LinkTables, throughput
from manetdiff.topology import component_labels

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """A topology with its merit: fewest components first, then T. origin says what made it."""

    links: IntArray
    parity: IntArray
    components: int
    throughput: float
    origin: str
    report: Mapping[str, Any] = field(default_factory=dict)

    def with_report(self, **entries: Any) -> Found:
        """The same with more to say about how it was found."""
        return dataclasses.replace(self, report={**self.report, **entries})


def found(tables: LinkTables, links: IntArray, parity: IntArray, origin: str) -> Found:
    """Score a topology from scratch."""
    components = len(np.unique(component_labels(links, tables.nodes)))
    return Found(links, parity, components, throughput(tables, links, parity), origin)


def better(first: Found, second: Found) -> Found:
    """The better of the two; the first where they are equal."""
    if second.components != first.components:
        return second if second.components < first.components else first
    return second if second.throughput > first.throughput else first
