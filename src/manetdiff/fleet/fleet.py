"""The fleet: positions, yaw and ids of the nodes, checked once and then immutable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from manetdiff.checks import first_repeated
from manetdiff.errors import FleetError
from manetdiff.fleet.azimuths import Blocked, checked_blocked
from manetdiff.fleet.coincidence import coincident_pair
from manetdiff.fleet.geodetic import LocalFrame, compass_to_yaw, wrapped
from manetdiff.fleet.outliers import far_out

FloatArray = npt.NDArray[np.float64]

# Beyond these, sums and squares of positions would be lost to overflow, or to the end of float64's precision.
FARTHEST, NARROWEST = 1e100, 1e-100


@dataclass(frozen=True, eq=False)
class Fleet:
    """Node positions and headings.

    - positions: (n, 2) in metres (or any one unit), x to the east and y to the north; (n, 3) with the height.
    - yaw: (n,) in radians, counter-clockwise from +x.
    - ids: n distinct names; the node's index as text where none are given.
    - frame: the local frame that the positions were projected into, if they came from latitude and longitude.
    - blocked: for each node the azimuths where it has no antenna (a wing or a mast is in the way): pairs (start, stop)
      in radians counter-clockwise from its own nose, blocked from start counter-clockwise to stop. None: nowhere.
    """

    positions: FloatArray
    yaw: FloatArray
    ids: tuple[str, ...]
    frame: LocalFrame | None
    blocked: Blocked | None

    def __init__(
        self,
        positions: npt.ArrayLike,
        yaw: npt.ArrayLike,
        ids: Sequence[object] | None = None,
        frame: LocalFrame | None = None,
        blocked: Iterable[Iterable[object]] | None = None,
    ) -> None:
        checked_positions = _checked_positions(positions)
        n = len(checked_positions)
        names = _checked_ids(ids, n)
        _check_finite(checked_positions, names, "position")
        checked_yaw = _checked_yaw(yaw, names)
        _check_distinct(checked_positions, names)
        checked_positions.flags.writeable = False
        checked_yaw.flags.writeable = False
        object.__setattr__(self, "positions", checked_positions)
        object.__setattr__(self, "yaw", checked_yaw)
        object.__setattr__(self, "ids", names)
        object.__setattr__(self, "frame", frame)
        object.__setattr__(self, "blocked", checked_blocked(blocked, names))

    @classmethod
    def from_geodetic(
        cls,
        latitude: npt.ArrayLike,
        longitude: npt.ArrayLike,
        heading: npt.ArrayLike,
        ids: Sequence[object] | None = None,
        altitude: npt.ArrayLike | None = None,
        *,
        blocked: Iterable[Iterable[object]] | None = None,
    ) -> Fleet:
        """A fleet from degrees: latitude, longitude and compass heading (clockwise from north), each (n,).

        - altitude: (n,) in metres, which becomes the height; without it the fleet is flat.
        - blocked: as everywhere in radians, counter-clockwise from the nose.
        """
        given = {"latitude": latitude, "longitude": longitude, "heading": heading}
        if altitude is not None:
            given["altitude"] = altitude
        columns = {field: _column(values, field) for field, values in given.items()}
        lat, lon, compass, *heights = columns.values()
        if any(len(column) != len(lat) for column in columns.values()):
            lengths = ", ".join(str(len(column)) for column in columns.values())
            raise FleetError(f"{', '.join(columns)} must be equally long, not {lengths}")
        names = _checked_ids(ids, len(lat))
        for field, column in columns.items():
            _check_finite(column, names, field)
        for i in np.flatnonzero(np.abs(lat) > 90.0):
            raise FleetError(f"node {names[i]!r}: latitude {lat[i]} is outside -90 … 90 degrees")
        frame = LocalFrame.around(lat, lon, names)
        positions = np.column_stack([frame.to_xy(lat, lon), *heights])
        return cls(positions, compass_to_yaw(frame, lat, lon, compass), names, frame, blocked)

    def __len__(self) -> int:
        return len(self.yaw)

    def __repr__(self) -> str:
        return f"Fleet(n={len(self)}, spread={self.spread:.6g})"

    @property
    def horizontal(self) -> FloatArray:
        """(n, 2): x and y."""
        return self.positions[:, :2]

    @property
    def has_heights(self) -> bool:
        """Whether the positions say how high the nodes are."""
        return bool(self.positions.shape[1] == 3)

    @property
    def heights(self) -> FloatArray:
        """(n,) in metres; 0 where the positions do not say."""
        return self.positions[:, 2] if self.has_heights else np.zeros(len(self))

    @cached_property
    def spread(self) -> float:
        """Root mean square of the centred coordinates over nodes and both horizontal axes. Nodes that all stand above
        each other have no such spread; that of their heights takes its place."""
        return _spread(self.horizontal) or _spread(self.heights)

    @cached_property
    def far_out(self) -> npt.NDArray[np.bool_]:
        """(n,) nodes so far out that they alone would set the spread; almost always none."""
        return far_out(self.horizontal)

    @cached_property
    def scale(self) -> float:
        """The default unit of distance: the spread of all nodes but those far out."""
        return _spread(self.horizontal[~self.far_out]) if self.far_out.any() else self.spread

    @cached_property
    def mean_heading(self) -> float:
        """Circular mean of the yaw, in radians; 0 where the headings cancel out."""
        east, north = float(np.cos(self.yaw).sum()), float(np.sin(self.yaw).sum())
        if np.hypot(east, north) < 1e-9 * len(self):
            return 0.0
        return float(np.arctan2(north, east))

    def normalised(self) -> Fleet:
        """The same fleet centred, turned so that its mean heading is +x, and scaled to coordinates of RMS 1."""
        return Fleet(*self.normalised_arrays(), self.ids, blocked=self.blocked)

    def normalised_arrays(self) -> tuple[FloatArray, FloatArray]:
        """Positions and yaw of the same, for those who need no checked Fleet of it."""
        heading = self.mean_heading
        cos, sin = np.cos(heading), np.sin(heading)
        centred = (self.positions - self.positions.mean(axis=0)) / self.spread
        turned = centred[:, :2] @ np.array([[cos, -sin], [sin, cos]])
        if self.has_heights:
            turned = np.column_stack([turned, centred[:, 2]])
        return turned, wrapped(self.yaw - heading)

    def replace(self, positions: npt.ArrayLike | None = None, yaw: npt.ArrayLike | None = None) -> Fleet:
        """The same nodes elsewhere, or pointing elsewhere."""
        return Fleet(
            self.positions if positions is None else positions,
            self.yaw if yaw is None else yaw,
            self.ids,
            self.frame,
            self.blocked,
        )

    def moved_to(self, horizontal: FloatArray, yaw: FloatArray) -> Fleet:
        """The same nodes, as high as they are, over other places (n, 2)."""
        return self.replace(np.column_stack([horizontal, self.heights]) if self.has_heights else horizontal, yaw)

    def part(self, nodes: npt.ArrayLike) -> Fleet:
        """The nodes of these indices, in this order."""
        places = np.asarray(nodes, dtype=np.int64)
        blocked = None if self.blocked is None else [self.blocked[i] for i in places]
        return Fleet(self.positions[places], self.yaw[places], [self.ids[i] for i in places], self.frame, blocked)


def _spread(positions: FloatArray) -> float:
    centred = positions - positions.mean(axis=0)
    # Scaled first, so that coordinates near the limits of float64 neither overflow nor vanish when squared.
    largest = float(np.abs(centred).max())
    return largest * float(np.sqrt(np.mean((centred / largest) ** 2))) if largest else 0.0


def _as_floats(values: npt.ArrayLike, what: str) -> FloatArray:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FleetError(f"{what} must be numbers: {error}") from None


def _column(values: npt.ArrayLike, what: str) -> FloatArray:
    column = _as_floats(values, what)
    if column.ndim != 1:
        raise FleetError(f"{what} must have the shape (n,), not {column.shape}")
    return column


def _checked_positions(positions: npt.ArrayLike) -> FloatArray:
    array = _as_floats(positions, "positions")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise FleetError(f"positions must have the shape (n, 2), or (n, 3) with heights, not {array.shape}")
    if len(array) < 2:
        raise FleetError(f"a fleet needs at least two nodes, not {len(array)}: there is nothing to link")
    return array


def _checked_yaw(yaw: npt.ArrayLike, names: tuple[str, ...]) -> FloatArray:
    array = _column(yaw, "yaw")
    if len(array) != len(names):
        raise FleetError(f"yaw has {len(array)} entries for {len(names)} positions")
    _check_finite(array, names, "yaw")
    return array


def _checked_ids(ids: Sequence[object] | None, n: int) -> tuple[str, ...]:
    if ids is None:
        return tuple(str(i) for i in range(n))
    names = tuple(str(name) for name in ids)
    if len(names) != n:
        raise FleetError(f"{len(names)} ids for {n} nodes")
    check_distinct_ids(names)
    return names


def check_distinct_ids(names: Iterable[str]) -> None:
    """Raise a FleetError where two nodes have one name."""
    twice = first_repeated(names)
    if twice is not None:
        raise FleetError(f"node {twice!r}: the id stands twice")


def _check_finite(values: FloatArray, names: tuple[str, ...], field: str) -> None:
    bad = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
    for i in np.flatnonzero(bad):
        raise FleetError(f"node {names[i]!r}: {field} is not a finite number ({values[i]})")


def _check_distinct(positions: FloatArray, names: tuple[str, ...]) -> None:
    """No two nodes may coincide, nor be so close that their distance is lost in rounding."""
    if np.abs(positions).max() > FARTHEST:
        raise FleetError(f"positions are too far apart, or from the origin, to compute with: at most {FARTHEST:g}")
    pair, width = coincident_pair(positions), np.ptp(positions, axis=0).max()
    if pair is not None:
        first, second = (names[i] for i in pair)
        place, other = (positions[i].tolist() for i in pair)
        too_close = f"too close to each other, at {place} and {other}, in a fleet {width:.3g} wide"
        told = f"at the same place {place}" if place == other else too_close
        raise FleetError(f"nodes {first!r} and {second!r} are {told}")
    if width < NARROWEST:
        raise FleetError(f"positions are too close together to compute with: the fleet must be {NARROWEST:g} wide")
