"""Where a fleet will be if every node goes on as it did: as fast, and turning as it turned."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.checks import check_above_0, check_at_least_0, some_of
from manetdiff.errors import FleetError
from manetdiff.fleet.coincidence import coincident_pair
from manetdiff.fleet.fleet import Fleet
from manetdiff.fleet.geodetic import compass_to_yaw, wrapped, yaw_to_compass

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Of the way, how much is not gone at first where two nodes would meet at its end; doubled until they do not.
SHORTER = 1e-6


def predicted(before: Fleet, now: Fleet, seconds: float, *, since: float | None = None) -> Fleet:
    """Where the nodes of `now` will be in `seconds`, if each goes on as it did from `before` to `now`.

    - since: seconds from `before` to `now`; by default as many as `seconds`, so that the same step is taken once more.

    Every node flies an arc, at the speed and the rate of turn that it had: straight where its yaw has not changed. It
    need not point where it flies, because only the change of its yaw counts (the shorter way round). Heights go on
    changing evenly where both fleets have them. Nodes are matched by id, in any order. Those that have joined since go
    along with the others, by the mean of their displacements, and do not turn.

    No two nodes of a fleet may be in one place: where two would meet after just so long, all are where they are a
    moment before.
    """
    check_at_least_0(FleetError, "seconds", seconds)
    if since is not None:
        check_above_0(FleetError, "since", since)
    if not set(before.ids) & set(now.ids):
        raise FleetError(
            f"the two fleets share no node: before there were {some_of(before.ids)}, now there are "
            f"{some_of(now.ids)} (nodes are matched by id)"
        )
    if seconds == 0:
        return now
    motion = _motion(before, now)
    steps = 1.0 if since is None else float(seconds) / float(since)
    # What overflows is no place, which the fleet says.
    with np.errstate(over="ignore", invalid="ignore"):
        positions, yaw = _after(now, motion, steps)
        shorter = SHORTER
        while np.isfinite(positions).all() and coincident_pair(positions) is not None:
            positions, yaw = _after(now, motion, steps * (1 - shorter))
            shorter = min(2 * shorter, 1.0)  # at the latest now they are apart
    return now.replace(positions, yaw)


class _Motion(NamedTuple):
    """What each node of a fleet did since before. moved: (n, 2) or (n, 3), in metres. turned: (n,) in radians. known:
    (n,) whether it was there before; of nodes that were not, the other numbers mean nothing."""

    moved: FloatArray
    turned: FloatArray
    known: BoolArray


def _motion(before: Fleet, now: Fleet) -> _Motion:
    places = {name: k for k, name in enumerate(before.ids)}
    was = np.array([places.get(name, -1) for name in now.ids], dtype=np.int64)
    horizontal, yaw = seen_from(before, now)
    moved = now.horizontal - horizontal[was]
    if now.has_heights:
        climbed = now.heights - before.heights[was] if before.has_heights else np.zeros(len(now))
        moved = np.column_stack([moved, climbed])
    return _Motion(moved, wrapped(now.yaw - yaw[was]), was >= 0)


def seen_from(before: Fleet, now: Fleet) -> tuple[FloatArray, FloatArray]:
    """Places (n, 2) and yaw (n,) before, in the frame of now: fleets from latitude and longitude each have their own,
    in their middle."""
    if before.frame is None or now.frame is None or before.frame == now.frame:
        return before.horizontal, before.yaw
    latitude, longitude = before.frame.to_degrees(before.horizontal)
    compass = yaw_to_compass(before.frame, latitude, longitude, before.yaw)
    return now.frame.to_xy(latitude, longitude), compass_to_yaw(now.frame, latitude, longitude, compass)


def _after(now: Fleet, motion: _Motion, steps: float) -> tuple[FloatArray, FloatArray]:
    """Positions and yaw after so many (not necessarily whole) steps such as the last one.

    A node of speed v that turns at the rate w gets v t sin(w t / 2) / (w t / 2) far in the time t, and its way there is
    turned by w t / 2 from where it set out. Between the middle of the last step and the middle of the next ones it
    turns by half of both.
    """
    turned = np.where(motion.known, motion.turned, 0.0)
    # numpy's sinc has its π in it. A turn is at most π, where a step is 2/π of its arc: nothing is divided by zero.
    longer = steps * np.sinc(turned * steps / (2 * np.pi)) / np.sinc(turned / (2 * np.pi))
    angle = turned * (1 + steps) / 2
    cos, sin, (x, y) = np.cos(angle), np.sin(angle), motion.moved[:, :2].T
    columns = [longer * (cos * x - sin * y), longer * (sin * x + cos * y)]
    if now.has_heights:
        columns.append(steps * motion.moved[:, 2])
    way = np.column_stack(columns)
    way[~motion.known] = way[motion.known].mean(axis=0)
    return now.positions + way, now.yaw + steps * turned
