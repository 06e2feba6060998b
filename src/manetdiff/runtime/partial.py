"""Partial diffusion: how an update starts from the previous topology."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from manetdiff.errors import ModelError
from manetdiff.radio.pairs import EVERY_PAIR
from manetdiff.runtime.effort import Effort

Mode = Literal["auto", "quick", "standard", "minor", "guided", "anew"]

# One step from late on the path, whatever the movement. What is kept of the previous links is not decided by how near
# to them a chain starts, but by what a kept link is worth (runtime/objective.py); further steps bring less than the
# same time does in the local search.
QUICK_START, QUICK_STEPS = 0.75, 1
# Of the local search on a sample and on the previous links; of large fleets, where what it does first takes most of the
# time, fewer: two short ones found more than one that is twice as long.
MOVES_A_NODE, MOVES_A_NODE_OF_MANY = 40, 20
# The paper's modes start by how far the fleet has moved, in spreads, and go on from there.
# The paper takes 15 steps at a movement of 0.3 and 7 to 10 for a minor one. Measured, 5 and 3 keep as many links, as
# much T and as many constraints; 'steps' brings the others back.
STEPS_A_MOVEMENT = 50 / 3
FEWEST_STEPS = 3
LEAST_START = 0.06
MINOR_START, MINOR_STEPS = 0.1, 3
# Beyond this, guided samples keep links at the price of constraints.
GUIDE_WEIGHT_A_MOVEMENT = 10.0
# Of a quick update, where a kept link is worth as much as it carries. On flights up to three times as much was level in
# T and continuity.
GUIDE_WEIGHT_A_SHARE, MOST_GUIDED = 3.0, 3.0
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


def chosen_mode(mode: Mode) -> Mode:
    """What 'auto' is; any other mode as it is."""
    if mode not in get_args(Mode):
        raise ModelError(f"mode must be one of {', '.join(get_args(Mode))}, not {mode!r}")
    return "quick" if mode == "auto" else mode


def usual_effort(n: int, *, correct: bool = True) -> Effort:
    """Of an update of n nodes; its steps follow from how it starts. What is not corrected is not searched from."""
    moves = MOVES_A_NODE if n <= EVERY_PAIR else MOVES_A_NODE_OF_MANY
    return Effort(QUICK_STEPS, finalists=2, polish=moves * n if correct else 0)


def partial_diffusion(mode: Mode, moved: float | None, steps: int | None, share: float = 0.0) -> PartialDiffusion:
    """How to update in a mode. steps: instead of those that the movement asks for. share: of what a link carries, that
    a kept one is worth."""
    far = ASSUMED if moved is None else moved
    if mode == "quick":
        guided = min(GUIDE_WEIGHT_A_SHARE * share, MOST_GUIDED)
        return PartialDiffusion(QUICK_START, steps or QUICK_STEPS, guide_weight=guided)
    if mode == "minor":
        return PartialDiffusion(MINOR_START, steps or MINOR_STEPS, own_noise=True)
    start = min(1.0, max(LEAST_START, far))
    weight = GUIDE_WEIGHT_A_MOVEMENT * far if mode == "guided" else 0.0
    return PartialDiffusion(start, steps or max(FEWEST_STEPS, math.ceil(STEPS_A_MOVEMENT * start)), guide_weight=weight)
