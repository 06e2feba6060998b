"""What a time budget has room for: a preset, or a construction without the network and a local search."""

from __future__ import annotations

from typing import NamedTuple

from manetdiff.radio import Radio
from manetdiff.runtime.costs import Calibration
from manetdiff.runtime.effort import MOST, PRESETS, Effort, preset_effort

# Of a budget, what the work is planned to take, and when the local search stops in any case: what comes after it takes
# time, too, and a machine is not always as fast as it was.
PLANNED, STOP = 0.85, 0.93


class Plan(NamedTuple):
    """preset: whose effort it is; None: no preset fits, and a construction takes the place of the network's samples.
    greedy: whether links are added to the shortest spanning forest before it is searched from."""

    preset: str | None
    effort: Effort
    greedy: bool = True


def planned(budget: float, calibration: Calibration, n: int, radio: Radio) -> Plan:
    """The last preset whose cost, on a fleet of n nodes, is within a budget in seconds; or what fits instead."""
    costs = calibration.at(n, radio)
    room = PLANNED * budget
    fitting = None
    for name in PRESETS:
        effort = preset_effort(name, n)
        if costs.of_sampling(effort) + effort.searched * effort.polish * costs.move <= room:
            fitting = Plan(name, effort)
    if fitting is not None:
        return fitting
    greedy = costs.of_construction(greedy=True) <= room
    left = room - costs.of_construction(greedy=greedy)
    moves = max(0, min(MOST, int(left / costs.move))) if costs.move > 0 else MOST
    return Plan(None, Effort(steps=1, polish=moves), greedy)
