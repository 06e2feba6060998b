"""An update never harms: what it makes is measured against the previous links, corrected and polished.

A network that is far from its radio may lose links and throughput that a short search from the previous links keeps.
"""

from __future__ import annotations

import numpy as np

from manetdiff.runtime.effort import Effort
from manetdiff.runtime.pins import CheckedPins
from manetdiff.runtime.previous import PreviousLinks
from manetdiff.runtime.refine import Refined, best_of, scored
from manetdiff.runtime.samples import Sample
from manetdiff.runtime.task import Task
from manetdiff.solvers.local_search import GENTLE
from manetdiff.topology import Report

# Moves of the local search a node: they take about as long as the network's steps do.
MOVES_A_NODE = 100
# What a kept link is worth against T, in bit/s/Hz; a link carries about 3.5.
LOYALTY = 1.0


def no_worse(made: Refined, previous: PreviousLinks, task: Task) -> Refined:
    """What an update made, unless the previous links, corrected or also polished, have no less T and no fewer of the
    previous links; then the better of these two, a kept link counting for LOYALTY."""
    old = carried_over(previous, task.pins)
    corrected = best_of([old], task.judged, Effort(1), task.options.seed)
    if not corrected.report.fallback and _kept(made, previous) >= _kept(corrected, previous):
        return made  # polishing would trade further links for T
    effort = Effort(1, polish=MOVES_A_NODE * len(task.layout), annealing=GENTLE)
    polished = best_of([old], task.judged, effort, task.options.seed)
    if not any(_dominates(other, made, previous) for other in (corrected, polished)):
        return made
    megahertz = task.layout.tables.megahertz

    def worth(one: Refined) -> tuple[int, float]:
        return -one.components, one.throughput + LOYALTY * megahertz * _kept(one, previous)

    best = max(corrected, polished, key=worth)
    told = {name: getattr(best.report, name) for name in ("connected", "valid", "correction", "polish")}
    return best._replace(report=made.report.replace(**told, kept=-1, fallback=True))


def as_it_was(previous: PreviousLinks, task: Task) -> Refined:
    """The previous topology, scored: an unmoved fleet keeps it, whatever a network would say."""
    topology = previous.topology
    return scored(Sample(topology.links, topology.parity), task.layout, Report())


def keeps_to(previous: PreviousLinks, pins: CheckedPins | None) -> bool:
    """Whether the previous topology has all links that must be there, and none that must not."""
    if pins is None:
        return True
    i, j = pins.keep.T
    there = previous.edges[i, j] & (previous.parity[i] != previous.parity[j])
    return bool(there.all()) and not bool((previous.edges & pins.avoid).any())


def carried_over(previous: PreviousLinks, pins: CheckedPins | None) -> Sample:
    """The previous links as a sample that keeps to the pins."""
    topology = previous.topology
    if pins is None:
        return Sample(topology.links, topology.parity)
    links = np.unique(np.concatenate([topology.links, pins.keep]), axis=0)
    return Sample(links, pins.aligned(topology.parity))


def _dominates(one: Refined, other: Refined, previous: PreviousLinks) -> bool:
    if one.components != other.components:
        return one.components < other.components
    return one.throughput >= other.throughput and _kept(one, previous) >= _kept(other, previous)


def _kept(one: Refined, previous: PreviousLinks) -> int:
    i, j = one.sample.links.T
    return int(previous.edges[i, j].sum())
