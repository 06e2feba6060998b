"""What each part of making a topology costs on a machine, by the size of the fleet."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manetdiff.checks import check_at_least_0, check_whole
from manetdiff.errors import ModelError
from manetdiff.json_settings import JsonSettings
from manetdiff.radio import Radio
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.form import TOGETHER

# Counts up when a cost changes its meaning.
FORMAT = 6


@dataclass(frozen=True)
class Costs(JsonSettings):
    """Seconds, for fleets of so many nodes.

    - tables: of a layout; features: beside them. embedding: of a layout in the network. step: of denoising, once a
      batch; sample_step: for each of its samples. correction: of a sample. forest: the shortest spanning one,
      corrected; greedy: the same with links added to it. move: of the local search on a sample. overhead: what else a
      call takes.
    """

    ERROR = ModelError
    WHAT = "calibration"

    nodes: int
    tables: float
    features: float
    embedding: float
    step: float
    sample_step: float
    correction: float
    forest: float
    greedy: float
    move: float
    overhead: float

    def __post_init__(self) -> None:
        check_whole(ModelError, "calibration: nodes", self.nodes, 1)
        for field in dataclasses.fields(self)[1:]:
            check_at_least_0(ModelError, f"calibration: {field.name}", getattr(self, field.name))

    def of_sampling(self, effort: Effort) -> float:
        """Seconds from the fleet to its corrected samples."""
        # Of large fleets fewer go together, but there what a step costs once is next to nothing; and so is, at every
        # size, what it takes to start from the spanning forest, which the candidates are chosen with.
        batches = math.ceil(effort.samples / TOGETHER)
        steps = effort.steps * (batches * self.step + effort.samples * self.sample_step)
        once = self.overhead + self.tables + self.features + self.embedding
        return once + steps + effort.samples * self.correction

    def of_construction(self, *, greedy: bool) -> float:
        """Seconds from the fleet to a corrected construction without a network."""
        return self.overhead + self.tables + (self.greedy if greedy else self.forest)


@dataclass(frozen=True)
class Calibration:
    """Costs at two or more sizes, smallest first, under radios with cones and under those with steered beams."""

    cones: tuple[Costs, ...]
    steered: tuple[Costs, ...]

    def at(self, n: int, radio: Radio) -> Costs:
        """The costs for n nodes: powers of n between the sizes that were measured, and beyond the largest."""
        known = self.cones if radio.pattern == "cone" else self.steered
        above = max(1, next((k for k, costs in enumerate(known) if costs.nodes >= n), len(known) - 1))
        low, high = known[above - 1], known[above]
        # Below the smallest size nothing gets cheaper.
        share = max(0.0, math.log(n / low.nodes) / math.log(high.nodes / low.nodes))
        between = {
            field.name: _between(getattr(low, field.name), getattr(high, field.name), share)
            for field in dataclasses.fields(Costs)
        }
        return Costs(**{**between, "nodes": n})  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "format": FORMAT,
            "cones": [costs.to_dict() for costs in self.cones],
            "steered": [costs.to_dict() for costs in self.steered],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Calibration:
        """The inverse of `to_dict`."""
        if not isinstance(values, Mapping) or values.get("format") != FORMAT:
            raise ModelError("calibration: not of this version")
        kinds = []
        for name in ("cones", "steered"):
            entries = values.get(name)
            if not isinstance(entries, list) or len(entries) < 2:
                raise ModelError(f"calibration: {name} must be a list of costs at two sizes or more")
            kinds.append(tuple(Costs.from_dict(entry) for entry in entries))
            if any(low.nodes >= high.nodes for low, high in zip(kinds[-1], kinds[-1][1:], strict=False)):
                raise ModelError(f"calibration: {name} must be in the order of sizes")
        return cls(*kinds)


def _between(low: float, high: float, share: float) -> float:
    """Between two costs, as a power of the size; in a straight line where one of them is nothing."""
    if low <= 0 or high <= 0:
        return max(0.0, low + share * (high - low))
    return float(low * (high / low) ** share)


def _assumed(*rows: tuple[float, ...]) -> tuple[Costs, ...]:
    """Costs from rows of nodes and microseconds."""
    return tuple(Costs(int(nodes), *(1e-6 * cost for cost in costs)) for nodes, *costs in rows)


# Of a machine that nobody has measured: 1.7 times those of one that was, with the default network, so that a budget is
# rather left with room than overdrawn.
ASSUMED = Calibration(
    _assumed(
        (16, 400, 400, 200, 1200, 1500, 230, 230, 330, 1.7, 340),
        (64, 2600, 1200, 430, 1700, 9100, 450, 560, 1300, 3, 340),
        (256, 14000, 3700, 1300, 1700, 43000, 14000, 13000, 37000, 7.5, 340),
        (1000, 120000, 22000, 6500, 1700, 190000, 300000, 170000, 530000, 13, 340),
    ),
    _assumed(
        (16, 1000, 400, 200, 1200, 1500, 230, 240, 440, 3.5, 340),
        (64, 9200, 1500, 430, 1700, 9100, 1700, 1800, 4900, 15, 340),
        (256, 43000, 4900, 1300, 1700, 43000, 26000, 23000, 75000, 28, 340),
        (1000, 250000, 22000, 6500, 1700, 190000, 300000, 240000, 1100000, 39, 340),
    ),
)
