"""Flights that chains of updates are measured on: fleets over time, and what a search finds at every moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.measure.sets import recipe_of
from manetdiff.measure.spreading import Recipe, made_once
from manetdiff.radio import Radio
from manetdiff.scenarios import FAMILIES, draw, motions_of, move
from manetdiff.solvers import solve
from manetdiff.topology import Topology, metrics

SEED = 2_718
# Of the search at every moment, moves a node; of large fleets, whose search is as good with fewer.
MOVES_A_NODE, MOVES_A_NODE_OF_MANY = 2_000, 500
MANY = 64
# Every family with every motion that suits it; motions in turn, so that few flights have all of them.
KINDS = sorted(
    ((motion, family) for family in FAMILIES for motion in motions_of(family)),
    key=lambda kind: (motions_of(kind[1]).index(kind[0]), FAMILIES.index(kind[1])),
)


@dataclass(frozen=True)
class Flight:
    """fleets: one every `step` seconds. targets: T of a search at each. first: its topology at the first."""

    step: float
    fleets: Sequence[Fleet]
    targets: Sequence[float]
    first: Topology

    @property
    def radio(self) -> Radio:
        """Of all moments."""
        return self.first.on().radio


@dataclass(frozen=True)
class FlightSet:
    """Flights by their indices. of: what they are called. key: all that they depend on beside their index. recipe: what
    makes them in another process."""

    of: str
    nodes: int
    step: float
    indices: tuple[int, ...]
    layout: Callable[[int], Flight] = field(repr=False)
    key: Mapping[str, Any] = field(repr=False)
    code: tuple[str, ...] = (__name__,)
    recipe: Recipe | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (recipe_of(self.recipe, self.of), self.indices)

    def __iter__(self) -> Iterator[Flight]:
        return (self.layout(index) for index in self.indices)

    @property
    def name(self) -> str:
        """For people."""
        return f"{len(self.indices)} flight{'' if len(self.indices) == 1 else 's'} of {self.of}"

    def first(self, count: int) -> FlightSet:
        """At most so many."""
        return replace(self, indices=self.indices[:count])


@cache
def drawn_flights(nodes: int, step: float, updates: int, count: int, motion: str | None = None) -> FlightSet:
    """Flights of all families and motions in turn, or of one motion, under the default radio."""
    kinds = [kind for kind in KINDS if motion in (None, kind[0])]

    @cache
    def flight(index: int) -> Flight:
        how, family = kinds[index % len(kinds)]
        rng = np.random.default_rng([SEED, nodes, index])
        path = move(draw(family, nodes, rng), how, rng, duration=step * (updates + 1), step=step)
        return searched(path, step, Radio())

    of = f"{nodes} nodes every {step:g} s" + ("" if motion is None else f", {motion}")
    key = {"nodes": nodes, "step": step, "updates": updates, "motion": motion, "seed": SEED}
    recipe = (drawn_flights, (nodes, step, updates, count, motion))
    return FlightSet(of, nodes, step, tuple(range(count)), flight, key, recipe=recipe)


def flight_of_file(fleets: Sequence[Fleet], step: float, name: str, digest: str, radio: Radio) -> FlightSet:
    """The flight of a mobility file, cut into equal parts where everybody is there all the time."""
    nodes = max(len(fleet) for fleet in fleets)
    key = {"file": digest, "step": step, "moments": len(fleets), "radio": radio.to_dict()}
    recipe = (flight_of_file, (fleets, step, name, digest, radio))
    return FlightSet(name, nodes, step, (0,), cache(lambda index: searched(fleets, step, radio)), key, recipe=recipe)


def _again(recipe: Recipe, indices: tuple[int, ...]) -> FlightSet:
    made: FlightSet = made_once(recipe[0], *recipe[1])
    return replace(made, indices=indices)


def searched(fleets: Sequence[Fleet], step: float, radio: Radio) -> Flight:
    """A flight, and what a search finds at every moment."""
    found = []
    for fleet in fleets:
        moves = len(fleet) * (MOVES_A_NODE if len(fleet) <= MANY else MOVES_A_NODE_OF_MANY)
        found.append(solve(fleet, radio, moves=moves))
    return Flight(step, fleets, [metrics(one)["throughput"] for one in found], found[0])
