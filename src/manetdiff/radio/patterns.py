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
    decibel = -np.minimum(12 * (off_axis / half_power_width(radio)) ** 2, radio.floor_db)
    return np.asarray(10 ** (decibel / 10), dtype=np.float64)


def half_power_width(radio: Radio) -> float:
    """Of a steered beam, in radians."""
    return 2 * radio.theta_max if radio.beamwidth is None else radio.beamwidth


# By the name of the pattern: gain, 0 … 1, at angles off the axis, in radians.
STEERED: dict[Pattern, Callable[[FloatArray, Radio], FloatArray]] = {"parabolic": parabolic}


def angles_of_bearing(aims: FloatArray, others: FloatArray) -> FloatArray:
    """(…, a, b) between bearings (…, a) and (…, b)."""
    apart = np.abs(aims[..., :, None] - others[..., None, :])
    return np.asarray(np.minimum(apart, 2 * math.pi - apart))


def angles_in_space(aims: FloatArray, others: FloatArray) -> FloatArray:
    """(…, a, b) between offsets (…, a, 3) and (…, b, 3)."""
    towards_aims = _direction(aims)
    # numpy multiplies an array by itself in another way, to other last bits.
    towards_others = towards_aims if others is aims else _direction(others)
    cosine = towards_aims @ np.swapaxes(towards_others, -1, -2)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _direction(offset: FloatArray) -> FloatArray:
    length = np.linalg.norm(offset, axis=-1, keepdims=True)
    # No direction leads from a node to itself; what stands there is never used.
    return np.asarray(offset / np.where(length > 0, length, 1.0))
