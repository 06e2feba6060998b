"""Vehicles in one-way streets: they follow one another, and pass a crossing one at a time, straight on or in a turn.

Nobody drives further in a step than up to a safe distance behind where the next one was at its beginning, and nobody
enters a crossing that is not free or has no room behind it. So no two come closer than that. Braking has no limit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from manetdiff.fleet import Fleet
from manetdiff.fleet.geodetic import wrapped
from manetdiff.scenarios.kinematics import Kinematics
from manetdiff.scenarios.placing import ComplexArray, FloatArray, IntArray, as_places, as_positions
from manetdiff.scenarios.street_plan import StreetPlan
from manetdiff.scenarios.surface import UNSTEADY

BoolArray = npt.NDArray[np.bool_]

VEHICLES = Kinematics(v_min=5.0, v_max=20.0, max_acceleration=2.0)
# How likely a turn is, and how much likelier far out if it leads to the middle of the plan and straight on leads away.
TURN, HOMEWARD = 0.3, 0.2


@dataclass(frozen=True, eq=False)
class Traffic:
    """Vehicles in streets at one moment; all arrays (n,).

    - street, ahead: numbers of its street and of the next one that it will cross.
    - mileage: in metres along its street; in a turn it goes on to count from where the turn began.
    - leaving: the street that it takes from the crossing that it is in; -1 outside of crossings.
    - speed, wanted: m/s now, and where nobody is in the way.
    - dice: 0 … 1, which decide on its next turn.
    - aside, askew: metres (plan) and radians that it is off where its mileage says; both wear off as it drives.
    """

    plan: StreetPlan
    acceleration: float
    clock: float
    street: IntArray
    ahead: IntArray
    mileage: FloatArray
    leaving: IntArray
    speed: FloatArray
    wanted: FloatArray
    dice: FloatArray
    aside: ComplexArray
    askew: FloatArray

    @classmethod
    def of(cls, fleet: Fleet, kinematics: Kinematics, rng: np.random.Generator) -> Traffic:
        """The fleet as it stands in its streets, at speeds of its drivers' own."""
        plan, street = StreetPlan.of(fleet)
        places = as_places(fleet.horizontal) * np.exp(-1j * plan.axis)
        direction = plan.directions(street)
        mileage = (places * direction.conj()).real
        ahead = plan.ahead(street, mileage)
        # Of those who have not come to the middle of a crossing yet, the nearest to it is in it; the others wait.
        past = mileage - plan.mileage(street, ahead)
        crossing = plan.crossing(street, ahead)
        nearest_first = np.argsort(-past)
        _, first = np.unique(crossing[nearest_first], return_index=True)
        within = past >= 0
        within[nearest_first[first]] = past[nearest_first[first]] > -plan.zone
        wanted = rng.uniform((kinematics.v_min + kinematics.v_max) / 2, kinematics.v_max, len(fleet))
        start = cls(
            plan,
            kinematics.max_acceleration,
            0.0,
            street,
            ahead,
            mileage,
            np.where(within, street, -1),
            wanted,
            wanted,
            rng.random(len(fleet)),
            np.zeros(len(fleet), dtype=np.complex128),
            np.zeros(len(fleet)),
        )
        on_street, heading = start._poses()
        return dataclasses.replace(start, aside=places - on_street, askew=wrapped(fleet.yaw - plan.axis - heading))

    def as_fleet(self, like: Fleet) -> Fleet:
        """The same nodes as in `like`, where they are now."""
        places, heading = self._poses()
        there = (places + self.aside) * np.exp(1j * self.plan.axis)
        return like.moved_to(as_positions(there), wrapped(heading + self.askew + self.plan.axis))

    def between(self, later: Traffic, share: float) -> Traffic:
        """The moment after so much (0 … 1) of the way to a later one."""
        return self.driven(share * (later.clock - self.clock))

    def driven(self, seconds: float) -> Traffic:
        """The traffic so much later."""
        fastest = np.minimum(self.wanted, self.speed + self.acceleration * seconds)
        free = np.minimum(fastest * seconds, np.maximum(self._gap - self.plan.zone, 0.0))
        to_line = self._middle - self.plan.zone - self.mileage
        arriving = ~self._inside & (free > to_line)
        leaving = self._admitted(arriving, to_line)
        free = np.where(arriving & (leaving < 0), np.maximum(to_line, 0.0), free)
        worn = np.exp(-free / self.plan.zone)
        kept = np.clip(self.askew, -UNSTEADY, UNSTEADY)
        drove = dataclasses.replace(
            self,
            clock=self.clock + seconds,
            mileage=self.mileage + free,
            leaving=leaving,
            speed=free / seconds if seconds > 0 else self.speed,
            aside=self.aside * worn,
            askew=kept + (self.askew - kept) * worn,
        )
        return drove._out_of_crossings()

    @property
    def longest_step_s(self) -> float:
        """So short that nobody passes a crossing unseen."""
        return self.plan.zone / 2 / float(self.wanted.max())

    @cached_property
    def _inside(self) -> BoolArray:
        return np.asarray(self.leaving >= 0)

    @cached_property
    def _turning(self) -> BoolArray:
        return np.asarray(self._inside & (self.leaving != self.street))

    @cached_property
    def _middle(self) -> FloatArray:
        """Mileage of the crossing ahead."""
        return self.plan.mileage(self.street, self.ahead)

    @cached_property
    def _sorted(self) -> tuple[FloatArray, float]:
        """All vehicles street by street in one sorted row, and how far apart two streets are in it."""
        apart = 4 * float(np.abs(self.plan.line).max()) + 1.0
        return np.sort(self.street * apart + self.mileage), apart

    def _room(self, street: IntArray, mileage: FloatArray) -> FloatArray:
        """Metres from a place on a street to the next vehicle in it; infinite where there is none."""
        row, apart = self._sorted
        here = street * apart + mileage
        place = np.searchsorted(row, here, side="right")
        there = np.append(row, np.inf)[place]
        return np.where(there < (street + 0.5) * apart, there - here, np.inf)

    @cached_property
    def _gap(self) -> FloatArray:
        """Metres to the next vehicle ahead, in the street that a turn leads into where one is turning."""
        exits = np.where(self._turning, self.leaving, self.street)
        entered = np.where(self._turning, self.street, self.ahead)
        to_exit = self._middle - self.plan.zone + _turn_length(self.plan.zone) - self.mileage
        beyond = self._room(exits, self.plan.mileage(exits, entered)) - self.plan.zone
        return np.where(self._turning, to_exit + beyond, self._room(self.street, self.mileage))

    def _admitted(self, arriving: BoolArray, to_line: FloatArray) -> IntArray:
        """Who is or may be in a crossing in this step, by the street that it leaves by; -1: nobody else."""
        crossing = self.plan.crossing(self.street, self.ahead)
        straight, turn = self.plan.leads_on(self.street, self.ahead), self.plan.leads_on(self.ahead, self.street)
        home = self.plan.to_middle(self.ahead, self.street) ** 3 - self.plan.to_middle(self.street, self.ahead) ** 3
        turns = turn & ((self.dice < TURN + HOMEWARD * home) | ~straight)
        wanted = np.where(turns, self.ahead, self.street)
        other = np.where(turns, self.street, self.ahead)
        beyond = self._room(wanted, self.plan.mileage(wanted, other))
        free = arriving & ~np.isin(crossing, crossing[self._inside]) & (beyond >= 2 * self.plan.zone)
        asking = np.flatnonzero(free)
        nearest_first = asking[np.argsort(to_line[asking], kind="stable")]
        _, first = np.unique(crossing[nearest_first], return_index=True)
        leaving = self.leaving.copy()
        leaving[nearest_first[first]] = wanted[nearest_first[first]]
        return leaving

    def _out_of_crossings(self) -> Traffic:
        """The traffic with those who have passed their crossing on the street that they took."""
        plan = self.plan
        within = self.mileage - (self._middle - plan.zone)
        over = within - np.where(self._turning, _turn_length(plan.zone), 2 * plan.zone)
        out = self._inside & (over >= 0)
        turned, went_on = out & self._turning, out & ~self._turning
        street = np.where(turned, self.leaving, self.street)
        exit_mileage = plan.mileage(street, np.where(turned, self.street, self.ahead)) + plan.zone
        ahead = np.where(turned, self.street + plan.way[street], self.ahead)
        return dataclasses.replace(
            self,
            street=street,
            mileage=np.where(turned, exit_mileage + over, self.mileage),
            ahead=np.where(went_on, self.ahead + plan.way[self.street], ahead),
            leaving=np.where(out, -1, self.leaving),
        )

    def _poses(self) -> tuple[ComplexArray, FloatArray]:
        """Places and headings in the plan: on the street, or on the quarter circle of a turn."""
        plan, along = self.plan, self.plan.directions(self.street)
        start = self._middle - plan.zone
        across = np.where(plan.is_along_y(self.street), 1.0, 1j) * plan.line[self.street]
        angle = np.where(self._turning, (self.mileage - start) / plan.zone, 0.0)
        to = plan.directions(np.where(self._turning, self.leaving, self.street))
        straight = across + along * np.where(self._turning, start, self.mileage)
        places = straight + plan.zone * (np.sin(angle) * along + (1 - np.cos(angle)) * to)
        return places, np.angle(np.cos(angle) * along + np.sin(angle) * to)


def drive(start: Traffic, seconds: float, rng: np.random.Generator) -> Iterator[Traffic]:
    """The traffic at the start and after every step, without end."""
    traffic = start
    while True:
        yield traffic
        later = traffic.driven(seconds)
        traffic = dataclasses.replace(later, dice=rng.random(len(later.dice)))


def _turn_length(zone: float) -> float:
    return zone * np.pi / 2
