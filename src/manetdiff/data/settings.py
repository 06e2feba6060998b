"""What a set of solved layouts is made from: every choice that has a say in its bytes, and nothing else."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manetdiff.checks import (
    LARGEST_SEED,
    check_above_0,
    check_choice,
    check_flag,
    check_whole,
    check_within,
    first_repeated,
    is_number,
)
from manetdiff.data.radios import Radios, check_radios, radios_from_json, radios_to_json
from manetdiff.data.sizes import MAX_NODES, MIN_NODES, in_few_words, sizes_of
from manetdiff.errors import DataError, ManetDiffError
from manetdiff.messages import brief
from manetdiff.radio import Radio
from manetdiff.scenarios import AIR, FAMILIES
from manetdiff.solvers import reference

FORMAT_NAME = "manetdiff-layouts"
# The first holds fleets of few sizes up to 256 nodes, flat and with antennas all around, under one radio; the second
# holds all. What the first can hold is written as it always was, byte by byte.
FIRST, SECOND = FORMATS = (1, 2)
READABLE = f"formats {FIRST} and {SECOND}"

# Part of every layout's random stream: no layout of a benchmark or of a sweep can be in a training set, whatever the
# seeds.
TRAINING, BENCHMARK, SWEPT = 0, 1, 2

EQUAL, INVERSE = "equal", "inverse"

DEFAULT_SEARCH_MOVES = 50_000
DEFAULT_SHARD_SIZE = 1000
DEFAULT_DISPLACEMENT = (0.05, 0.4)

# Nodes whose indices fit into a uint8.
SMALL_FLEET = 256
HIGHEST = 1e5  # metres
# Shard names have five digits.
MAX_SHARDS = 100_000


@dataclass(frozen=True)
class Settings:
    """Everything that decides what is in a dataset.

    - nodes: fleet sizes; with several, each layout draws one of them.
    - size_odds: how likely a size is. EQUAL: as any other. INVERSE: n nodes by 1 / n, that is 8 to 16 as often as 64 to
      128; a search of so many moves a node then spends the same time on every size.
    - count: layouts (with moves: pairs of layouts).
    - seed: of the whole set; layout k has its own random stream from (seed, domain, k).
    - families: scenario families; each layout draws one, or they take turns by index where families_in_turn is set.
    - radio: the physics that the layouts are solved for: one radio; some by their names, which take turns by index; or
      RANDOM: each layout draws its own (Radio.draw).
    - search_moves: budget of the reference search on each layout; or moves_a_node: for each of its nodes.
    - shard_size: layouts (with moves: pairs) in one file.
    - displacement: range from which a moved fleet's displacement is drawn, in spreads; None: no moved fleets.
    - domain: TRAINING, BENCHMARK or SWEPT.
    - spacing: metres from a node to its nearest neighbour, the median over a fleet; None: as the family or the named
      radio has it, and with random radios anything from 100 m to 100 km.
    - heights: range from which the nodes' heights are drawn, in metres; None: flat fleets.
    - blocked: share of the nodes that have no antenna in some range of azimuths.
    - solver: what solves the layouts, in words and numbers; part of the settings, so that no set is begun by one search
      and finished by another.
    """

    nodes: tuple[int, ...]
    count: int
    seed: int
    families: tuple[str, ...] = AIR
    radio: Radios = field(default_factory=Radio)
    search_moves: int | None = None
    shard_size: int = DEFAULT_SHARD_SIZE
    displacement: tuple[float, float] | None = None
    domain: int = TRAINING
    families_in_turn: bool = False
    solver: Mapping[str, Any] = field(default_factory=lambda: describe_solver())
    size_odds: str = EQUAL
    moves_a_node: int | None = None
    spacing: float | None = None
    heights: tuple[float, float] | None = None
    blocked: float = 0.0

    def __post_init__(self) -> None:
        if not self.nodes:
            raise DataError("nodes: name at least one fleet size")
        for nodes in self.nodes:
            check_whole(DataError, "nodes", nodes, MIN_NODES, MAX_NODES)
        _check_distinct("nodes", self.nodes)
        check_choice(DataError, "size_odds", self.size_odds, (EQUAL, INVERSE))
        check_whole(DataError, "count", self.count, 1, 2**32 - 1)
        check_whole(DataError, "seed", self.seed, 0, LARGEST_SEED)
        self._check_budget()
        check_whole(DataError, "shard_size", self.shard_size, 1, 2**31 - 1)
        if self.shards > MAX_SHARDS:
            least = -(-self.count // MAX_SHARDS)
            raise DataError(f"shard_size: {self.count} layouts need at least {least} in a shard, not {self.shard_size}")
        check_whole(DataError, "domain", self.domain, TRAINING, SWEPT)
        if not self.families:
            raise DataError("families: name at least one")
        for family in self.families:
            if family not in FAMILIES:
                raise DataError(f"families: unknown family {family!r}; choose from {', '.join(FAMILIES)}")
        _check_distinct("families", self.families)
        if self.displacement is not None:
            _check_range("displacement", self.displacement, 0.0, 1.0)
        check_radios(self.radio)
        if self.spacing is not None:
            if isinstance(self.radio, Mapping):
                raise DataError("spacing: radios by name have their own spacing; give none beside them")
            check_above_0(DataError, "spacing", self.spacing)
        if self.heights is not None:
            _check_range("heights", self.heights, -HIGHEST, HIGHEST)
        check_within(DataError, "blocked", self.blocked, 0.0, 1.0)
        check_flag(DataError, "families_in_turn", self.families_in_turn)
        if not isinstance(self.solver, Mapping):
            raise DataError(f"solver: must be a set of named values, not {brief(self.solver)}")

    def _check_budget(self) -> None:
        if self.search_moves is not None and self.moves_a_node is not None:
            raise DataError("search_moves and moves_a_node: give one of the two")
        if self.moves_a_node is not None:
            check_whole(DataError, "moves_a_node", self.moves_a_node, 1, 2**48)
        elif self.search_moves is None:
            object.__setattr__(self, "search_moves", DEFAULT_SEARCH_MOVES)
        else:
            check_whole(DataError, "search_moves", self.search_moves, 1, 2**62)

    @property
    def format(self) -> int:
        """Of the files: the first that can hold the set."""
        words = in_few_words(self.nodes)
        fits = words == list(self.nodes) and max(self.nodes) <= SMALL_FLEET and isinstance(self.radio, Radio)
        return FIRST if fits and not LATER & self.to_dict().keys() else SECOND

    def moves_for(self, nodes: int) -> int:
        """Budget of the search on a fleet of this size."""
        if self.moves_a_node is not None:
            return self.moves_a_node * nodes
        return self.search_moves or DEFAULT_SEARCH_MOVES

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
        """All settings as JSON-ready values, in the order in which a difference is reported.

        What came later is there only where it is set, so that sets without it are what they always were.
        """
        budget = "search_moves" if self.moves_a_node is None else "moves_a_node"
        later = {
            "size_odds": None if self.size_odds == EQUAL else self.size_odds,
            "spacing": self.spacing,
            "heights": None if self.heights is None else list(self.heights),
            "blocked": self.blocked or None,
        }
        return {
            "nodes": in_few_words(self.nodes),
            "count": self.count,
            "seed": self.seed,
            "domain": self.domain,
            "families": list(self.families),
            "families_in_turn": self.families_in_turn,
            "moves": self.displacement is not None,
            "displacement": None if self.displacement is None else list(self.displacement),
            budget: getattr(self, budget),
            "shard_size": self.shard_size,
            "radio": radios_to_json(self.radio),
            **{name: value for name, value in later.items() if value is not None},
            "solver": dict(self.solver),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """The inverse of `to_dict`."""
        names = {entry.name for entry in dataclasses.fields(cls)}
        needed = names - LATER - ({"search_moves"} if "moves_a_node" in values else set())
        missing = [entry.name for entry in dataclasses.fields(cls) if entry.name in needed and entry.name not in values]
        if missing:
            raise DataError(f"the setting {missing[0]!r} is missing")
        given = {name: value for name, value in values.items() if name in names}
        try:
            given["radio"] = radios_from_json(given["radio"])
            given["nodes"] = sizes_of(tuple(given["nodes"]))
            for name in ("families", "displacement", "heights"):
                given[name] = None if given.get(name) is None else tuple(given[name])
            return cls(**given)
        except ManetDiffError as error:
            raise DataError(str(error)) from None
        except (TypeError, ValueError) as error:
            raise DataError(f"settings that make no sense: {error}") from None


# Settings that the first format has no room for.
LATER = frozenset({"size_odds", "moves_a_node", "spacing", "heights", "blocked"})


def describe_solver() -> dict[str, Any]:
    """What solves the layouts, JSON-ready."""
    return {
        "method": "reference",
        "version": reference.VERSION,
        "temperatures": [reference.HOT, reference.HOT_IF_LARGE, reference.COLD],
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


def _check_range(name: str, limits: tuple[float, float], least: float, most: float) -> None:
    low, high = limits
    if not (is_number(low) and is_number(high) and least < low <= high <= most):
        given = f"{brief(low)} … {brief(high)}"
        raise DataError(f"{name}: give a range within {least:g} … {most:g}, the smaller first, not {given}")


def _check_distinct(name: str, values: tuple[object, ...]) -> None:
    twice = first_repeated(values)
    if twice is not None:
        raise DataError(f"{name}: {twice!r} is named twice")
