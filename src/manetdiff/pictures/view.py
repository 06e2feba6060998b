"""What pictures of a fleet in flight have in common, so that nothing jumps from one to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.pictures.frame import FloatArray, half_extent
from manetdiff.pictures.marks import node_radius


@dataclass(frozen=True)
class View:
    """half: (2,) half its width and height. radius: of a node. Both in metres, around the middle of the fleet."""

    half: FloatArray
    radius: float

    @classmethod
    def of(cls, fleets: Iterable[Fleet]) -> View:
        """The view that all of them fit in."""
        every = list(fleets)
        half = np.max([half_extent(fleet) for fleet in every], axis=0)
        return cls(half, min(node_radius(fleet, 2 * half.max()) for fleet in every))
