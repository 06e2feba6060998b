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
# Of T, what rounding makes of the same links.
ROUNDING = 1e-9


def no_worse(made: Refined, previous: PreviousLinks, task: Task) -> Refined:
    """What an update made, unless the previous links, corrected or also polished, are better: in fewer parts, or with
    more T or more of the previous links and no less of the other; then the better of these two, a kept link counting
    for LOYALTY. They are polished only if something is wrong with what was made: that takes as long as making it."""
    old = carried_over(previous, task.pins)
    corrected = best_of([old], task.judged, Effort(1), task.options.seed)
    keeps_as_many = not corrected.report.fallback and _kept(made, previous) >= _kept(corrected, previous)
    if keeps_as_many and not _is_better(corrected, made, previous):
        return made  # polishing would trade further links for T
    effort = Effort(1, polish=MOVES_A_NODE * len(task.layout), annealing=GENTLE)
    polished = best_of([old], task.judged, effort, task.options.seed)
    if not any(_is_better(other, made, previous) for other in (corrected, polished)):
        return made
    megahertz = task.layout.radio.bandwidth / 1e6

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


def _is_better(one: Refined, other: Refined, previous: PreviousLinks) -> bool:
    if one.components != other.components:
        return one.components < other.components
    more_kept = _kept(one, previous) - _kept(other, previous)
    more_t, nothing = one.throughput - other.throughput, ROUNDING * other.throughput
    return more_t >= -nothing and more_kept >= 0 and (more_t > nothing or more_kept > 0)


def _kept(one: Refined, previous: PreviousLinks) -> int:
    i, j = one.sample.links.T
    return int(previous.edges[i, j].sum())
