"""What a time budget has room for: a preset, or a construction without the network and a local search."""

from __future__ import annotations

from typing import NamedTuple

from manetdiff.radio import Radio
from manetdiff.runtime.costs import Calibration
from manetdiff.runtime.effort import MOST, PRESETS, Effort, preset_effort

# Of a budget, what sampling is planned to take, which no clock can stop; what all of the work is; and when the local
# search stops in any case: what comes after it takes time, too, and a machine is not always as fast as it was.
SAMPLED, PLANNED, STOP = 0.65, 0.85, 0.92


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
        sampling = costs.of_sampling(effort)
        if sampling <= SAMPLED * budget and sampling + effort.searched * effort.polish * costs.move <= room:
            fitting = Plan(name, effort)
    if fitting is not None:
        return fitting
    plain, added = (costs.of_construction(greedy=greedy) for greedy in (False, True))
    greedy = added <= max(room, plain)
    left = room - (added if greedy else plain)
    moves = max(0, min(MOST, int(left / costs.move))) if costs.move > 0 else MOST
    return Plan(None, Effort(steps=1, polish=moves), greedy)
