"""What pictures of a fleet in flight have in common, so that nothing jumps from one to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.pictures.far_out import drawn_in
from manetdiff.pictures.frame import FloatArray, half_extent
from manetdiff.pictures.marks import NAMED_UP_TO, node_radius
from manetdiff.pictures.names import legible


@dataclass(frozen=True)
class View:
    """half: (2,) half its width and height, around the middle of the fleet. radius: of a node. Both in metres.

    - letters: of the longest name; 0 where there are too many nodes for names.
    """

    half: FloatArray
    radius: float
    letters: int

    @classmethod
    def of(cls, fleets: Iterable[Fleet]) -> View:
        """The view that all of them fit in, with nodes far out drawn in."""
        every = [drawn_in(fleet) for fleet in fleets]
        half = np.max([half_extent(fleet) for fleet in every], axis=0)
        names = [len(legible(name)) for fleet in every if len(fleet) <= NAMED_UP_TO for name in fleet.ids]
        return cls(half, min(node_radius(fleet, 2 * half.max()) for fleet in every), max(names, default=0))
