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

REFRESH_S = 2.0  # how long a list of pairs that could come into conflict is used, at an aircraft's tempo
ROUNDING = 1e-6  # metres of clearance that one step may lose to rounding
START_SWEEPS = 20
START_SEARCHES = 5120  # for one aircraft's speed; fewer sweeps where there are very many in conflict
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
        refresh_s = REFRESH_S * self._kinematics.tempo
        if self._pairs is None or self._pairs_age_s + seconds > refresh_s:
            self._pairs, self._before = self._watched_pairs(flight, refresh_s + seconds)
            self._pairs_age_s = 0.0
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

    def _watched_pairs(self, flight: Flight, seconds: float) -> tuple[tuple[IntArray, IntArray], FloatArray]:
        """All pairs (i < j) whose clearance could fall below the safety distance so soon, and their clearances now."""
        k = self._kinematics
        # A centre moves at most at twice the speed, an arm's end at most at the speed; both change as the speed does.
        fastest = 6 * k.v_max + 4 * k.max_acceleration / k.max_turn_rate
        first, second = np.triu_indices(len(flight.yaw), 1)
        clearance = clearances(flight, self._circling, first, second)
        watched = clearance < k.safety + fastest * seconds
        return (first[watched], second[watched]), clearance[watched]


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
    searches = 0
    for _ in range(START_SWEEPS):
        tight = clearances(flight, circling, first, second) < kinematics.safety
        in_conflict = np.unique([first[tight], second[tight]])
        searches += len(in_conflict)
        if len(in_conflict) == 0 or searches > START_SEARCHES:
            break
        for node in in_conflict:
            flight = _best_speed(flight, int(node), circling, kinematics, rng)
    return flight


def _best_speed(flight: Flight, node: int, circling: float, kinematics: Kinematics, rng: np.random.Generator) -> Flight:
    """The flight with this node's speed kept, or replaced by the drawn one that keeps it clearest of all others."""
    speeds = np.append(rng.uniform(kinematics.v_min, kinematics.v_max, START_CHOICES), flight.speed[node])
    enough = 2 * kinematics.safety
    # Whoever is further away stays clear of it at any speed.
    away = np.abs(flight.places - flight.places[node])
    others = np.flatnonzero(away < enough + 4 * kinematics.v_max / kinematics.max_turn_rate)
    others = others[others != node]
    arms = -1j * flight.velocity[others] / circling
    centres = flight.places[others] - arms
    own_arms = -1j * speeds * np.exp(1j * flight.yaw[node]) / circling
    gaps = np.abs(flight.places[node] - own_arms[:, None] - centres)
    clearance = np.abs(gaps - np.abs(own_arms[:, None] - arms))
    speed = flight.speed.copy()
    speed[node] = speeds[np.argmax(clearance.min(axis=1, initial=enough))]
    return Flight(flight.places, flight.yaw, speed)
