"""Partial diffusion as a picture: a fleet that has moved, and which of its links the update has kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from manetdiff.data import SolvedLayout
from manetdiff.pictures import draw_change
from manetdiff.pictures.frame import half_extent
from manetdiff.reproduce.partial import CASES
from manetdiff.runtime.model import Model
from manetdiff.runtime.partial import Mode
from manetdiff.scenarios import move_by
from manetdiff.topology import Topology, continuity, unwarned_of_parts

__all__ = ["CASES", "Case", "Change", "picture_of_change", "reconfigured", "typical"]

# Longer and narrower fleets leave a picture empty.
NARROWEST = 0.6

Case = tuple[Mode, float, int]


class Change(NamedTuple):
    """A topology before a movement and after its update. case: mode, movement and steps."""

    case: Case
    before: Topology
    after: Topology

    @property
    def continuity(self) -> float:
        """|E ∩ E'| / |E ∪ E'|."""
        return continuity(self.before, self.after)


def reconfigured(model: Model, layout: SolvedLayout, case: Case, seed: int) -> Change:
    """One of the paper's cases on a layout: raw, as in its tables."""
    mode, movement, steps = case
    moved = move_by(layout.fleet, movement, np.random.default_rng(seed))
    with unwarned_of_parts():
        after = model.update(layout.topology, moved, mode=mode, steps=steps, correct=False, seed=seed)
    return Change(case, layout.topology, after)


def typical(model: Model, layouts: Sequence[SolvedLayout], case: Case, seed: int) -> Change:
    """The change of median continuity, so that the picture flatters nobody; of the layouts that fill a picture."""
    wide = [layout for layout in layouts if np.divide(*np.sort(half_extent(layout.fleet))) > NARROWEST]
    changes = [reconfigured(model, layout, case, seed) for layout in wide]
    changes.sort(key=lambda change: change.continuity)
    return changes[(len(changes) - 1) // 2]


def picture_of_change(change: Change) -> Figure:
    """Before and after side by side: which links were kept, dropped and added."""
    mode, movement, steps = change.case
    before, after = change.before, change.after
    same = int((before.adjacency & after.adjacency).sum()) // 2
    titles = (
        f"before the movement of {movement:g}\n{len(before.links)} links, of which {len(before.links) - same} will be "
        "dropped",
        f"after it: {mode} update in {steps} steps\n{same} links kept, {len(after.links) - same} new: continuity "
        f"{change.continuity:.0%}",
    )
    return draw_change(before, after, titles=titles)
