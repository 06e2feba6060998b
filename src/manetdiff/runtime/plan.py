"""What a time budget has room for: a preset, or a construction without the network and a local search."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from manetdiff.radio import Radio
from manetdiff.runtime.costs import Calibration
from manetdiff.runtime.effort import MOST, Effort, preset_effort
from manetdiff.runtime.presets import PRESETS

# Of a budget, what sampling or construction is planned to take, which no clock can stop; what all of the work is; and
# when the local search stops in any case: what comes after it takes time, too, at least so many seconds, and a machine
# is not always as fast as it was.
SAMPLED, PLANNED, STOP = 0.65, 0.85, 0.92
AFTERWARDS = 3e-4
# Moves a node that a sample has at least: with fewer, a longer search from a construction is as good.
FEWEST_MOVES_A_NODE = 10
# How many times as long a move takes among all candidates as among those that the network leaves.
AMONG_ALL = 1.4
# Seconds: no move is made in less.
SHORTEST = 1e-8


class Plan(NamedTuple):
    """preset: whose effort it is; None: no preset fits, and a construction takes the place of the network's samples.
    greedy: whether links are added to the shortest spanning forest before it is searched from."""

    preset: str | None
    effort: Effort
    greedy: bool = True


def planned(budget: float, calibration: Calibration, n: int, radio: Radio, *, network: bool = True) -> Plan:
    """The last preset whose cost, on a fleet of n nodes, is within a budget in seconds, or the first one with fewer
    moves; or what fits instead.

    - network: whether it may have a say, as it should under radios that it was trained for.

    What time is left goes into the local search.
    """
    costs = calibration.at(n, radio)
    room = PLANNED * budget
    fitting = None
    for place, name in enumerate(PRESETS if network else ()):
        effort = preset_effort(name, n)
        sampling = costs.of_sampling(effort)
        left = room - sampling
        polish = effort.polish if place else min(effort.polish, FEWEST_MOVES_A_NODE * n)
        if sampling <= SAMPLED * budget and effort.searched * polish * costs.move <= left:
            fitting = Plan(name, dataclasses.replace(effort, polish=_moves(left / effort.searched, costs.move)))
    if fitting is not None:
        return fitting
    plain, added = (costs.of_construction(greedy=greedy) for greedy in (False, True))
    greedy = added <= max(SAMPLED * budget, plain)
    left = room - (added if greedy else plain)
    return Plan(None, Effort(steps=1, polish=_moves(left, AMONG_ALL * costs.move)), greedy)


def last_move(began: float, budget: float) -> float:
    """When the local search stops in any case."""
    return began + STOP * budget - AFTERWARDS


def _moves(seconds: float, move: float) -> int:
    """How many moves that is, if a move takes so long."""
    return max(0, min(MOST, int(seconds / max(move, SHORTEST))))
