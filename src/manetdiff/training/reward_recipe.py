"""How a network is rewarded."""

from __future__ import annotations

from dataclasses import dataclass

from manetdiff.checks import check_above_0, check_at_least_0, check_whole, check_within
from manetdiff.errors import TrainingError
from manetdiff.json_settings import JsonSettings


@dataclass(frozen=True)
class RewardRecipe(JsonSettings):
    """How to reward.

    - steps: of learning. layouts: in each of them; samples: graphs on each. largest: nodes of a fleet at most.
    - search: moves a node of a local search after the correction, as presets have one; what it finds by itself is then
      not what the network is rewarded for.
    - few: denoising steps of a short chain at most: one to so many, from noise or from a spanning forest, at random.
    - whole: share of the steps of learning that sample by a whole chain from noise instead, whose graphs are worth what
      they are uncorrected. whole_chain: its denoising steps.
    - learned: denoising steps of a chain that are learned from, at random; the others are only sampled.
    - gradient: weight of the policy gradient. lesson: of what the search makes of the samples. teaching: of what the
      solved layouts teach meanwhile.
    - rate: of learning, falling evenly to nothing. ema: of the averaged weights.
    """

    ERROR = TrainingError
    WHAT = "reward"

    steps: int = 2000
    layouts: int = 128
    samples: int = 8
    largest: int = 64
    search: int = 40
    few: int = 3
    whole: float = 0.45
    whole_chain: int = 10
    learned: int = 2
    gradient: float = 1.0
    lesson: float = 0.5
    teaching: float = 0.2
    rate: float = 5e-4
    ema: float = 0.995
    seed: int = 123

    def __post_init__(self) -> None:
        for name in ("steps", "layouts", "few", "whole_chain", "learned", "largest"):
            check_whole(TrainingError, f"reward: {name}", getattr(self, name), 1)
        check_whole(TrainingError, "reward: samples", self.samples, 2)
        check_whole(TrainingError, "reward: search", self.search, 0)
        check_above_0(TrainingError, "reward: rate", self.rate)
        for name in ("gradient", "lesson", "teaching", "ema"):
            check_at_least_0(TrainingError, f"reward: {name}", getattr(self, name))
        check_within(TrainingError, "reward: whole", self.whole, 0.0, 1.0)
