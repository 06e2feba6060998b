"""Beam patterns: how much of its power a node sends beside the peer that it points at.

A steered pattern has a gain for every angle off its axis, at the transmitter and at the receiver alike. The cone has

- none: it is all or nothing, and a receiver hears a whole sector. A new steered pattern is a function here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from manetdiff.radio.radio import Radio

FloatArray = npt.NDArray[np.float64]
Pattern = Literal["cone", "parabolic"]


def parabolic(off_axis: FloatArray, radio: Radio) -> FloatArray:
    """Gain of a beam that falls off by 12·(φ/beamwidth)² dB, down to its side lobes."""
    half_power = 2 * radio.theta_max if radio.beamwidth is None else radio.beamwidth
    decibel = -np.minimum(12 * (off_axis / half_power) ** 2, radio.floor_db)
    return np.asarray(10 ** (decibel / 10), dtype=np.float64)


# By the name of the pattern: gain, 0 … 1, at angles off the axis, in radians.
STEERED: dict[Pattern, Callable[[FloatArray, Radio], FloatArray]] = {"parabolic": parabolic}


def steered_gain(bearing: FloatArray, radio: Radio) -> FloatArray:
    """(n, n, n): gain at k, steered at l, in the direction of j; empty for cones. bearing: (n, n) in radians."""
    if radio.pattern not in STEERED:
        return np.empty((0, 0, 0))
    off_axis = np.abs(bearing[:, :, None] - bearing[:, None, :])
    return STEERED[radio.pattern](np.minimum(off_axis, 2 * math.pi - off_axis), radio)
