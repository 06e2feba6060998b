"""The settings of a sampler."""

from __future__ import annotations

from dataclasses import dataclass

from manetdiff.checks import check_flag, check_within
from manetdiff.errors import ModelError
from manetdiff.json_settings import JsonSettings
from manetdiff.sampling.grid import Grid, time_pairs

STEPS = 50  # T


@dataclass(frozen=True)
class SamplerConfig(JsonSettings):
    """How to sample; none of it needs another training.

    - steps: denoising steps. grid: how their times are spaced. temperature: log-odds are divided by it; below 1 the
      predictions are sharpened. redundancy: factor on the odds of every predicted link, after that; above 1, more
      fleets come out connected, and more antennas with two links: a redundant link is easier to prune than a missing
      one is to create.
    - decide: whether the last step takes the likelier state instead of drawing one.
    """

    ERROR = ModelError
    WHAT = "sampling"

    steps: int = STEPS
    grid: Grid = "linear"
    temperature: float = 0.5
    redundancy: float = 1.0
    decide: bool = True

    def __post_init__(self) -> None:
        time_pairs(self.steps, self.grid)
        # As factors in single precision they leave every probability a number.
        for name in ("temperature", "redundancy"):
            check_within(ModelError, name, getattr(self, name), 1e-30, 1e30)
        check_flag(ModelError, "decide", self.decide)
