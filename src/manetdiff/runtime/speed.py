"""Which preset a time budget has room for: by how fast this machine is, measured when it is first asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from manetdiff.runtime.effort import PRESETS, preset_effort
from manetdiff.topology import Topology


class MachineSpeed(NamedTuple):
    """Seconds for fleets of one size: of what is done once, of a step of one sample, and of a move of the search."""

    once: float
    step: float
    move: float


def machine_speed(generate: Callable[[str], Topology], n: int) -> MachineSpeed:
    """On fleets of n nodes, from two presets that differ in their steps. generate: makes a topology by one."""
    few, many = "instant", "balanced"
    reports = {}
    for preset in (few, many):
        generate(preset)  # once for what is only done the first time
        reports[preset] = min((generate(preset).report for _ in range(2)), key=lambda report: report.seconds)
    efforts = {name: preset_effort(name, n) for name in reports}
    steps = {name: effort.samples * effort.steps for name, effort in efforts.items()}
    network = {name: report.seconds - report.stages["polish"] for name, report in reports.items()}
    step = max(0.0, network[many] - network[few]) / (steps[many] - steps[few])
    moves = efforts[many].searched * efforts[many].polish
    return MachineSpeed(max(0.0, network[few] - steps[few] * step), step, reports[many].stages["polish"] / moves)


def affordable(budget: float, speed: MachineSpeed, n: int) -> str:
    """The last preset that a budget in seconds has room for, or the fastest."""
    picked = next(iter(PRESETS))
    for name in PRESETS:
        effort = preset_effort(name, n)
        cost = speed.once + effort.samples * effort.steps * speed.step + effort.searched * effort.polish * speed.move
        if cost <= budget:
            picked = name
    return picked
