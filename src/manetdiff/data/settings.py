"""What a set of solved layouts is made from: every choice that has a say in its bytes, and nothing else."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manetdiff.checks import LARGEST_SEED, check_flag, check_whole, first_repeated, is_number
from manetdiff.errors import DataError, ManetDiffError
from manetdiff.messages import brief
from manetdiff.radio import Radio
from manetdiff.scenarios import AIR, FAMILIES
from manetdiff.solvers import reference

FORMAT = 1
FORMAT_NAME = "manetdiff-layouts"

# Part of every layout's random stream: no benchmark layout can be in a training set, whatever the seeds.
TRAINING, BENCHMARK = 0, 1

DEFAULT_SEARCH_MOVES = 50_000
DEFAULT_SHARD_SIZE = 1000
DEFAULT_DISPLACEMENT = (0.05, 0.4)

# Node indices are stored as uint8.
MIN_NODES, MAX_NODES = 2, 256
# Shard names have five digits.
MAX_SHARDS = 100_000


@dataclass(frozen=True)
class Settings:
    """Everything that decides what is in a dataset.

    - nodes: fleet sizes; with several, each layout draws one of them.
    - count: layouts (with moves: pairs of layouts).
    - seed: of the whole set; layout k has its own random stream from (seed, domain, k).
    - families: scenario families; each layout draws one, or they take turns by index where families_in_turn is set.
    - radio: the physics that the layouts are solved for.
    - search_moves: budget of the reference search on each layout.
    - shard_size: layouts (with moves: pairs) in one file.
    - displacement: range from which a moved fleet's displacement is drawn, in spreads; None: no moved fleets.
    - domain: TRAINING or BENCHMARK.
    - solver: what solves the layouts, in words and numbers; part of the settings, so that no set is begun by one search
      and finished by another.
    """

    nodes: tuple[int, ...]
    count: int
    seed: int
    families: tuple[str, ...] = AIR
    radio: Radio = field(default_factory=Radio)
    search_moves: int = DEFAULT_SEARCH_MOVES
    shard_size: int = DEFAULT_SHARD_SIZE
    displacement: tuple[float, float] | None = None
    domain: int = TRAINING
    families_in_turn: bool = False
    solver: Mapping[str, Any] = field(default_factory=lambda: describe_solver())

    def __post_init__(self) -> None:
        if not self.nodes:
            raise DataError("nodes: name at least one fleet size")
        for nodes in self.nodes:
            check_whole(DataError, "nodes", nodes, MIN_NODES, MAX_NODES)
        _check_distinct("nodes", self.nodes)
        check_whole(DataError, "count", self.count, 1, 2**32 - 1)
        check_whole(DataError, "seed", self.seed, 0, LARGEST_SEED)
        check_whole(DataError, "search_moves", self.search_moves, 1, 2**62)
        check_whole(DataError, "shard_size", self.shard_size, 1, 2**31 - 1)
        if self.shards > MAX_SHARDS:
            least = -(-self.count // MAX_SHARDS)
            raise DataError(f"shard_size: {self.count} layouts need at least {least} in a shard, not {self.shard_size}")
        check_whole(DataError, "domain", self.domain, TRAINING, BENCHMARK)
        if not self.families:
            raise DataError("families: name at least one")
        for family in self.families:
            if family not in FAMILIES:
                raise DataError(f"families: unknown family {family!r}; choose from {', '.join(FAMILIES)}")
        _check_distinct("families", self.families)
        if self.displacement is not None:
            low, high = self.displacement
            if not (is_number(low) and is_number(high) and 0 < low <= high <= 1):
                given = f"{brief(low)} … {brief(high)}"
                raise DataError(f"displacement: give a range within 0 … 1, the smaller first, not {given}")
        check_flag(DataError, "families_in_turn", self.families_in_turn)
        if not isinstance(self.solver, Mapping):
            raise DataError(f"solver: must be a set of named values, not {brief(self.solver)}")

    @property
    def shards(self) -> int:
        """Number of files."""
        return -(-self.count // self.shard_size)

    @property
    def rows_each(self) -> int:
        """Rows that one index yields: the layout, and the moved one where moves are asked for."""
        return 1 if self.displacement is None else 2

    def shard_indices(self, shard: int) -> range:
        """The layouts of one shard."""
        return range(shard * self.shard_size, min(self.count, (shard + 1) * self.shard_size))

    def to_dict(self) -> dict[str, Any]:
        """All settings as JSON-ready values, in the order in which a difference is reported."""
        return {
            "nodes": list(self.nodes),
            "count": self.count,
            "seed": self.seed,
            "domain": self.domain,
            "families": list(self.families),
            "families_in_turn": self.families_in_turn,
            "moves": self.displacement is not None,
            "displacement": None if self.displacement is None else list(self.displacement),
            "search_moves": self.search_moves,
            "shard_size": self.shard_size,
            "radio": self.radio.to_dict(),
            "solver": dict(self.solver),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """The inverse of `to_dict`."""
        names = [entry.name for entry in dataclasses.fields(cls)]
        missing = [name for name in names if name not in values]
        if missing:
            raise DataError(f"the setting {missing[0]!r} is missing")
        given = {name: values[name] for name in names}
        try:
            given["radio"] = Radio.from_dict(given["radio"])
            for name in ("nodes", "families", "displacement"):
                given[name] = None if given[name] is None else tuple(given[name])
            return cls(**given)
        except ManetDiffError as error:
            raise DataError(str(error)) from None
        except (TypeError, ValueError) as error:
            raise DataError(f"settings that make no sense: {error}") from None


def describe_solver() -> dict[str, Any]:
    """What solves the layouts, JSON-ready."""
    return {
        "method": "reference",
        "version": reference.VERSION,
        "temperatures": [reference.HOT, reference.COLD],
        "moves_a_node": reference.MOVES_A_NODE,
        "annealed": reference.ANNEALED,
        "crowd": reference.CROWD,
        "penalties": list(reference.PENALTIES),
    }


def first_difference(before: Any, after: Any, name: str = "") -> tuple[str, Any, Any] | None:
    """The dotted name of the first value that differs between two JSON values, and both values; None if none does."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*after, *(key for key in before if key not in after)]:
            place = f"{name}.{key}" if name else key
            if key not in before or key not in after:
                return place, before.get(key, "nothing"), after.get(key, "nothing")
            difference = first_difference(before[key], after[key], place)
            if difference:
                return difference
        return None
    return None if before == after else (name, before, after)


def _check_distinct(name: str, values: tuple[object, ...]) -> None:
    twice = first_repeated(values)
    if twice is not None:
        raise DataError(f"{name}: {twice!r} is named twice")
