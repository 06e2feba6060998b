"""The previous links as they come into an update: as they are where nothing has changed, else as one of its samples."""

from __future__ import annotations

import numpy as np

from manetdiff.runtime.pins import CheckedPins
from manetdiff.runtime.previous import PreviousLinks
from manetdiff.runtime.refine import Refined, scored
from manetdiff.runtime.samples import Sample
from manetdiff.runtime.task import Task
from manetdiff.topology import Report


def as_it_was(previous: PreviousLinks, task: Task) -> Refined:
    """The previous topology, scored: an unmoved fleet keeps it, whatever a network would say."""
    topology = previous.topology
    return scored(Sample(topology.links, topology.parity), task.layout, Report())


def keeps_to(previous: PreviousLinks, pins: CheckedPins | None) -> bool:
    """Whether the previous topology has all links that must be there, and none that must not."""
    if pins is None:
        return True
    i, j = pins.keep.T
    links, parity = previous.topology.links, previous.topology.parity
    there = previous.linked(pins.keep) & (parity[i] != parity[j])
    return bool(there.all()) and not bool(pins.avoid[links[:, 0], links[:, 1]].any())


def carried_over(previous: PreviousLinks, pins: CheckedPins | None) -> Sample:
    """The previous links as a sample that keeps to the pins."""
    topology = previous.topology
    if pins is None:
        return Sample(topology.links, topology.parity)
    links = np.unique(np.concatenate([topology.links, pins.keep]), axis=0)
    return Sample(links, pins.aligned(topology.parity))
