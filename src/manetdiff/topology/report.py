"""What is said about how a topology was made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manetdiff.topology.parts import Parts


@dataclass(frozen=True)
class PolishReport:
    """What a local search did: moves tried, T gained by them in Mbit/s, and whether anything changed."""

    moves: int = 0
    gain: float = 0.0
    improved: bool = False


@dataclass(frozen=True)
class Report:
    """How a topology was made, and what came of it. What a method does not do or say is None, 0, nan or empty.

    - method: 'netdiff', or one of the solvers' METHODS. seed: that it was made with.
    - seconds: from the call to the topology. stages: where they went, in seconds by name.
    - components: parts that the network is in. parts: which nodes are outside the largest one, why, and what range
      would join them; None where it is whole. connected, valid, throughput: as in the metrics.
    - moves, restarts: of a search. fallback: whether something else than the method itself found it.
    - status: what CP-SAT says. topologies: that an enumeration scored.
    - budget_ms: the time that was given. cut_short: whether it ended the local search before its moves were made.
    - weights: the network that was sampled from. preset, steps, samples, finalists: how. kept: which sample it is; -1:
      none, in an update the previous links.
    - mode, moved, continuity, loyalty: of an update. moved: how far the fleet has, in spreads, where that is known.
      loyalty: what a kept link was worth, in bit/s/Hz.
    - correction: what each phase of it changed, by name. polish: what the local search did.
    """

    method: str | None = None
    seed: int | None = None
    seconds: float = math.nan
    stages: Mapping[str, float] = field(default_factory=dict)
    components: int = 0
    parts: Parts | None = None
    connected: bool | None = None
    valid: bool | None = None
    throughput: float = math.nan
    moves: int = 0
    restarts: int = 0
    fallback: bool | None = None
    status: str | None = None
    topologies: int = 0
    budget_ms: float | None = None
    cut_short: bool | None = None
    weights: str | None = None
    preset: str | None = None
    steps: int = 0
    samples: int = 0
    finalists: int = 0
    kept: int = -1
    mode: str | None = None
    moved: float | None = None
    continuity: float = math.nan
    loyalty: float = math.nan
    correction: Mapping[str, int] = field(default_factory=dict)
    polish: PolishReport = field(default_factory=PolishReport)

    def replace(self, **entries: Any) -> Report:
        """The same with other entries."""
        if not entries.keys() <= self.__dict__.keys():
            raise TypeError(f"a report has no entry {', '.join(entries.keys() - self.__dict__.keys())}")
        # By hand, because every sample's report is replaced several times: dataclasses.replace takes ten times as long.
        made = object.__new__(Report)
        made.__dict__.update(self.__dict__, **entries)
        return made

    def to_dict(self) -> dict[str, Any]:
        """All that is said, JSON-ready."""
        unsaid = dataclasses.asdict(Report())
        # nan is not even itself.
        return {
            name: value for name, value in dataclasses.asdict(self).items() if value != unsaid[name] and value == value
        }
