"""Partial diffusion: how an update starts from the previous topology, by how far the fleet has moved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from manetdiff.errors import ModelError

Mode = Literal["auto", "standard", "minor", "guided", "anew"]

# Movement in the normalised frame up to which an update is minor, and beyond which a topology is made anew.
MINOR_UP_TO, ANEW_BEYOND = 0.15, 0.8
# The paper takes 15 steps at a movement of 0.3 and 7 to 10 for a minor one. Measured, 5 and 3 keep as many links, as
# much T and as many constraints; 'steps' brings the others back.
STEPS_A_MOVEMENT = 50 / 3
FEWEST_STEPS = 3
LEAST_START = 0.06
MINOR_START, MINOR_STEPS = 0.1, 3
# Beyond this, guided samples keep links at the price of constraints.
GUIDE_WEIGHT_A_MOVEMENT = 10.0
# What is assumed of a fleet whose previous positions are not known.
ASSUMED = 0.3


@dataclass(frozen=True)
class PartialDiffusion:
    """start: the time at which the previous topology is taken as the state. steps: from there to 0. own_noise: whether
    it takes the place of the process's noise, too. guide_weight: how strongly
    the predictions are guided to it."""

    start: float
    steps: int
    own_noise: bool = False
    guide_weight: float = 0.0


def chosen_mode(mode: Mode, moved: float | None) -> Mode:
    """What 'auto' picks for a movement; any other mode as it is."""
    if mode not in get_args(Mode):
        raise ModelError(f"mode must be one of {', '.join(get_args(Mode))}, not {mode!r}")
    if mode != "auto":
        return mode
    far = ASSUMED if moved is None else moved
    if far <= MINOR_UP_TO:
        return "minor"
    return "standard" if far <= ANEW_BEYOND else "anew"


def partial_diffusion(mode: Mode, moved: float | None, steps: int | None) -> PartialDiffusion:
    """How to update in a mode; steps: instead of those that the movement asks for."""
    far = ASSUMED if moved is None else moved
    if mode == "minor":
        return PartialDiffusion(MINOR_START, steps or MINOR_STEPS, own_noise=True)
    start = min(1.0, max(LEAST_START, far))
    weight = GUIDE_WEIGHT_A_MOVEMENT * far if mode == "guided" else 0.0
    return PartialDiffusion(start, steps or max(FEWEST_STEPS, math.ceil(STEPS_A_MOVEMENT * start)), guide_weight=weight)
