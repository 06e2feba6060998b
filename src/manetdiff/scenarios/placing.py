"""Building blocks of layouts: random lengths, groups, and cells to put them in.

Inside a layout a place is one complex number, x + iy in metres, with the fleet flying along +x: to turn is to multiply.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
ComplexArray = npt.NDArray[np.complex128]
Layout = tuple[ComplexArray, FloatArray]  # places (n,) and yaw (n,)
Families = dict[str, Callable[[int, np.random.Generator], Layout]]

KM = 1000.0


def length_km(rng: np.random.Generator, low: float, high: float, n: int = 0) -> float:
    """A length in metres between low and high km, no scale preferred; large fleets (n) draw from the shorter ones."""
    upper = max(low * 1.5, high * min(1.0, float(np.sqrt(48 / max(n, 1)))))
    return KM * float(np.exp(rng.uniform(np.log(low), np.log(upper))))


def coin(rng: np.random.Generator) -> int:
    """-1 or 1."""
    return 1 if rng.random() < 0.5 else -1


def split(n: int, largest: int) -> IntArray:
    """Sizes of the fewest groups of at most `largest` that hold n aircraft, as equal as can be, larger ones first."""
    count = -(-n // largest)
    return np.array([n // count + (group < n % count) for group in range(count)], dtype=np.int64)


def members(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """For each aircraft its group and its place in the group, each (n,)."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    first = np.cumsum(sizes) - sizes
    return group, np.arange(len(group)) - first[group]


def cells(count: int, columns: int) -> tuple[FloatArray, FloatArray]:
    """Row and column, each (count,) and centred on zero, of a block of equal rows of at most so many columns."""
    widths = split(count, columns)
    row, column = members(widths)
    return np.asarray(row - (len(widths) - 1) / 2, dtype=np.float64), column - (widths[row] - 1) / 2


def jitter(n: int, amplitude: float, rng: np.random.Generator) -> ComplexArray:
    """(n,) offsets, each up to the amplitude along either axis."""
    east, north = rng.uniform(-amplitude, amplitude, (2, n))
    return np.asarray(east + 1j * north, dtype=np.complex128)


def common_heading(n: int, rng: np.random.Generator) -> FloatArray:
    """(n,) yaw of aircraft that fly along +x together, each within a few degrees."""
    return rng.normal(0.0, np.radians(rng.uniform(1.0, 4.0)), n)


def as_places(positions: FloatArray) -> ComplexArray:
    """Positions (n, 2) as places (n,)."""
    return np.asarray(positions[:, 0] + 1j * positions[:, 1], dtype=np.complex128)


def as_positions(places: ComplexArray) -> FloatArray:
    """Places (n,) as positions (n, 2)."""
    return np.stack([places.real, places.imag], axis=1)
