"""How much work goes into a topology: presets with plain names, each a measured point."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

from manetdiff.checks import check_flag, check_whole
from manetdiff.errors import ModelError
from manetdiff.runtime.options import Options
from manetdiff.sampling import EVEN_FROM, MOST_STEPS, Grid, grid_for
from manetdiff.solvers.local_search import GENTLE, THOROUGH, Annealing

# Of samples and moves: beyond it somebody has mistaken a unit.
MOST = 10**7


@dataclass(frozen=True)
class Effort:
    """steps: of denoising. samples: drawn together, the best of them kept. finalists: of the samples, so many go on to
    the local search, those that are best after correction; 0: all. polish: moves of the local search on each; 0: none.

    - correct: whether samples are corrected. annealing: how far the local search strays.
    - small: whether the small network takes the steps, where there is one beside the model's own."""

    steps: int
    samples: int = 1
    finalists: int = 0
    polish: int = 0
    correct: bool = True
    annealing: Annealing = THOROUGH
    small: bool = False

    def __post_init__(self) -> None:
        check_whole(ModelError, "steps", self.steps, 1, MOST_STEPS)
        for name, least in (("samples", 1), ("finalists", 0), ("polish", 0)):
            check_whole(ModelError, name, getattr(self, name), least, MOST)
        check_flag(ModelError, "correct", self.correct)

    @property
    def searched(self) -> int:
        """Samples that the local search gets."""
        return min(self.finalists or self.samples, self.samples)

    @property
    def grid(self) -> Grid:
        """How the times of the steps are spaced."""
        return grid_for(self.steps)

    @property
    def redundant(self) -> bool:
        """Whether more links than needed are sampled: where nothing but the network has a say in what comes out, and
        where few steps leave much to the correction, which prunes better than it finds."""
        return self.raw or self.steps < EVEN_FROM

    @property
    def raw(self) -> bool:
        """Whether a sample comes out as the network made it."""
        return not self.correct and self.polish == 0


class Preset(NamedTuple):
    """A measured point at 16 nodes and one at 32; fleets of other sizes take the nearer one's."""

    at_16: Effort
    at_32: Effort


def _short(steps: int, samples: int, polish: int, finalists: int = 0) -> Effort:
    # Many short samples beat few long ones at every budget, and for that the small network is the better one.
    return Effort(steps, samples, finalists, polish, small=True)


# The fastest first. Where there is no time for all samples to be searched, the best after correction are.
PRESETS = {
    "instant": Preset(_short(1, 2, 300, finalists=1), _short(1, 3, 1_500, finalists=1)),
    "fast": Preset(_short(2, 3, 250, finalists=1), _short(1, 4, 2_300, finalists=2)),
    "balanced": Preset(_short(2, 6, 250), _short(3, 5, 1_500)),
    "careful": Preset(_short(2, 14, 400), _short(3, 9, 2_500)),
    "thorough": Preset(_short(3, 18, 700), _short(3, 14, 4_500)),
    "best": Preset(_short(3, 40, 700), _short(3, 28, 4_700)),
}
DEFAULT = "balanced"
# Of an update; its steps follow from the movement. Polishing would trade links that could stay for throughput.
UPDATE = Effort(steps=1, polish=0, annealing=GENTLE, small=True)
# Moves of the local search where it is asked for without a number, at 16 nodes.
POLISH = 500
# A fleet of twice the nodes gets 2 to this power as many moves of the local search.
MOVES_GROW = 2.75


def growth_of(n: int, measured: int = 16) -> float:
    """How many times the moves that were measured at so many nodes a fleet of n nodes gets."""
    return float((n / measured) ** MOVES_GROW)


def preset_effort(name: str, n: int) -> Effort:
    """What a preset is for a fleet of n nodes."""
    preset = PRESETS[name]
    # In between, the nearer one by ratio.
    effort, measured = (preset.at_16, 16) if n * n < 16 * 32 else (preset.at_32, 32)
    return dataclasses.replace(effort, polish=round(effort.polish * growth_of(n, measured)))


def chosen_effort(options: Options, n: int, usual: Effort | None = None) -> Effort:
    """The preset asked for, or what is usual, with what was asked for instead, for a fleet of n nodes."""
    if options.preset is not None and options.preset not in PRESETS:
        raise ModelError(f"unknown preset {options.preset!r}; known are {', '.join(PRESETS)}")
    base = usual if usual is not None and options.preset is None else preset_effort(options.preset or DEFAULT, n)
    asked: dict[str, Any] = {"steps": options.steps, "samples": options.samples, "correct": options.correct}
    if isinstance(options.polish, bool):
        asked["polish"] = (base.polish or round(POLISH * growth_of(n))) if options.polish else 0
    elif options.polish is not None:
        asked["polish"] = options.polish
    # The small network is for the few steps of presets; so many steps as are asked for are the model's own.
    asked["small"] = base.small and options.steps is None
    chosen = dataclasses.replace(base, **{key: value for key, value in asked.items() if value is not None})
    if not chosen.raw:
        return chosen
    # A raw sample is asked for to see what the model itself makes: its own network, and the first one drawn.
    return dataclasses.replace(chosen, small=False, samples=options.samples or 1)
