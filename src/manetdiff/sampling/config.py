"""The settings of a sampler."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manetdiff.errors import ModelError
from manetdiff.sampling.grid import Grid, time_pairs

STEPS = 50  # T


@dataclass(frozen=True)
class SamplerConfig:
    """How to sample; none of it needs another training.

    steps: denoising steps. grid: how their times are spaced. temperature: log-odds are divided by it; below 1 the
    predictions are sharpened. redundancy: factor on the odds of every predicted link, after that; above 1, more fleets
    come out connected, and more antennas with two links: a redundant link is easier to prune than a missing one is to
    create.
    decide: whether the last step takes the likelier state instead of drawing one.
    """

    steps: int = STEPS
    grid: Grid = "linear"
    temperature: float = 0.5
    redundancy: float = 1.0
    decide: bool = True

    def __post_init__(self) -> None:
        time_pairs(self.steps, self.grid)
        for name in ("temperature", "redundancy"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ModelError(f"{name} must be a number above 0, not {value!r}")
        if not isinstance(self.decide, bool):
            raise ModelError(f"decide must be true or false, not {self.decide!r}")

    def to_dict(self) -> dict[str, Any]:
        """All values, JSON-ready."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SamplerConfig:
        """The inverse of :meth:`to_dict`."""
        try:
            return cls(**values)
        except TypeError as error:
            raise ModelError(f"sampling: {error}") from None
