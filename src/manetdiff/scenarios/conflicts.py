"""Keeping aircraft apart: nobody makes a move after which circling on the spot would no longer be safe.

If all aircraft turn at one common rate ω to one common side, aircraft k circles around c_k with the arm ρ_k, and two
of them are Δc + Δρ exp(iωt) apart. For ever after, that is at least | |Δc| - |Δρ| |: the pair's *clearance*. Circling
keeps it, so a fleet whose clearances are large enough always has a safe way on. Each step lets every aircraft do what
it wants where the clearances afterwards allow it, else something else, and in the last resort circle.
"""

from __future__ import annotations

import numpy as np

from manetdiff.scenarios.kinematics import Controls, Flight, Kinematics
from manetdiff.scenarios.placing import FloatArray, IntArray

REFRESH_S = 10.0  # how long a list of nearby pairs is used
ROUNDING = 1e-6  # metres of clearance that one step may lose to rounding
START_SWEEPS = 20
START_CHOICES = 48


class Airspace:
    """The aircraft of one run, and which way they circle when in doubt: left (1) or right (-1)."""

    def __init__(self, kinematics: Kinematics, side: int) -> None:
        self._kinematics = kinematics
        self._circling = side * kinematics.max_turn_rate
        self._pairs: tuple[IntArray, IntArray] | None = None
        self._pairs_age_s = 0.0
        self._before = np.empty(0)

    def step(self, flight: Flight, wanted: Controls, seconds: float) -> Flight:
        """The flight a step later, with what was wanted replaced where a conflict was ahead."""
        if self._pairs is None or self._pairs_age_s + seconds > REFRESH_S:
            self._pairs = self._nearby_pairs(flight, REFRESH_S + seconds)
            self._pairs_age_s = 0.0
            self._before = clearances(flight, self._circling, *self._pairs)
        self._pairs_age_s += seconds
        first, second = self._pairs
        # A pair that was let in too close may stay so, but may not come closer.
        needed = np.minimum(self._before, self._kinematics.safety) - ROUNDING
        choices = self._choices(flight, wanted)
        last = len(choices.turn_rate) - 1
        everyone = np.arange(len(flight.yaw))
        choice = np.zeros(len(everyone), dtype=np.int64)
        while True:
            controls = Controls(choices.turn_rate[choice, everyone], choices.speed[choice, everyone])
            later = flight.flown(controls, seconds)
            after = clearances(later, self._circling, first, second)
            tight = np.flatnonzero(after < needed)
            # Of two in conflict, the one that has given way less often gives way; the one behind in the list if equal.
            one, other = first[tight], second[tight]
            yields = np.where(choice[one] < choice[other], one, other)
            yields = yields[choice[yields] < last]
            if len(yields) == 0:
                break
            choice[yields] += 1
        self._before = after
        return later

    def _choices(self, flight: Flight, wanted: Controls) -> Controls:
        """(4, n) controls in order of preference: as wanted, straight on, turn away, circle."""
        nothing = np.zeros_like(flight.yaw)
        circle = np.full_like(flight.yaw, self._circling)
        return Controls(
            np.stack([wanted.turn_rate, nothing, -circle, circle]),
            np.stack([wanted.speed, flight.speed, flight.speed, flight.speed]),
        )

    def _nearby_pairs(self, flight: Flight, seconds: float) -> tuple[IntArray, IntArray]:
        """All pairs (i < j) whose clearance could fall below the safety distance within so many seconds."""
        k = self._kinematics
        # Their clearance is at least their distance less twice the longest Δρ, which is the circle's diameter.
        near = k.safety + 4 * k.v_max / k.max_turn_rate + 2 * k.v_max * seconds
        first, second = np.triu_indices(len(flight.yaw), 1)
        close = np.abs(flight.places[first] - flight.places[second]) < near
        return first[close], second[close]


def clearances(flight: Flight, circling: float, first: IntArray, second: IntArray) -> FloatArray:
    """(pairs,) metres: the least distance of each pair from now on if all aircraft turn at the circling rate."""
    arms = -1j * flight.velocity / circling
    centres = flight.places - arms
    between_centres = np.abs(centres[first] - centres[second])
    clearance: FloatArray = np.abs(between_centres - np.abs(arms[first] - arms[second]))
    return clearance


def safe_start(flight: Flight, kinematics: Kinematics, rng: np.random.Generator) -> tuple[Flight, Airspace]:
    """The flight with speeds, and the airspace with a side to circle to, that leave every pair a safe way on.

    Speeds are changed only where a pair would have none: such aircraft try other speeds in turn, for a few sweeps. What
    is then still too close is as clear as was found.
    """
    starts = [(_with_safe_speeds(flight, side, kinematics, rng), side) for side in (1, -1)]
    best, side = max(starts, key=lambda start: _least_clearance(start[0], start[1] * kinematics.max_turn_rate))
    return best, Airspace(kinematics, side)


def _least_clearance(flight: Flight, circling: float) -> float:
    return float(clearances(flight, circling, *np.triu_indices(len(flight.yaw), 1)).min())


def _with_safe_speeds(flight: Flight, side: int, kinematics: Kinematics, rng: np.random.Generator) -> Flight:
    circling = side * kinematics.max_turn_rate
    first, second = np.triu_indices(len(flight.yaw), 1)
    for _ in range(START_SWEEPS):
        tight = clearances(flight, circling, first, second) < kinematics.safety
        if not tight.any():
            break
        for node in np.unique([first[tight], second[tight]]):
            flight = _best_speed(flight, int(node), circling, kinematics, rng)
    return flight


def _best_speed(flight: Flight, node: int, circling: float, kinematics: Kinematics, rng: np.random.Generator) -> Flight:
    """The flight with this node's speed kept, or replaced by the drawn one that keeps it clearest of all others."""
    speeds = np.append(rng.uniform(kinematics.v_min, kinematics.v_max, START_CHOICES), flight.speed[node])
    arms = -1j * flight.velocity / circling
    centres = flight.places - arms
    own_arms = -1j * speeds * np.exp(1j * flight.yaw[node]) / circling
    gaps = np.abs(flight.places[node] - own_arms[:, None] - centres)
    clearance = np.abs(gaps - np.abs(own_arms[:, None] - arms))
    clearance[:, node] = np.inf
    speed = flight.speed.copy()
    speed[node] = speeds[np.argmax(np.minimum(clearance, 2 * kinematics.safety).min(axis=1))]
    return Flight(flight.places, flight.yaw, speed)
