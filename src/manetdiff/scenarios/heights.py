"""Heights for a flat fleet: levels that change slowly across it, so that neighbours are at similar ones."""

from __future__ import annotations

import numpy as np

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.scenarios.placing import FloatArray
from manetdiff.scenarios.spacing import spacing_of

WAVES = 2
SLOPE = (
    0.3  # metres up or down over a metre of ground, at most: a pair is hardly further apart in space than on the map
)
WOBBLE = 0.02  # of the spacing: how far off the common level one node may be


def with_heights(fleet: Fleet, heights: tuple[float, float], rng: np.random.Generator) -> Fleet:
    """The fleet with a height for each node within the range (low, high), in metres."""
    low, high = heights
    waves = rng.uniform(0.3, 1.0, WAVES) * np.pi / fleet.spread  # radians a metre
    towards, phase = rng.uniform(-np.pi, np.pi, (2, WAVES))
    x, y = (fleet.horizontal - fleet.horizontal.mean(axis=0)).T
    along = np.cos(towards) * x[:, None] + np.sin(towards) * y[:, None]
    level = np.cos(waves * along + phase).mean(axis=1)  # -1 … 1
    swing = min((high - low) / 2, SLOPE / float(waves.mean()))
    middle = rng.uniform(low + swing, high - swing) if low + swing < high - swing else (low + high) / 2
    wobble = WOBBLE * spacing_of(fleet) * rng.uniform(-1.0, 1.0, len(fleet))
    height: FloatArray = np.clip(middle + swing * level + wobble, low, high)
    return fleet.replace(positions=np.column_stack([fleet.horizontal, height]))


def check_heights(heights: tuple[float, float]) -> None:
    """Raise a ScenarioError unless they are a range."""
    low, high = heights
    if not -np.inf < low <= high < np.inf:
        raise ScenarioError(f"heights are a range in metres, the lower first, not {low} … {high}")
