"""What a sweep goes through: every choice that has a say in its table, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from manetdiff.checks import LARGEST_SEED, check_above_0, check_flag, check_whole, first_repeated
from manetdiff.data.benchmark import default_radio
from manetdiff.data.settings import SWEPT, Settings
from manetdiff.data.sizes import MAX_NODES, MIN_NODES
from manetdiff.errors import DataError
from manetdiff.messages import brief
from manetdiff.radio import Radio
from manetdiff.runtime.presets import PRESETS
from manetdiff.scenarios import FAMILIES
from manetdiff.solvers import METHODS
from manetdiff.weights import DEFAULT as DEFAULT_WEIGHTS

DEFAULT = "default"
# What they find depends on how fast the machine is, so that no two runs would have the same rows.
BY_THE_CLOCK = ("cpsat",)
# Those that search, for so many moves a node; the others construct.
SEARCHES = ("reference", "regions", "annealing")
SWEPT_METHODS = tuple(method for method in METHODS if method not in BY_THE_CLOCK)


class Way(NamedTuple):
    """How a topology is made: by a preset of `generate`, or by a method of `solve`."""

    kind: Literal["preset", "method"]
    name: str


@dataclass(frozen=True)
class Place:
    """Where: one layout under one radio. index: of the layout, among those of its family, size and radio."""

    family: str
    nodes: int
    radio: str
    index: int


@dataclass(frozen=True)
class SweptRadio:
    """radio: None: the default one, which beyond 32 nodes is in metres, as in the benchmark sets.

    - spacing: metres from a node to its nearest neighbour, the median over a fleet; None: as the family has it.
    """

    radio: Radio | None = None
    spacing: float | None = None

    def __post_init__(self) -> None:
        if self.spacing is not None:
            check_above_0(DataError, "spacing", self.spacing)
            if self.radio is None:
                raise DataError("spacing: the default radio has its own, that of the benchmark sets; give a radio")

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"radio": DEFAULT if self.radio is None else self.radio.to_dict(), "spacing": self.spacing}


@dataclass(frozen=True)
class Grid:
    """Every family at every size under every radio: so many layouts each, and on each of them every way.

    - radios: by name. presets, methods: the ways. layouts: of each family, size and radio.
    - seed: of the layouts; the layout of an index is the same draw under every radio, as far as that can connect it,
      and its index is the seed of what is made on it.
    - weights: of the presets. moves_a_node: of methods that search.
    - reference: moves a node of a search whose T each row is also given as a share of; None: no such column is filled.
    - times: whether rows have the time that they took, which no two runs have in common.
    """

    families: tuple[str, ...]
    nodes: tuple[int, ...]
    presets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    radios: Mapping[str, SweptRadio] = field(default_factory=lambda: {DEFAULT: SweptRadio()})
    layouts: int = 10
    seed: int = 0
    weights: str = DEFAULT_WEIGHTS
    moves_a_node: int = 1_000
    reference: int | None = None
    times: bool = False

    def __post_init__(self) -> None:
        _check_names("families", self.families, FAMILIES)
        _check_names("presets", self.presets, tuple(PRESETS), some=False)
        clocked = [method for method in self.methods if method in BY_THE_CLOCK]
        if clocked:
            raise DataError(
                f"methods: {clocked[0]} works by the clock, so no two runs have the same rows; see evaluate"
            )
        _check_names("methods", self.methods, SWEPT_METHODS, some=False)
        if not self.ways:
            raise DataError("a sweep wants a way of making topologies: name a preset or a method")
        if not self.nodes:
            raise DataError("nodes: name at least one fleet size")
        for nodes in self.nodes:
            check_whole(DataError, "nodes", nodes, MIN_NODES, MAX_NODES)
        _check_distinct("nodes", self.nodes)
        if not self.radios:
            raise DataError("radios: name at least one")
        check_whole(DataError, "layouts", self.layouts, 1, 2**32 - 1)
        check_whole(DataError, "seed", self.seed, 0, LARGEST_SEED)
        check_whole(DataError, "moves_a_node", self.moves_a_node, 1, 2**48)
        if self.reference is not None:
            check_whole(DataError, "reference", self.reference, 1, 2**48)
        check_flag(DataError, "times", self.times)

    @property
    def ways(self) -> tuple[Way, ...]:
        """In the order of the rows of a place."""
        return (*(Way("preset", name) for name in self.presets), *(Way("method", name) for name in self.methods))

    @property
    def rows(self) -> int:
        """Of the table."""
        return len(self.families) * len(self.nodes) * len(self.radios) * self.layouts * len(self.ways)

    def places(self) -> Iterator[Place]:
        """In the order of the table."""
        for family in self.families:
            for nodes in self.nodes:
                for radio in self.radios:
                    yield from (Place(family, nodes, radio, index) for index in range(self.layouts))

    def settings(self, place: Place) -> Settings:
        """Of the set that the layout of a place is drawn from."""
        radio = self.radios[place.radio]
        physics: dict[str, Any] = {"radio": radio.radio, "spacing": radio.spacing}
        if radio.radio is None:
            physics = default_radio(place.nodes)
        return Settings(
            nodes=(place.nodes,),
            count=self.layouts,
            seed=self.seed,
            families=(place.family,),
            domain=SWEPT,
            moves_a_node=1,
            shard_size=self.layouts,
            **physics,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, in the order in which a difference is reported."""
        return {
            "families": list(self.families),
            "nodes": list(self.nodes),
            "radios": {name: radio.to_dict() for name, radio in self.radios.items()},
            "order of radios": list(self.radios),  # which is that of the table, and no matter to the one above
            "presets": list(self.presets),
            "methods": list(self.methods),
            "layouts": self.layouts,
            "seed": self.seed,
            "weights": self.weights,
            "moves_a_node": self.moves_a_node,
            "reference": self.reference,
            "times": self.times,
        }


def _check_names(what: str, names: tuple[str, ...], known: tuple[str, ...], *, some: bool = True) -> None:
    if some and not names:
        raise DataError(f"{what}: name at least one")
    for name in names:
        if name not in known:
            raise DataError(f"{what}: unknown {brief(name)}; choose from {', '.join(known)}")
    _check_distinct(what, names)


def _check_distinct(what: str, values: tuple[object, ...]) -> None:
    twice = first_repeated(values)
    if twice is not None:
        raise DataError(f"{what}: {twice!r} is named twice")
