"""How much work goes into a topology: presets with plain names, fitted by the size of the fleet."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

from manetdiff.checks import check_flag, check_whole
from manetdiff.errors import ModelError
from manetdiff.runtime.options import Options
from manetdiff.runtime.presets import PRESETS
from manetdiff.sampling import EVEN_FROM, MOST_STEPS, Grid, grid_for
from manetdiff.solvers.local_search import THOROUGH, Annealing

# Of samples and moves: beyond it somebody has mistaken a unit.
MOST = 10**7


@dataclass(frozen=True)
class Effort:
    """steps: of denoising. samples: drawn together, the best of them kept. finalists: of the samples, so many go on to
    the local search, those that are best after correction; 0: all. polish: moves of the local search on each; 0: none.

    - correct: whether samples are corrected. annealing: how far the local search strays.
    - forest: whether a sparse network's chain starts from the shortest spanning forest instead of pure noise: better
      where there is time for few steps and samples; noise gives samples that differ more from each other.
    """

    steps: int
    samples: int = 1
    finalists: int = 0
    polish: int = 0
    correct: bool = True
    annealing: Annealing = THOROUGH
    forest: bool = False

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


DEFAULT = "balanced"
# Moves a node of the local search where it is asked for without a number.
POLISH_A_NODE = 30


def preset_effort(name: str, n: int) -> Effort:
    """What a preset is for a fleet of n nodes: as fitted at the nearest size, by ratio."""
    sizes = PRESETS[name]
    fitted = sizes[min(sizes, key=lambda size: abs(math.log(n / size)))]
    return Effort(fitted.steps, fitted.samples, fitted.finalists, min(MOST, fitted.polish * n), forest=fitted.forest)


def chosen_effort(options: Options, n: int, usual: Effort | None = None) -> Effort:
    """The preset asked for, or what is usual, with what was asked for instead, for a fleet of n nodes."""
    if options.preset is not None and options.preset not in PRESETS:
        raise ModelError(f"unknown preset {options.preset!r}; known are {', '.join(PRESETS)}")
    base = usual if usual is not None and options.preset is None else preset_effort(options.preset or DEFAULT, n)
    asked: dict[str, Any] = {"steps": options.steps, "samples": options.samples, "correct": options.correct}
    if isinstance(options.polish, bool):
        asked["polish"] = (base.polish or POLISH_A_NODE * n) if options.polish else 0
    elif options.polish is not None:
        asked["polish"] = options.polish
    chosen = dataclasses.replace(base, **{key: value for key, value in asked.items() if value is not None})
    if not chosen.raw:
        return chosen
    # A raw sample is asked for to see what the model itself makes: the first one drawn.
    return dataclasses.replace(chosen, samples=options.samples or 1, forest=False)
