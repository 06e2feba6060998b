"""Latitude and longitude to local metres and back, on the WGS-84 ellipsoid.

Positions are projected onto the plane that touches the ellipsoid in the middle of the fleet (local east-north-up), so
poles and the date line need no special care, and compass headings are turned with the meridians.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manetdiff.errors import FleetError

FloatArray = npt.NDArray[np.float64]

SEMI_MAJOR_AXIS = 6_378_137.0
FLATTENING = 1 / 298.257223563
ECCENTRICITY_2 = FLATTENING * (2 - FLATTENING)


@dataclass(frozen=True)
class LocalFrame:
    """East-north plane touching the ellipsoid at (latitude, longitude), in degrees."""

    latitude: float
    longitude: float

    @classmethod
    def around(cls, latitude: FloatArray, longitude: FloatArray, names: Sequence[str] = ()) -> LocalFrame:
        """The frame in the middle of the given points, each (n,) in degrees.

        Points around more than half of the earth are a FleetError: seen from above they would lie upon each other.
        - names: of the nodes that are at the points, for that.
        """
        x, y, z = _earth_centred(latitude, longitude).mean(axis=0)
        lat = np.degrees(np.arctan2(z, (1 - ECCENTRICITY_2) * np.hypot(x, y)))
        frame = cls(float(lat), float(np.degrees(np.arctan2(y, x))))
        above = _east_north_up(latitude, longitude)[:, 2] @ frame._axes()[2]
        for beyond in np.flatnonzero(above <= 0.0).tolist():
            who = f"node {names[beyond]!r}" if names else f"{latitude[beyond]:g}, {longitude[beyond]:g}"
            told = f"is beyond the horizon of the fleet's middle ({frame.latitude:.1f}, {frame.longitude:.1f})"
            raise FleetError(f"{who} {told}: a fleet must fit on one side of the earth")
        return frame

    def to_xy(self, latitude: FloatArray, longitude: FloatArray) -> FloatArray:
        """(n, 2) metres east and north of the frame's origin."""
        offset = _earth_centred(latitude, longitude) - self._origin()
        positions: FloatArray = offset @ self._axes()[:2].T
        return positions

    def to_degrees(self, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Latitude and longitude, each (n,), of (n, 2) positions, or (n, 3) above them: the inverse of `to_xy`.

        Positions that are farther away than the earth reaches are a FleetError.
        """
        east, north, up = self._axes()
        plane = self._origin() + positions[:, :2] @ np.stack([east, north])
        # Drop each point along 'up' onto the ellipsoid: the larger root of a quadratic in the height.
        weights = np.array([1.0, 1.0, 1 / (1 - ECCENTRICITY_2)])
        a = (up * up * weights).sum()
        b = (plane * up * weights).sum(axis=1)
        c = (plane * plane * weights).sum(axis=1) - SEMI_MAJOR_AXIS**2
        under_root = b * b - a * c
        for beyond in np.flatnonzero(under_root < -1e-9 * b * b - 1.0):
            place = ", ".join(f"{value:g}" for value in positions[beyond])
            raise FleetError(f"no place on earth is {place} m from {self.latitude:g}, {self.longitude:g}")
        height = (-b + np.sqrt(np.maximum(under_root, 0.0))) / a
        x, y, z = (plane + height[:, None] * up).T
        latitude = np.degrees(np.arctan2(z, (1 - ECCENTRICITY_2) * np.hypot(x, y)))
        return latitude, np.degrees(np.arctan2(y, x))

    def _origin(self) -> FloatArray:
        origin: FloatArray = _earth_centred(np.array([self.latitude]), np.array([self.longitude]))[0]
        return origin

    def _axes(self) -> FloatArray:
        """(3, 3): east, north and up of the frame as rows, in earth-centred coordinates."""
        axes: FloatArray = _east_north_up(np.array([self.latitude]), np.array([self.longitude]))[0]
        return axes


def compass_to_yaw(frame: LocalFrame, latitude: FloatArray, longitude: FloatArray, heading: FloatArray) -> FloatArray:
    """Yaw (radians, counter-clockwise from the frame's east) of compass headings (degrees, clockwise from north)."""
    axes = _east_north_up(latitude, longitude)
    clockwise = np.radians(heading)
    forward = np.sin(clockwise)[:, None] * axes[:, 0] + np.cos(clockwise)[:, None] * axes[:, 1]
    east, north = (forward @ frame._axes()[:2].T).T
    yaw: FloatArray = np.arctan2(north, east)
    return yaw


def yaw_to_compass(frame: LocalFrame, latitude: FloatArray, longitude: FloatArray, yaw: FloatArray) -> FloatArray:
    """The inverse of `compass_to_yaw`, in 0 … 360 degrees."""
    # The plane's direction, seen at the node: solve for the heading whose projection it is.
    planar = _east_north_up(latitude, longitude)[:, :2] @ frame._axes()[:2].T
    direction = np.stack([np.cos(yaw), np.sin(yaw)], axis=1)
    local = np.linalg.solve(planar.transpose(0, 2, 1), direction[:, :, None])[:, :, 0]
    return np.degrees(np.arctan2(local[:, 0], local[:, 1])) % 360.0


def wrapped(angle: FloatArray) -> FloatArray:
    """Angles (radians) brought into -π … π."""
    return np.arctan2(np.sin(angle), np.cos(angle))


def _earth_centred(latitude: FloatArray, longitude: FloatArray) -> FloatArray:
    """(n, 3) metres of points on the ellipsoid."""
    lat, lon = np.radians(latitude), np.radians(longitude)
    normal = SEMI_MAJOR_AXIS / np.sqrt(1 - ECCENTRICITY_2 * np.sin(lat) ** 2)
    return np.stack(
        [
            normal * np.cos(lat) * np.cos(lon),
            normal * np.cos(lat) * np.sin(lon),
            normal * (1 - ECCENTRICITY_2) * np.sin(lat),
        ],
        axis=1,
    )


def _east_north_up(latitude: FloatArray, longitude: FloatArray) -> FloatArray:
    """(n, 3, 3): the local axes at each point as rows, in earth-centred coordinates."""
    lat, lon = np.radians(latitude), np.radians(longitude)
    zero = np.zeros_like(lat)
    east = np.stack([-np.sin(lon), np.cos(lon), zero], axis=1)
    north = np.stack([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)], axis=1)
    up = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    return np.stack([east, north, up], axis=1)
