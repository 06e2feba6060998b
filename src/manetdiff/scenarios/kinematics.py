"""What an aircraft can do, and the exact arc that it flies in one time step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.fleet.geodetic import wrapped
from manetdiff.scenarios.placing import ComplexArray, FloatArray, as_places, as_positions
from manetdiff.scenarios.spacing import pair_distances

# Neighbours closer than this (median, metres) are small aircraft, which keep this share of it from one another.
CLOSE_NEIGHBOURS, SMALL_SAFETY = 500.0, 0.1
# A fleet of a larger spread (metres) takes its time: it is flown as fast, but turned and sped up more slowly.
WIDE = 150_000.0


@dataclass(frozen=True)
class Kinematics:
    """Limits of every aircraft: speed in m/s, turn rate in rad/s, acceleration along the path in m/s².

    - safety: the distance in metres that two aircraft keep from one another, see `manetdiff.scenarios.conflicts`.
    """

    v_min: float = 120.0
    v_max: float = 300.0
    max_turn_rate: float = float(np.radians(6.0))
    safety: float = 300.0
    max_acceleration: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.v_min < self.v_max < np.inf:
            raise ScenarioError(f"speeds must satisfy 0 < v_min < v_max, not {self.v_min} and {self.v_max}")
        for name in ("max_turn_rate", "safety", "max_acceleration"):
            check_positive(name, getattr(self, name))

    @property
    def typical_turn_rate(self) -> float:
        """What is flown when nothing forces a harder turn: half of what could be."""
        return self.max_turn_rate / 2

    @property
    def speed_margin(self) -> float:
        """How much faster or slower than the middle of its speeds an aircraft can fly."""
        return (self.v_max - self.v_min) / 2

    @property
    def pace(self) -> float:
        """How fast it is in comparison with the aircraft that the motion models were made for (1.0)."""
        return self.v_max / Kinematics.v_max

    @property
    def tempo(self) -> float:
        """How long it takes over a turn in comparison with them."""
        return Kinematics.max_turn_rate / self.max_turn_rate

    @classmethod
    def of_aircraft_in(cls, fleet: Fleet) -> Kinematics:
        """The default limits; those of smaller aircraft where the fleet is too close for them, of patient ones where it
        is so wide that nothing would change for hours."""
        nearest = pair_distances(fleet.horizontal).min(axis=1)
        spacing, closest = float(np.median(nearest)), float(nearest.min())
        if spacing < CLOSE_NEIGHBOURS:
            smaller = SMALL_SAFETY * spacing / cls.safety
            return cls(
                v_min=smaller * cls.v_min,
                v_max=smaller * cls.v_max,
                safety=smaller * cls.safety,
                max_acceleration=smaller * cls.max_acceleration,
            )
        longer = max(1.0, min(fleet.spread / WIDE, closest / cls.safety))
        return cls(
            max_turn_rate=cls.max_turn_rate / longer,
            safety=longer * cls.safety,
            max_acceleration=cls.max_acceleration / longer,
        )


def check_positive(name: str, value: float) -> None:
    """Raise a ScenarioError unless it is a finite number above 0."""
    if not 0 < value < np.inf:
        raise ScenarioError(f"{name} must be a positive number, not {value}")


@dataclass(frozen=True)
class Controls:
    """What every aircraft does during one step: turn rate in rad/s (left is positive) and speed in m/s, each (n,)."""

    turn_rate: FloatArray
    speed: FloatArray


@dataclass(frozen=True, eq=False)
class Flight:
    """A fleet in motion at one moment: places x + iy in metres, yaw in radians and speed in m/s, each (n,)."""

    places: ComplexArray
    yaw: FloatArray
    speed: FloatArray

    @classmethod
    def of(cls, fleet: Fleet, speed: FloatArray) -> Flight:
        """The fleet flying along its yaw."""
        return cls(as_places(fleet.horizontal), fleet.yaw, speed)

    @property
    def velocity(self) -> ComplexArray:
        """(n,) in m/s, along the yaw."""
        velocity: ComplexArray = self.speed * np.exp(1j * self.yaw)
        return velocity

    def flown(self, controls: Controls, seconds: float) -> Flight:
        """The flight a step later: each aircraft has flown an exact arc, so that its yaw stays its direction."""
        half_turn = controls.turn_rate * seconds / 2
        # numpy's sinc is that of π x: the chord of an arc is its length times sin(half turn) / half turn.
        chord = controls.speed * seconds * np.sinc(half_turn / np.pi)
        places = self.places + chord * np.exp(1j * (self.yaw + half_turn))
        return Flight(places, self.yaw + 2 * half_turn, controls.speed)

    def between(self, later: Flight, share: float) -> Flight:
        """The moment after so much (0 … 1) of the way to a later one."""
        return Flight(
            self.places + share * (later.places - self.places),
            self.yaw + share * (later.yaw - self.yaw),
            later.speed,
        )

    def as_fleet(self, like: Fleet) -> Fleet:
        """The same nodes as in `like`, where they are now; yaw is brought into -π … π."""
        return like.moved_to(as_positions(self.places), wrapped(self.yaw))
