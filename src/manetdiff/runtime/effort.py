"""How much work goes into a topology: presets with plain names, each a measured point."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from manetdiff.errors import ModelError
from manetdiff.runtime.options import Options
from manetdiff.sampling import Grid
from manetdiff.solvers.polish import GENTLE, THOROUGH, Heat

# Where a grid that is denser near the noise begins to lose against an even one.
EVEN_FROM = 20


@dataclass(frozen=True)
class Effort:
    """steps: of denoising. samples: drawn together, the best of them kept. polish: moves of the local search on each
    sample; 0: none. correct: whether samples are corrected. heat: how far the local search strays.
    small: whether the small network takes the steps, where there is one beside the model's own."""

    steps: int
    samples: int = 1
    polish: int = 0
    correct: bool = True
    heat: Heat = THOROUGH
    small: bool = False

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("samples", 1), ("polish", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10**7:
                raise ModelError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if not isinstance(self.correct, bool):
            raise ModelError(f"correct must be true or false, not {self.correct!r}")

    @property
    def grid(self) -> Grid:
        """How the times of the steps are spaced."""
        return "linear" if self.steps >= EVEN_FROM else "cosine"

    @property
    def raw(self) -> bool:
        """Whether a sample comes out as the network made it."""
        return not self.correct and self.polish == 0


# Measured points at 16 nodes, the fastest first. Many short samples beat few long ones at every budget, and for that
# the small network is the better one.
PRESETS = {
    "instant": Effort(steps=1, samples=2, polish=200, small=True),
    "fast": Effort(steps=1, samples=4, polish=250, small=True),
    "balanced": Effort(steps=3, samples=4, polish=300, small=True),
    "careful": Effort(steps=2, samples=12, polish=400, small=True),
    "thorough": Effort(steps=3, samples=16, polish=700, small=True),
    "best": Effort(steps=3, samples=32, polish=700, small=True),
}
DEFAULT = "balanced"
# Of an update; its steps follow from the movement. Polishing would trade links that could stay for throughput.
UPDATE = Effort(steps=1, polish=0, heat=GENTLE, small=True)
# Moves of the local search where it is asked for without a number.
POLISH = 500
# A fleet of n nodes gets (n / 16) to this power as many moves of the local search.
MOVES_GROW = 2.75
USUAL_NODES = 16


def growth_of(n: int) -> float:
    """How many times the moves of a preset a fleet of n nodes gets."""
    return float((n / USUAL_NODES) ** MOVES_GROW)


def chosen_effort(options: Options, n: int, usual: Effort | None = None) -> Effort:
    """The preset asked for, or what is usual, with what was asked for instead, for a fleet of n nodes."""
    if options.preset is not None and options.preset not in PRESETS:
        raise ModelError(f"unknown preset {options.preset!r}; known are {', '.join(PRESETS)}")
    base = PRESETS[options.preset] if options.preset else usual or PRESETS[DEFAULT]
    growth = growth_of(n)
    asked: dict[str, Any] = {"steps": options.steps, "samples": options.samples, "correct": options.correct}
    asked["polish"] = round(base.polish * growth)
    if isinstance(options.polish, bool):
        asked["polish"] = round((base.polish or POLISH) * growth) if options.polish else 0
    elif options.polish is not None:
        asked["polish"] = options.polish
    chosen = dataclasses.replace(base, **{key: value for key, value in asked.items() if value is not None})
    if not chosen.raw:
        return chosen
    # A raw sample is asked for to see what the model itself makes: its own network, and the first one drawn.
    return dataclasses.replace(chosen, small=False, samples=options.samples or 1)
