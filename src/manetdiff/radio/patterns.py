"""Beam patterns: how much of its power a node sends beside the peer that it points at.

A steered pattern has a gain for every angle off its axis, at the transmitter and at the receiver alike. The cone has
none: it is all or nothing, and a receiver hears a whole sector. A new steered pattern is a function here.
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


def steered_gain(offset: FloatArray, bearing: FloatArray, radio: Radio) -> FloatArray:
    """(n, n, n): gain at k, steered at l, in the direction of j; empty for cones.

    - offset: (n, n, 2) or, with heights, (n, n, 3), from the first node to the second. bearing: (n, n) in radians.
    """
    if radio.pattern not in STEERED:
        return np.empty((0, 0, 0))
    # A steered beam follows elevation. Where there is none, the angle is the difference of bearings, to the last bit.
    elevated = offset.shape[2] == 3 and bool(offset[..., 2].any())
    return STEERED[radio.pattern](_angles_in_space(offset) if elevated else _angles_of_bearing(bearing), radio)


def _angles_of_bearing(bearing: FloatArray) -> FloatArray:
    apart = np.abs(bearing[:, :, None] - bearing[:, None, :])
    return np.minimum(apart, 2 * math.pi - apart)


def _angles_in_space(offset: FloatArray) -> FloatArray:
    length = np.linalg.norm(offset, axis=2, keepdims=True)
    # No direction leads from a node to itself; what stands there is never used.
    direction = offset / np.where(length > 0, length, 1.0)
    return np.arccos(np.clip(direction @ direction.transpose(0, 2, 1), -1.0, 1.0))
