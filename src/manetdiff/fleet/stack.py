"""Fleets of one size side by side: what is asked of every fleet, computed for all of them at once.

Each number is the one that the fleet itself would give, to the last bit: the same operations in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manetdiff.fleet.fleet import Fleet
from manetdiff.fleet.geodetic import wrapped
from manetdiff.fleet.outliers import FAR, ONE_IN
from manetdiff.once import once

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FleetStack:
    """b fleets of n nodes. positions: (b, n, 2) or (b, n, 3). yaw: (b, n)."""

    positions: FloatArray
    yaw: FloatArray

    @classmethod
    def of(cls, fleets: Sequence[Fleet]) -> FleetStack:
        """Fleets of one size, all with heights or none."""
        return cls(np.stack([fleet.positions for fleet in fleets]), np.stack([fleet.yaw for fleet in fleets]))

    def __len__(self) -> int:
        return len(self.positions)

    def part(self, which: slice | BoolArray) -> FleetStack:
        """Some of them."""
        return FleetStack(self.positions[which], self.yaw[which])

    @once
    def far_out(self) -> BoolArray:
        """(b,) whether any node is far out, see `Fleet.far_out`."""
        horizontal = self.positions[..., :2]
        centred = (horizontal - np.median(horizontal, axis=1, keepdims=True)) / 2
        outwards = np.sort(np.hypot(centred[..., 0], centred[..., 1]), axis=1)
        fewest = outwards.shape[1] - outwards.shape[1] // ONE_IN
        nearer, farther = outwards[:, fewest - 1 : -1], outwards[:, fewest:]
        return np.asarray(((nearer > 0) & (farther / FAR > nearer)).any(axis=1))

    @once
    def centred(self) -> FloatArray:
        """The positions about the middle of each fleet."""
        return np.asarray(self.positions - self.positions.mean(axis=1, keepdims=True))

    @once
    def width(self) -> FloatArray:
        """(b,) along the widest axis."""
        return np.asarray(np.ptp(self.positions, axis=1).max(axis=1))

    @once
    def spread(self) -> FloatArray:
        """(b,) see `Fleet.spread`; 0 where all nodes stand above each other."""
        horizontal = np.ascontiguousarray(self.positions[..., :2])
        flat = (horizontal - horizontal.mean(axis=1, keepdims=True)).reshape(len(self), -1)
        largest = np.abs(flat).max(axis=1)
        scaled = (flat / np.where(largest > 0, largest, 1.0)[:, None]) ** 2
        return np.asarray(largest * np.sqrt(scaled.mean(axis=1)))

    @once
    def mean_heading(self) -> FloatArray:
        """(b,) see `Fleet.mean_heading`."""
        east, north = np.cos(self.yaw).sum(axis=1), np.sin(self.yaw).sum(axis=1)
        cancelled = np.hypot(east, north) < 1e-9 * self.yaw.shape[1]
        return np.asarray(np.where(cancelled, 0.0, np.arctan2(north, east)))

    def normalised(self) -> tuple[FloatArray, FloatArray]:
        """x and y (b, n, 2) and yaw (b, n) centred, turned to the mean heading and scaled, see `Fleet.normalised`."""
        cos, sin = np.cos(self.mean_heading), np.sin(self.mean_heading)
        turn = np.stack([cos, -sin, sin, cos], axis=1).reshape(-1, 2, 2)
        scaled = self.centred / self.spread[:, None, None]
        return scaled[..., :2] @ turn, wrapped(self.yaw - self.mean_heading[:, None])
