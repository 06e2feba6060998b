"""From the samples of a piece to topologies: all of them by one compiled call, but for what only Python can do."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from manetdiff.gpu.pieces import Piece
from manetdiff.layout import Layout
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.refine import Refined, best_of, joined_by_search
from manetdiff.runtime.samples import Sample
from manetdiff.solvers.correction import COUNTS
from manetdiff.solvers.stack_refinement import StackSamples, best_of_stack
from manetdiff.topology import PolishReport, Report, Topology, find_parts


@dataclass(frozen=True)
class Refiner:
    """began: by time.perf_counter, when the call began. report: what is the same for all of its topologies."""

    effort: Effort
    seed: int
    began: float
    report: Report

    def topologies(self, piece: Piece, samples: StackSamples) -> list[Topology]:
        """The best sample of each fleet of a piece, refined."""
        sampled = time.perf_counter() - self.began
        # What is not corrected may hold what no search state can.
        together = piece.stacked if self.effort.correct else 0
        made = self._together(piece, samples.part(slice(0, together)), sampled) if together else []
        layouts = [Layout(fleet, piece.radio) for fleet in piece.fleets[together : piece.stacked]] + piece.alone
        for row, layout in enumerate(layouts, start=together):
            best = best_of(listed_samples(samples, row), layout, self.effort, self.seed)
            made.append(self._finished(best, layout, sampled))
        return made

    def _together(self, piece: Piece, samples: StackSamples, sampled: float) -> list[Topology]:
        assert piece.stack is not None
        began, effort = time.perf_counter(), self.effort
        best = best_of_stack(piece.stack, samples, self.seed, effort.polish, effort.annealing)
        best.links.flags.writeable = best.parity.flags.writeable = False
        now = time.perf_counter()
        stages = {"sampling": sampled, "refinement": (now - began) / len(piece.stack)}
        told = self.report.replace(seconds=now - self.began, stages=stages)
        numbers = zip(
            *(part.tolist() for part in (best.kept, best.components, best.fewest, best.throughput, best.size)),
            *(part.tolist() for part in (best.counts, best.gain, best.improved)),
            strict=True,
        )
        made = []
        for row, (kept, components, fewest, throughput, size, counts, gain, improved) in enumerate(numbers):
            layout, links, parity = Layout(piece.fleets[row], piece.radio), best.links[row, :size], best.parity[row]
            whole = components == 1
            report = told.replace(
                kept=kept,
                components=components,
                correction=dict(zip(COUNTS, counts, strict=True)),
                connected=whole,
                valid=whole,
                throughput=throughput,
                polish=PolishReport(effort.polish, gain, improved) if effort.polish else told.polish,
            )
            if whole:
                made.append(Topology.of_sound(links, parity, report, layout))
                continue
            refined = Refined(Sample(links, parity), components, throughput, throughput, report)
            if components > fewest:
                refined = joined_by_search(refined, layout, self.seed, math.inf)
            made.append(self._finished(refined, layout, sampled))
        return made

    def _finished(self, best: Refined, layout: Layout, sampled: float) -> Topology:
        parts = find_parts(best.sample.links, layout)
        common: dict[str, Any] = {
            name: getattr(self.report, name) for name in ("method", "weights", "seed", "steps", "samples")
        }
        report = best.report.replace(
            **common,
            components=1 if parts is None else parts.components,
            parts=parts,
            throughput=best.throughput,
            seconds=time.perf_counter() - self.began,  # of the batch, up to here
            stages={**best.report.stages, "sampling": sampled},
        )
        return Topology(*best.sample, report, layout)


def listed_samples(samples: StackSamples, row: int) -> list[Sample]:
    """The samples of one layout."""
    pairs, parity = samples.pairs[samples.begin[row] : samples.end[row]], samples.parity[row].astype(np.int64)
    whole = len(parity) * len(pairs)
    linked = samples.linked[samples.at[row] : samples.at[row] + whole].reshape(len(parity), len(pairs)) > 0
    return [Sample(pairs[mine], one) for mine, one in zip(linked, parity, strict=True)]
