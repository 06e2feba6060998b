"""What two fleets have in common: displacement between them, in the frame that the model sees."""

from __future__ import annotations

import numpy as np

from manetdiff.errors import FleetError
from manetdiff.fleet.fleet import Fleet
from manetdiff.fleet.geodetic import wrapped

# Of the spread, and of a radian: less is rounding, of positions that were projected from degrees and back, say.
NOTHING = 1e-6


def displacement(before: Fleet, after: Fleet) -> float:
    """RMS distance that the nodes have moved, in normalised coordinates.

    Both fleets are normalised first, so a fleet that flies on, turns or widens as a whole has not moved: what counts is
    how its shape has changed. The fleets must hold the same ids in the same order.
    """
    if before.ids != after.ids:
        raise FleetError("displacement needs the same ids in the same order before and after")
    old, new = before.normalised().positions, after.normalised().positions
    axes = min(old.shape[1], new.shape[1])  # of heights that only one of them knows nothing can be said
    moved = new[:, :axes] - old[:, :axes]
    return float(np.sqrt((moved**2).sum(axis=1).mean()))


def same_places(before: Fleet, after: Fleet) -> bool:
    """Whether nobody has moved or turned: the fleet may have flown on and turned as a whole, but not widened.

    Nor may other directions be blocked than before: a link may have become possible, or impossible.
    """
    if before.has_heights != after.has_heights or before.blocked != after.blocked:
        return False
    if abs(after.spread / before.spread - 1.0) > NOTHING:
        return False
    (places, yaw), (were, were_yaw) = after.normalised_arrays(), before.normalised_arrays()
    # In the scale, not in a spread that a node far out has set.
    nothing = NOTHING * after.scale / after.spread
    return bool(np.abs(places - were).max() <= nothing and np.abs(wrapped(yaw - were_yaw)).max() <= NOTHING)
