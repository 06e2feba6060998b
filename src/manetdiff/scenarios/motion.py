"""A fleet on the move: where it is step by step, or once its shape has changed by so much."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.fleet import displacement as displacement_between
from manetdiff.scenarios.conflicts import safe_start
from manetdiff.scenarios.kinematics import DEFAULT_KINEMATICS, Flight, Kinematics, check_positive
from manetdiff.scenarios.steering import MODELS

MOTIONS: tuple[str, ...] = tuple(MODELS)
LONGEST_STEP_S = 1.0  # longer steps are flown in parts: conflicts are looked for after each
LARGEST_DISPLACEMENT = 2 * np.sqrt(2)  # normalised places lie √2 from the middle (RMS), before and after
BISECTIONS = 24
ATTEMPTS = 8
TOLERANCE = 0.1


def move(
    fleet: Fleet,
    model: str,
    rng: np.random.Generator,
    *,
    duration: float,
    step: float = 1.0,
    kinematics: Kinematics = DEFAULT_KINEMATICS,
) -> list[Fleet]:
    """The fleet now and after every step (seconds) until the duration (seconds) is over; positions in metres."""
    _check_model(model)
    check_positive("duration", duration)
    check_positive("step", step)
    parts = int(np.ceil(step / LONGEST_STEP_S))
    count = int(np.floor(duration / step * (1 + 1e-12)))
    path = _path(fleet, model, rng, step / parts, kinematics)
    flights = [flight for i, flight in zip(range(count * parts + 1), path, strict=False) if i % parts == 0]
    return [fleet] + [flight.as_fleet(like=fleet) for flight in flights[1:]]


def move_by(
    fleet: Fleet,
    displacement: float,
    rng: np.random.Generator,
    model: str | None = None,
    *,
    kinematics: Kinematics = DEFAULT_KINEMATICS,
    time_limit: float = 3600.0,
) -> Fleet:
    """The fleet when its normalised displacement from now first reaches the value asked for.

    Where no model is named, they are tried in random order until one gets there. Each has the time limit (seconds); a
    group that stays together may never change its shape by as much as 0.5.
    """
    check_positive("displacement", displacement)
    check_positive("time_limit", time_limit)
    if displacement >= LARGEST_DISPLACEMENT:
        raise ScenarioError(f"no fleet can be displaced by {displacement}: choose less than 2√2")
    models = [MOTIONS[i] for i in rng.permutation(len(MOTIONS))] if model is None else [model]
    for name in models:
        _check_model(name)
        for _ in range(ATTEMPTS):
            path = _path(fleet, name, rng, LONGEST_STEP_S, kinematics)
            moved = _first_reached(fleet, path, displacement, steps=int(time_limit / LONGEST_STEP_S))
            if moved is None:
                break
            # Where headings cancel out, the mean heading and with it the frame may jump: then another path is flown.
            if displacement_between(fleet, moved) <= (1 + TOLERANCE) * displacement:
                return moved
    raise ScenarioError(
        f"{' or '.join(models)} motion did not displace the fleet by {displacement} in {time_limit:g} s: "
        "choose a smaller displacement, another model or a longer time limit"
    )


def _path(
    fleet: Fleet, model: str, rng: np.random.Generator, seconds: float, kinematics: Kinematics
) -> Iterator[Flight]:
    """The flight at the start and after every step, without end."""
    # One pace for all, give or take: a fleet that flies together starts together.
    pace = kinematics.v_min + kinematics.speed_margin * rng.uniform(0.7, 1.3)
    speed = np.clip(pace * rng.normal(1.0, 0.015, len(fleet)), kinematics.v_min, kinematics.v_max)
    flight, airspace = safe_start(Flight.of(fleet, speed), kinematics, rng)
    motion = MODELS[model](flight, fleet.spread, kinematics, rng)
    while True:
        yield flight
        flight = airspace.step(flight, motion.wanted(flight, seconds, rng), seconds)


def _first_reached(fleet: Fleet, path: Iterator[Flight], displacement: float, steps: int) -> Fleet | None:
    """The fleet when it is first displaced so far along the path, or None if that takes more steps."""
    before = next(path)
    for _ in range(steps):
        after = next(path)
        if displacement_between(fleet, after.as_fleet(like=fleet)) >= displacement:
            return _bisected(fleet, before, after, displacement)
        before = after
    return None


def _bisected(fleet: Fleet, before: Flight, after: Flight, displacement: float) -> Fleet:
    """The moment of the step at which the displacement is reached, by bisection."""
    low, high = 0.0, 1.0
    reached = after.as_fleet(like=fleet)
    for _ in range(BISECTIONS):
        share = (low + high) / 2
        between = Flight(
            before.places + share * (after.places - before.places),
            before.yaw + share * (after.yaw - before.yaw),
            after.speed,
        ).as_fleet(like=fleet)
        if displacement_between(fleet, between) >= displacement:
            high, reached = share, between
        else:
            low = share
    return reached


def _check_model(model: str) -> None:
    if model not in MODELS:
        raise ScenarioError(f"unknown motion {model!r}: choose one of {', '.join(MOTIONS)}")
