"""One call of generate or update: what is asked for, on which layout, and the topology that comes of it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.layout.choosing import NO_LINKS
from manetdiff.runtime.options import Options
from manetdiff.runtime.pins import CheckedPins, check_pins
from manetdiff.runtime.refine import Refined
from manetdiff.topology import Topology, find_parts

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """began, deadline: by time.perf_counter. offered: (m, 2) links that are candidates where they may be linked."""

    layout: Layout
    options: Options
    began: float
    deadline: float = math.inf
    offered: IntArray = field(default_factory=lambda: NO_LINKS)

    @cached_property
    def pins(self) -> CheckedPins | None:
        """Links that must and must not be, on this layout."""
        return check_pins(self.options.pins, self.layout) if self.options.pins else None

    @cached_property
    def judged(self) -> Layout:
        """The layout with the pins and what is offered, which the network reads and by which samples are corrected and
        searched."""
        pinned = self.layout if self.pins is None else self.layout.pinned(self.pins.keep, self.pins.avoid)
        return pinned.proposing(self.offered) if len(self.offered) else pinned

    def finished(self, best: Refined, **told: Any) -> Topology:
        """The topology. told: what its report says beside what sampling and refinement said."""
        parts = find_parts(best.sample.links, self.judged)
        report = best.report.replace(
            components=1 if parts is None else parts.components,
            parts=parts,
            seed=int(self.options.seed),
            throughput=best.throughput,
            **told,
            seconds=time.perf_counter() - self.began,
        )
        return Topology(*best.sample, report, self.layout)
