"""Ships in lanes: they follow one another, and where their lane ends they slowly turn round into the one beside it.

Two neighbouring lanes of opposite ways make up a circuit: two straights, and a half circle at either end. A ship keeps
its own distance from the middle of its lane all the way round.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.fleet.geodetic import wrapped
from manetdiff.scenarios.kinematics import Kinematics
from manetdiff.scenarios.placing import ComplexArray, FloatArray, IntArray, as_places, as_positions
from manetdiff.scenarios.spacing import spacing_of
from manetdiff.scenarios.steering import STRAY
from manetdiff.scenarios.surface import UNSTEADY, common_axis

SHIPS = Kinematics(v_min=5.0, v_max=12.0, max_acceleration=0.05)
OFF_COURSE = float(np.radians(3.0))  # who points further off the lanes is turning round
SAME_LANE = 0.6  # of the gap between lanes of opposite ways: ships of one way that are no further apart share a lane
WIDEST_PAIR = 3.0  # such gaps between two lanes that make up a circuit
KEPT = 0.3  # such gaps that a ship keeps from the next one ahead


@dataclass(frozen=True, eq=False)
class Circuits:
    """Circuits, counter-clockwise, in a frame of their own with their legs along x; all arrays (circuits,), in metres.

    - axis, origin: the frame's x in radians and its zero.
    - middle: x + iy; half_leg: from there to where the lanes end; radius: half of the distance between the two lanes.
    - gap: metres between lanes of opposite ways, at the narrowest.
    """

    axis: float
    origin: complex
    middle: ComplexArray
    half_leg: FloatArray
    radius: FloatArray
    gap: float

    @property
    def half_length(self) -> FloatArray:
        """A leg and a turn. The second half of a circuit is the first one, turned by half a circle."""
        return 2 * self.half_leg + np.pi * self.radius

    def poses(self, circuit: IntArray, way: FloatArray, out: FloatArray) -> tuple[ComplexArray, FloatArray]:
        """Places and headings (n,) so far along the circuit (from its south-western corner) and out of its line."""
        radius, half_leg = self.radius[circuit], self.half_leg[circuit]
        second = way // self.half_length[circuit]
        rest = way - second * self.half_length[circuit]
        angle = np.maximum(rest - 2 * half_leg, 0.0) / radius
        place = np.minimum(rest, 2 * half_leg) - half_leg - 1j * (radius + out) * np.exp(1j * angle)
        return np.where(second % 2 == 1, -place, place) + self.middle[circuit], angle + np.pi * second

    def stretch(self, circuit: IntArray, way: FloatArray, out: FloatArray) -> FloatArray:
        """Metres that are sailed for a metre along the circuit: other than 1 only in its turns."""
        turning = way % self.half_length[circuit] > 2 * self.half_leg[circuit]
        return np.where(turning, 1.0 + out / self.radius[circuit], 1.0)

    def way_of(self, circuit: IntArray, places: ComplexArray, heading: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How far along its circuit each is, and how far out of its line: on a leg, or turning where its heading says.

        - heading: (n,) in 0 … 2π.
        """
        radius, half_leg = self.radius[circuit], self.half_leg[circuit]
        second = (heading > np.pi - OFF_COURSE) & (heading < 2 * np.pi - OFF_COURSE)
        local = (places - self.middle[circuit]) * np.where(second, -1, 1)
        angle = wrapped(heading - np.pi * second)
        turning = angle > OFF_COURSE
        on_leg = np.clip(local.real + half_leg, 0.0, 2 * half_leg)
        rest = np.where(turning, 2 * half_leg + radius * angle, on_leg)
        out = np.where(turning, np.abs(local - half_leg), -local.imag) - radius
        return rest + second * self.half_length[circuit], out


@dataclass(frozen=True, eq=False)
class Shipping:
    """Ships in circuits at one moment; all arrays (n,).

    - circuit, way, out: number of its circuit, metres along it, and metres outside of its line.
    - speed, wanted: m/s now, and where nobody is in the way.
    - aside, askew: metres (frame) and radians that it is off where the rest says; both wear off as it sails.
    """

    circuits: Circuits
    kept: float
    acceleration: float
    clock: float
    circuit: IntArray
    way: FloatArray
    out: FloatArray
    speed: FloatArray
    wanted: FloatArray
    aside: ComplexArray
    askew: FloatArray

    @classmethod
    def of(cls, fleet: Fleet, kinematics: Kinematics, rng: np.random.Generator) -> Shipping:
        """The fleet as it lies in its lanes, at speeds of the ships' own."""
        circuits, circuit = _circuits(fleet)
        places = (as_places(fleet.horizontal) - circuits.origin) * np.exp(-1j * circuits.axis)
        way, out = circuits.way_of(circuit, places, (fleet.yaw - circuits.axis) % (2 * np.pi))
        wanted = rng.uniform((kinematics.v_min + kinematics.v_max) / 2, kinematics.v_max, len(fleet))
        there, heading = circuits.poses(circuit, way, out)
        askew = wrapped(fleet.yaw - circuits.axis - heading)
        kept = KEPT * circuits.gap
        acceleration = kinematics.max_acceleration
        return cls(circuits, kept, acceleration, 0.0, circuit, way, out, wanted, wanted, places - there, askew)

    def as_fleet(self, like: Fleet) -> Fleet:
        """The same nodes as in `like`, where they are now."""
        places, heading = self.circuits.poses(self.circuit, self.way, self.out)
        there = self.circuits.origin + (places + self.aside) * np.exp(1j * self.circuits.axis)
        return like.moved_to(as_positions(there), wrapped(heading + self.askew + self.circuits.axis))

    def between(self, later: Shipping, share: float) -> Shipping:
        """The moment after so much (0 … 1) of the way to a later one."""
        return self.sailed(share * (later.clock - self.clock))

    def sailed(self, seconds: float) -> Shipping:
        """The ships so much later: nobody sails closer to where the next one was than what is kept."""
        fastest = np.minimum(self.wanted, self.speed + self.acceleration * seconds) * seconds
        now, then = (self.circuits.stretch(self.circuit, way, self.out) for way in (self.way, self.way + fastest))
        ahead = np.minimum(fastest / np.maximum(1.0, np.maximum(now, then)), np.maximum(self._gap() - self.kept, 0.0))
        worn = np.exp(-ahead / self.circuits.radius[self.circuit])
        steady = np.clip(self.askew, -UNSTEADY, UNSTEADY)
        return dataclasses.replace(
            self,
            clock=self.clock + seconds,
            way=(self.way + ahead) % (2 * self.circuits.half_length[self.circuit]),
            speed=ahead / seconds if seconds > 0 else self.speed,
            aside=self.aside * worn,
            askew=steady + (self.askew - steady) * worn,
        )

    @property
    def longest_step_s(self) -> float:
        """So short that a turn is seen, and that nobody is held up by where the next one was."""
        return min(self.kept, float(self.circuits.radius.min())) / 4 / float(self.wanted.max())

    def _gap(self) -> FloatArray:
        """Metres along the circuit to the next ship ahead; once round where there is no other."""
        order = np.lexsort((self.way, self.circuit))
        circuit, way = self.circuit[order], self.way[order]
        first = np.searchsorted(circuit, circuit)
        last = np.searchsorted(circuit, circuit, side="right") - 1
        place = np.arange(len(order))
        after = np.where(place == last, first, np.minimum(place + 1, len(order) - 1))
        once_round = np.where(place == last, 2 * self.circuits.half_length[circuit], 0.0)
        gap = np.empty(len(order))
        gap[order] = way[after] - way + once_round
        return gap


def sail(start: Shipping, seconds: float) -> Iterator[Shipping]:
    """The ships at the start and after every step, without end."""
    shipping = start
    while True:
        yield shipping
        shipping = shipping.sailed(seconds)


def _circuits(fleet: Fleet) -> tuple[Circuits, IntArray]:
    """The circuits whose lanes the ships are in, and the circuit of each ship (n,)."""
    spacing = spacing_of(fleet)
    axis = common_axis(fleet.yaw, ways=2)
    places = as_places(fleet.horizontal)
    origin = complex(places.mean())
    places = (places - origin) * np.exp(-1j * axis)
    heading = np.exp(1j * (fleet.yaw - axis))
    in_lane = np.abs(heading.imag) < np.sin(OFF_COURSE)
    if in_lane.mean() < 0.5:
        raise ScenarioError("ships must point along parallel lanes: draw a fleet in sea lanes")
    gap, lane_y, lane_way = _lanes(places.imag[in_lane], np.where(heading.real[in_lane] > 0, 1, -1), spacing)
    middle_y, radius = _paired(lane_y, lane_way, gap)
    circuit = np.abs(np.abs(places.imag[:, None] - middle_y) - radius).argmin(axis=1)
    far = max(STRAY * fleet.spread, float(np.abs(places.real).max()) + spacing)
    ends = np.full((2, len(radius)), [[-far], [far]])
    # Where somebody is turning round already, the lanes end there.
    for ship in np.flatnonzero(~in_lane):
        right = int(heading[ship].imag > 0)
        ends[right, circuit[ship]] = places[ship].real - radius[circuit[ship]] * heading[ship].imag
    middle = ends.mean(axis=0) + 1j * middle_y
    return Circuits(axis, origin, middle, np.diff(ends, axis=0)[0] / 2, radius, gap), circuit


def _lanes(across: FloatArray, way: IntArray, spacing: float) -> tuple[float, FloatArray, IntArray]:
    """The least gap between lanes of opposite ways, and y and way of all lanes from low to high."""
    order = np.argsort(across)
    gaps, opposite = np.diff(across[order]), np.diff(way[order]) != 0
    gap = float(gaps[opposite].min()) if opposite.any() else spacing
    groups = np.split(order, np.flatnonzero(opposite | (gaps > SAME_LANE * gap)) + 1)
    lane_y = np.array([(across[group].min() + across[group].max()) / 2 for group in groups])
    return gap, lane_y, np.array([way[group[0]] for group in groups], dtype=np.int64)


def _paired(lane_y: FloatArray, lane_way: IntArray, gap: float) -> tuple[FloatArray, FloatArray]:
    """Middle and radius of the circuits: each lane with the one to its left, which leads back, or with an empty one."""
    middle, radius = [], []
    k = 0
    while k < len(lane_y):
        above = lane_y[k + 1] - lane_y[k] if k + 1 < len(lane_y) else np.inf
        below = lane_y[k] - lane_y[k - 1] if k > 0 else np.inf
        if lane_way[k] == 1 and above < WIDEST_PAIR * gap and lane_way[k + 1] == -1:
            half, k = above / 2, k + 1
            middle.append(lane_y[k] - half)
        else:
            half = min(gap, (above if lane_way[k] == 1 else below) / 2) / 2
            middle.append(lane_y[k] + lane_way[k] * half)
        radius.append(half)
        k += 1
    return np.array(middle), np.array(radius)
