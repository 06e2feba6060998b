"""A fleet on the move: where it is step by step, or once its shape has changed by so much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.fleet import displacement as displacement_between
from manetdiff.scenarios.conflicts import safe_start
from manetdiff.scenarios.kinematics import Flight, Kinematics, check_positive
from manetdiff.scenarios.lane_motion import SHIPS, Shipping, sail
from manetdiff.scenarios.steering import MODELS
from manetdiff.scenarios.street_motion import VEHICLES, Traffic, drive
from manetdiff.scenarios.surface import SURFACE

AIR_MOTIONS: tuple[str, ...] = tuple(MODELS)
MOTIONS: tuple[str, ...] = (*AIR_MOTIONS, *SURFACE)
LONGEST_STEP_S = 1.0  # longer steps are flown in parts, at an aircraft's tempo: conflicts are looked for after each
LARGEST_DISPLACEMENT = 2 * np.sqrt(2)  # normalised places lie √2 from the middle (RMS), before and after
TIME_LIMIT_S = 3600.0
TIME_LIMIT_SPREADS, SURFACE_SPREADS = 7.0, 100.0  # as much time as so many spreads take at full speed, if that is more
BISECTIONS = 24
ATTEMPTS = 8
TOLERANCE = 0.1


def motions_of(family: str) -> tuple[str, ...]:
    """The motions that suit a family: vehicles keep to their streets and ships to their lanes."""
    return (family,) if family in SURFACE else AIR_MOTIONS


def move(
    fleet: Fleet,
    model: str,
    rng: np.random.Generator,
    *,
    duration: float,
    step: float = 1.0,
    kinematics: Kinematics | None = None,
) -> list[Fleet]:
    """The fleet now and after every step (seconds) until the duration (seconds) is over; positions in metres.

    - model: one of `motions_of` the fleet's family.
    - kinematics: limits of speed and so on; None: those of aircraft, small ones where the fleet is too close for
      others, of vehicles or of ships. In streets and lanes, the speeds and the acceleration count.
    """
    _check_model(model)
    check_positive("duration", duration)
    check_positive("step", step)
    way = journey(fleet, model, rng, kinematics)
    parts = int(np.ceil(step / way.longest_step_s))
    count = int(np.floor(duration / step * (1 + 1e-12)))
    path = way.path(step / parts)
    moments = [moment for i, moment in zip(range(count * parts + 1), path, strict=False) if i % parts == 0]
    return [fleet] + [moment.as_fleet(like=fleet) for moment in moments[1:]]


def move_by(
    fleet: Fleet,
    displacement: float,
    rng: np.random.Generator,
    model: str | None = None,
    *,
    kinematics: Kinematics | None = None,
    time_limit: float | None = None,
) -> Fleet:
    """The fleet when its normalised displacement from now first reaches the value asked for.

    Where no model is named, those of aircraft are tried in random order until one gets there. Each has the time limit
    (seconds; None: an hour, and longer where the fleet is very wide or slow); a group that stays together may never
    change its shape by as much as 0.5. Kinematics as in `move`.
    """
    check_positive("displacement", displacement)
    if time_limit is not None:
        check_positive("time_limit", time_limit)
    if displacement >= LARGEST_DISPLACEMENT:
        raise ScenarioError(f"no fleet can be displaced by {displacement}: choose less than 2√2")
    models = [AIR_MOTIONS[i] for i in rng.permutation(len(AIR_MOTIONS))] if model is None else [model]
    for name in models:
        _check_model(name)
        for _ in range(ATTEMPTS):
            way = journey(fleet, name, rng, kinematics)
            limit_s = way.patience_s if time_limit is None else time_limit
            path = way.path(way.longest_step_s)
            moved = _first_reached(fleet, path, displacement, steps=int(limit_s / way.longest_step_s))
            if moved is None:
                break
            # Where headings cancel out, the mean heading and with it the frame may jump: then another path is flown.
            if displacement_between(fleet, moved) <= (1 + TOLERANCE) * displacement:
                return moved
    raise ScenarioError(
        f"{' or '.join(models)} motion did not displace the fleet by {displacement} in {limit_s:g} s: "
        "choose a smaller displacement, another model or a longer time limit"
    )


class Moment(Protocol):
    """A fleet in motion at one moment."""

    def as_fleet(self, like: Fleet) -> Fleet:
        """The same nodes as in `like`, where they are now."""

    def between(self, later: Any, share: float) -> Moment:
        """The moment after so much (0 … 1) of the way to a later one."""


@dataclass(frozen=True)
class Journey:
    """How a fleet goes on from now: `path` has the moments now and after every step of so many seconds, without end."""

    path: Callable[[float], Iterator[Moment]]
    longest_step_s: float
    patience_s: float


def journey(fleet: Fleet, model: str, rng: np.random.Generator, kinematics: Kinematics | None = None) -> Journey:
    """How the fleet goes on, without end; arguments as of `move`."""
    _check_model(model)
    if model not in SURFACE:
        limits = kinematics or Kinematics.of_aircraft_in(fleet)
        path = partial(_flown, fleet, model, rng, limits)
        return Journey(path, LONGEST_STEP_S * limits.tempo, _patience_s(TIME_LIMIT_SPREADS * fleet.spread, limits))
    if model == "streets":
        limits = kinematics or VEHICLES
        traffic = Traffic.of(fleet, limits, rng)
        patience_s = _patience_s(SURFACE_SPREADS * fleet.spread, limits)
        return Journey(lambda seconds: drive(traffic, seconds, rng), traffic.longest_step_s, patience_s)
    limits = kinematics or SHIPS
    shipping = Shipping.of(fleet, limits, rng)
    return Journey(
        partial(sail, shipping), shipping.longest_step_s, _patience_s(SURFACE_SPREADS * fleet.spread, limits)
    )


def _patience_s(way: float, kinematics: Kinematics) -> float:
    return max(TIME_LIMIT_S, way / kinematics.v_max)


def _flown(
    fleet: Fleet, model: str, rng: np.random.Generator, kinematics: Kinematics, seconds: float
) -> Iterator[Flight]:
    # One pace for all, give or take: a fleet that flies together starts together.
    pace = kinematics.v_min + kinematics.speed_margin * rng.uniform(0.7, 1.3)
    speed = np.clip(pace * rng.normal(1.0, 0.015, len(fleet)), kinematics.v_min, kinematics.v_max)
    flight, airspace = safe_start(Flight.of(fleet, speed), kinematics, rng)
    motion = MODELS[model](flight, fleet.spread, kinematics, rng)
    while True:
        yield flight
        flight = airspace.step(flight, motion.wanted(flight, seconds, rng), seconds)


def _first_reached(fleet: Fleet, path: Iterator[Moment], displacement: float, steps: int) -> Fleet | None:
    """The fleet when it is first displaced so far along the path, or None if that takes more steps."""
    before = next(path)
    for _ in range(steps):
        after = next(path)
        if displacement_between(fleet, after.as_fleet(like=fleet)) >= displacement:
            return _bisected(fleet, before, after, displacement)
        before = after
    return None


def _bisected(fleet: Fleet, before: Moment, after: Moment, displacement: float) -> Fleet:
    """The moment of the step at which the displacement is reached, by bisection."""
    low, high = 0.0, 1.0
    reached = after.as_fleet(like=fleet)
    for _ in range(BISECTIONS):
        share = (low + high) / 2
        between = before.between(after, share).as_fleet(like=fleet)
        if displacement_between(fleet, between) >= displacement:
            high, reached = share, between
        else:
            low = share
    return reached


def _check_model(model: str) -> None:
    if model not in MOTIONS:
        raise ScenarioError(f"unknown motion {model!r}: choose one of {', '.join(MOTIONS)}")
