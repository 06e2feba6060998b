"""What tests ask of the pairs of a fleet."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff import Fleet, Radio
from manetdiff.radio import PairValues, Placement


def every_pair(fleet: Fleet, radio: Radio | None = None) -> PairValues:
    """(n, n) pairs under a radio, the default one unless told otherwise."""
    return Placement(fleet, Radio() if radio is None else radio).every_pair


def linkable(fleet: Fleet, radio: Radio | None = None) -> npt.NDArray[np.bool_]:
    """(n, n) which pairs may be linked."""
    place = Placement(fleet, Radio() if radio is None else radio)
    return place.linkable(place.every_pair)
