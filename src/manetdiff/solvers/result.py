"""What a solver has found, and which of two findings is better."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.radio import throughput
from manetdiff.topology import Report, count_components

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """A topology with its merit: fewest components first, then T. origin says what made it."""

    links: IntArray
    parity: IntArray
    components: int
    throughput: float
    origin: str
    report: Report = field(default_factory=Report)

    def with_report(self, **entries: Any) -> Found:
        """The same with more to say about how it was found."""
        return replace(self, report=self.report.replace(**entries))


def found(layout: Layout, links: IntArray, parity: IntArray, origin: str) -> Found:
    """Score a topology from scratch."""
    components = count_components(links, len(layout))
    return Found(links, parity, components, throughput(layout.placement, links, parity), origin)


def better(first: Found, second: Found) -> Found:
    """The better of the two; the first where they are equal."""
    if second.components != first.components:
        return second if second.components < first.components else first
    return second if second.throughput > first.throughput else first
