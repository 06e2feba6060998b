"""Tracks: where each node of a fleet is over time, as mobility files tell it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt

from manetdiff.errors import FleetError
from manetdiff.fleet.azimuths import Arc
from manetdiff.fleet.fleet import Fleet, check_distinct_ids
from manetdiff.fleet.geodetic import LocalFrame

FloatArray = npt.NDArray[np.float64]

FEWEST_NODES = 2
MOST_MOMENTS = 1_000_000


@dataclass(frozen=True, eq=False)
class Track:
    """The way of one node: straight lines between waypoints, each flown at one speed.

    - times: (k,) seconds, none before the one above it; two at the same time are a jump. places: (k, 2) metres, or
      (k, 3) with the height.
    - yaw: (k,) radians where the file says where the node points; otherwise it points where it goes, and a node at rest
      where it last went.
    - blocked: azimuths where the node has no antenna, as of Fleet.
    """

    id: str
    times: FloatArray
    places: FloatArray
    yaw: FloatArray | None = None
    blocked: tuple[Arc, ...] = ()

    def __post_init__(self) -> None:
        times, places = (np.asarray(values, dtype=np.float64) for values in (self.times, self.places))
        if times.ndim != 1 or not len(times) or places.shape not in ((len(times), 2), (len(times), 3)):
            raise FleetError(
                f"node {self.id!r}: a track needs a time and a place (x, y and perhaps z) for each of its waypoints"
            )
        if not (np.isfinite(times).all() and np.isfinite(places).all()):
            raise FleetError(f"node {self.id!r}: a waypoint is not of finite numbers")
        if (np.diff(times) < 0).any():
            late = int(np.flatnonzero(np.diff(times) < 0)[0]) + 1
            raise FleetError(f"node {self.id!r}: waypoint {late + 1} at {times[late]:g} s is before the one above it")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "places", places)
        if self.yaw is not None:
            yaw = np.asarray(self.yaw, dtype=np.float64)
            if yaw.shape != times.shape or not np.isfinite(yaw).all():
                raise FleetError(f"node {self.id!r}: yaw must be a finite number for each waypoint")
            object.__setattr__(self, "yaw", yaw)

    def place_at(self, time: float) -> FloatArray:
        """(2,) or (3,) metres; before the first waypoint and after the last the node is at rest there."""
        leg, share = self._leg(time)
        following = min(leg + 1, len(self.times) - 1)
        here: FloatArray = self.places[leg] + share * (self.places[following] - self.places[leg])
        return here

    def yaw_at(self, time: float) -> float:
        """Radians; between two that the file gives, the shorter way round."""
        leg, share = self._leg(time)
        if self.yaw is None:
            return float(self._directions[leg])
        turn = self.yaw[min(leg + 1, len(self.yaw) - 1)] - self.yaw[leg]
        return float(self.yaw[leg] + share * math.remainder(turn, 2 * math.pi))

    def gap_at(self, time: float) -> float:
        """Seconds from the waypoint before to the one after; 0 at a waypoint, infinite outside all of them."""
        if not self.times[0] <= time <= self.times[-1]:
            return math.inf
        leg, _ = self._leg(time)
        if self.times[leg] == time:
            return 0.0
        return float(self.times[leg + 1] - self.times[leg])

    def _leg(self, time: float) -> tuple[int, float]:
        """The waypoint last passed, and how much of the way to the next is behind."""
        leg = int(np.searchsorted(self.times, time, side="right")) - 1
        if leg < 0:
            return 0, 0.0
        if leg >= len(self.times) - 1:
            return len(self.times) - 1, 0.0
        return leg, (time - self.times[leg]) / (self.times[leg + 1] - self.times[leg])

    @cached_property
    def _directions(self) -> FloatArray:
        """(k,) where the node points from each waypoint on."""
        steps = np.diff(self.places[:, :2], axis=0)  # to climb is to point nowhere else
        # A jump is no direction: nobody flew it.
        moving = (np.abs(steps).sum(axis=1) > 0) & (np.diff(self.times) > 0)
        if not moving.any():
            return np.zeros(len(self.times))
        legs = np.flatnonzero(moving)
        latest = np.searchsorted(legs, np.arange(len(self.times)), side="right") - 1
        chosen = steps[legs[np.maximum(latest, 0)]]  # before its first movement: where that will go
        directions: FloatArray = np.arctan2(chosen[:, 1], chosen[:, 0])
        return directions


@dataclass(frozen=True, eq=False)
class Tracks:
    """The ways of all nodes.

    - frame: where on earth x = y = 0 is, if the file says so. longest_gap: a node is taken to be there only while
      reports of it are at most so many seconds apart; None: it is there all the time. epoch: when time 0 was, if the
      file says so.
    """

    tracks: tuple[Track, ...]
    frame: LocalFrame | None = None
    longest_gap: float | None = None
    epoch: datetime | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tracks", tuple(self.tracks))
        if len(self.tracks) < FEWEST_NODES:
            raise FleetError(f"a fleet needs at least two nodes, not {len(self.tracks)}: there is nothing to link")
        check_distinct_ids(self.ids)
        flat = [track.id for track in self.tracks if track.places.shape[1] == 2]
        if 0 < len(flat) < len(self.tracks):
            raise FleetError(f"node {flat[0]!r} has no height, though others have one")

    @property
    def ids(self) -> tuple[str, ...]:
        """Of all nodes that are ever there."""
        return tuple(track.id for track in self.tracks)

    @property
    def start(self) -> float:
        """The first waypoint of all, in seconds."""
        return min(float(track.times[0]) for track in self.tracks)

    @property
    def end(self) -> float:
        """The last waypoint of all, in seconds."""
        return max(float(track.times[-1]) for track in self.tracks)

    @property
    def come_and_go(self) -> bool:
        """Whether a node is not there all the time."""
        longest = self.longest_gap
        if longest is None or math.isinf(longest):
            return False
        start, end = self.start, self.end
        return any(
            track.times[0] > start or track.times[-1] < end or (np.diff(track.times) > longest).any()
            for track in self.tracks
        )

    def at(self, time: float) -> Fleet:
        """The nodes that are there at a time, and where they point."""
        if not math.isfinite(time):
            raise FleetError(f"the time must be a finite number of seconds, not {time:g}")
        there = self._there(time)
        if len(there) < FEWEST_NODES:
            raise FleetError(f"at {time:g} s fewer than two nodes are there: there is nothing to link")
        try:
            return Fleet(
                [track.place_at(time) for track in there],
                [track.yaw_at(time) for track in there],
                [track.id for track in there],
                self.frame,
                [track.blocked for track in there],
            )
        except FleetError as error:
            raise FleetError(f"at {time:g} s: {error}") from None

    def moments(self, step: float, start: float | None = None, end: float | None = None) -> list[float]:
        """Times from the start to the end, so many seconds apart; by default of the tracks themselves."""
        first, last = self.start if start is None else start, self.end if end is None else end
        if not (math.isfinite(step) and step > 0):
            raise FleetError(f"the step must be a positive number of seconds, not {step:g}")
        if not (math.isfinite(first) and math.isfinite(last) and first <= last):
            raise FleetError(f"the start must not be after the end: {first:g} s, {last:g} s")
        # The end counts as reached where only rounding keeps it away: of the steps, or of times as large as dates.
        missing = 1e-12 * (last - first) + 2 * math.ulp(max(abs(first), abs(last)))
        steps = (last - first + min(missing, step / 2)) / step
        if steps >= MOST_MOMENTS:
            raise FleetError(f"a step of {step:g} s makes more than {MOST_MOMENTS:,} moments: choose a longer one")
        # Rounding must not carry the last moment beyond the end, where nodes have left.
        return [min(first + step * place, last) for place in range(math.floor(steps) + 1)]

    def fleets(self, times: Sequence[float]) -> Iterator[tuple[float, Fleet]]:
        """The fleet at each of the times; those with fewer than two nodes are left out, but not all of them."""
        found = False
        for time in times:
            if len(self._there(time)) >= FEWEST_NODES:
                found = True
                yield time, self.at(time)
        if not found:
            raise FleetError(f"at none of {len(times):,} moments two nodes are there: there is nothing to link")

    def _there(self, time: float) -> list[Track]:
        if self.longest_gap is None:
            return list(self.tracks)
        return [track for track in self.tracks if track.gap_at(time) <= self.longest_gap]
