"""Where each aircraft wants to go next: group mobility, Gauss-Markov mobility and coordinated turns.

A motion model is made for a flight at its start, whose spread (metres) sets its scale; each call of `wanted` then moves
its own clock on by one step and says what every aircraft would like to do in it. Keeping them apart is another matter.
Speeds and times are those of the default kinematics; other aircraft have their own pace and tempo.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.fleet.geodetic import wrapped
from manetdiff.scenarios.kinematics import Controls, Flight, Kinematics
from manetdiff.scenarios.placing import ComplexArray, FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]

RESPONSE_S = 4.0  # how fast a heading error is flown off
HOMING_SPEED = 100.0  # m/s towards the middle of the fleet, on top of its own speed
STRAY = 3.0  # starting spreads from the middle of the fleet at which an aircraft turns back to it


class Group:
    """Reference-point group mobility: a leading point on a smooth path, and places around it that wander slowly.

    The point turns no faster than the outermost place can follow, so the fleet wheels around it as one.
    """

    WANDER_SPREADS = 0.3  # how far a place wanders (standard deviation along either axis)
    WANDER_SPEED = 25.0  # m/s, likewise
    MEMORY_S = 60.0
    CLOSING_S = 40.0  # how fast an aircraft flies back to its place, and
    CLOSING_SPEED = 60.0  # m/s, at most

    def __init__(self, flight: Flight, spread: float, kinematics: Kinematics, rng: np.random.Generator) -> None:
        n = len(flight.yaw)
        self._kinematics = kinematics
        self._point = complex(flight.places.mean())
        self._heading = float(np.angle(flight.velocity.sum()))
        self._speed = float(flight.speed.mean())
        self._arms = (flight.places - self._point) * np.exp(-1j * self._heading)
        outermost = float(np.abs(self._arms).max())
        self._turn_limit = min(kinematics.typical_turn_rate, 0.3 * kinematics.speed_margin / outermost)
        self._turn_rate = float(rng.uniform(-1, 1)) * self._turn_limit
        self._wander = np.zeros(n, dtype=np.complex128)
        self._typical_wander_speed = self.WANDER_SPEED * kinematics.pace
        self._wander_speed = self._typical_wander_speed * _complex_normal(n, rng)
        self._wander_range = self.WANDER_SPREADS * spread

    def wanted(self, flight: Flight, seconds: float, rng: np.random.Generator) -> Controls:
        self._advance(seconds, rng)
        forward = np.exp(1j * self._heading)
        arms = self._arms * forward
        with_the_group = self._speed * forward + 1j * self._turn_rate * arms + self._wander_speed
        to_place = (self._point + arms + self._wander - flight.places) / (self.CLOSING_S * self._kinematics.tempo)
        fastest = self.CLOSING_SPEED * self._kinematics.pace
        return _steered(flight, with_the_group + _shortened(to_place, fastest), self._kinematics, seconds)

    def _advance(self, seconds: float, rng: np.random.Generator) -> None:
        memory = np.exp(-seconds / (self.MEMORY_S * self._kinematics.tempo))
        noise = np.sqrt(1 - memory**2)
        turn = memory * self._turn_rate + noise * 0.6 * self._turn_limit * rng.normal()
        self._turn_rate = float(np.clip(turn, -self._turn_limit, self._turn_limit))
        self._heading += self._turn_rate * seconds
        self._point += self._speed * seconds * complex(np.exp(1j * self._heading))
        # A damped spring shaken at random: its speed and its reach keep the standard deviations asked for.
        stiffness = (self._typical_wander_speed / self._wander_range) ** 2
        self._wander_speed = memory * self._wander_speed - stiffness * seconds * self._wander
        self._wander_speed += noise * self._typical_wander_speed * _complex_normal(len(self._wander), rng)
        self._wander = self._wander + self._wander_speed * seconds


class GaussMarkov:
    """Every aircraft on its own: speed and heading vary about their means, each value remembering the one before."""

    MEMORY_S = 40.0
    HEADING_DEVIATION = float(np.radians(25.0))
    SPEED_DEVIATION = 0.3  # of the speed margin

    def __init__(self, flight: Flight, spread: float, kinematics: Kinematics, rng: np.random.Generator) -> None:
        self._kinematics = kinematics
        self._mean_yaw = flight.yaw.copy()
        self._mean_speed = flight.speed.copy()
        self._swing = np.zeros_like(flight.yaw)
        self._hurry = np.zeros_like(flight.yaw)
        self._home_range = STRAY * spread

    def wanted(self, flight: Flight, seconds: float, rng: np.random.Generator) -> Controls:
        memory = np.exp(-seconds / (self.MEMORY_S * self._kinematics.tempo))
        noise = np.sqrt(1 - memory**2)
        swing, hurry = rng.normal(size=(2, len(flight.yaw)))
        self._swing = memory * self._swing + noise * self.HEADING_DEVIATION * swing
        self._hurry = memory * self._hurry + noise * self.SPEED_DEVIATION * self._kinematics.speed_margin * hurry
        # As at the edge of the area in the textbook model: who strays too far gets a new mean heading, homewards.
        out, home_yaw = _strayed(flight.places, flight, self._home_range, self._kinematics)
        self._mean_yaw = np.where(out, home_yaw, self._mean_yaw)
        velocity = (self._mean_speed + self._hurry) * np.exp(1j * (self._mean_yaw + self._swing))
        return _steered(flight, velocity, self._kinematics, seconds)


class Turns:
    """Coordinated turns: neighbours in groups of about four alternate straight legs and steady turns together."""

    GROUP_SIZE = 4
    LEG_S = (10.0, 60.0)
    TURN = (float(np.radians(15.0)), float(np.radians(120.0)))

    def __init__(self, flight: Flight, spread: float, kinematics: Kinematics, rng: np.random.Generator) -> None:
        n = len(flight.yaw)
        count = max(2, -(-n // self.GROUP_SIZE))
        centres = flight.places[rng.choice(n, count, replace=False)]
        nearest = np.abs(flight.places[:, None] - centres).argmin(axis=1)
        self._kinematics = kinematics
        self._group = nearest
        self._turn_rate = np.zeros(count)
        self._left_s = rng.uniform(0.0, self.LEG_S[1] / 2, count) * kinematics.tempo
        self._speed = flight.speed.copy()
        self._home_range = STRAY * spread

    def wanted(self, flight: Flight, seconds: float, rng: np.random.Generator) -> Controls:
        self._left_s = self._left_s - seconds
        over = self._left_s <= 0
        if over.any():
            self._begin(over, flight, rng)
        return Controls(self._turn_rate[self._group], _towards(self._speed, flight, self._kinematics, seconds))

    def _begin(self, over: BoolArray, flight: Flight, rng: np.random.Generator) -> None:
        """The next leg of the groups whose leg is over: a turn after a straight one, and the other way round."""
        count = len(over)
        rate = self._kinematics.typical_turn_rate * rng.uniform(0.4, 1.0, count)
        angle = rng.uniform(*self.TURN, count) * np.where(rng.random(count) < 0.5, 1, -1)
        straight_s = rng.uniform(*self.LEG_S, count) * self._kinematics.tempo
        pace = self._kinematics.v_min + self._kinematics.speed_margin * rng.uniform(0.4, 1.6, count)

        members = np.maximum(np.bincount(self._group, minlength=count), 1)
        middle = _group_sum(flight.places, self._group, count) / members
        out, home_yaw = _strayed(middle, flight, self._home_range, self._kinematics)
        yaw = np.angle(_group_sum(flight.velocity, self._group, count))
        angle = np.where(out, wrapped(home_yaw - yaw), angle)

        turning = over & (self._turn_rate == 0)
        straight = over & ~turning
        self._left_s = np.where(turning, np.abs(angle) / rate, np.where(straight, straight_s, self._left_s))
        self._turn_rate = np.where(turning, rate * np.sign(angle), np.where(straight, 0.0, self._turn_rate))
        self._speed = np.where(over[self._group], pace[self._group], self._speed)


MODELS: dict[str, type[Group] | type[GaussMarkov] | type[Turns]] = {
    "group": Group,
    "gauss-markov": GaussMarkov,
    "turns": Turns,
}


def _steered(flight: Flight, velocity: ComplexArray, kinematics: Kinematics, seconds: float) -> Controls:
    """Controls that bring each aircraft to the wanted velocity (n,) within its limits, without a hard turn."""
    error = np.angle(velocity * np.exp(-1j * flight.yaw))
    limit = kinematics.typical_turn_rate
    turn_rate = np.clip(error / max(RESPONSE_S * kinematics.tempo, seconds), -limit, limit)
    return Controls(turn_rate, _towards(np.abs(velocity), flight, kinematics, seconds))


def _towards(speed: FloatArray, flight: Flight, kinematics: Kinematics, seconds: float) -> FloatArray:
    """The speed (n,) nearest to the wanted one that each aircraft can reach in a step and can fly."""
    change = kinematics.max_acceleration * seconds
    reached = flight.speed + np.clip(speed - flight.speed, -change, change)
    return np.clip(reached, kinematics.v_min, kinematics.v_max)


def _strayed(
    places: ComplexArray, flight: Flight, home_range: float, kinematics: Kinematics
) -> tuple[BoolArray, FloatArray]:
    """Which of the places are further than the home range from the fleet's middle, and the yaw that leads back to it.

    The fleet flies on meanwhile, so the way back is along with it and towards it.
    """
    inward = flight.places.mean() - places
    back = flight.velocity.mean() + HOMING_SPEED * kinematics.pace * inward / np.maximum(np.abs(inward), 1.0)
    return np.abs(inward) > home_range, np.angle(back)


def _shortened(values: ComplexArray, longest: float) -> ComplexArray:
    return values * (longest / np.maximum(np.abs(values), longest))


def _group_sum(values: ComplexArray, group: IntArray, count: int) -> ComplexArray:
    return np.bincount(group, values.real, count) + 1j * np.bincount(group, values.imag, count)


def _complex_normal(n: int, rng: np.random.Generator) -> ComplexArray:
    """(n,) with standard deviation 1 along either axis."""
    east, north = rng.normal(size=(2, n))
    return np.asarray(east + 1j * north, dtype=np.complex128)
