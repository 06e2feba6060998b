"""Layouts that rows are measured on, each made or read when it is first looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from manetdiff.data import BENCHMARKS, SolvedLayout, load_benchmark
from manetdiff.measure.digests import content_digest
from manetdiff.measure.spreading import Recipe, made_once


@dataclass(frozen=True)
class LayoutSet:
    """Some layouts of a set, by their indices in it.

    - of: what the set is called. nodes: of the largest fleet. layout: the layout of an index. key: all that layouts
      depend on beside their index; code: modules that make them, where they are not read from a file.
    - recipe: what makes the set in another process; None: nothing does.
    """

    of: str
    nodes: int
    indices: tuple[int, ...]
    layout: Callable[[int], SolvedLayout] = field(repr=False)
    key: Mapping[str, Any] = field(repr=False)
    code: tuple[str, ...] = ()
    recipe: Recipe | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (recipe_of(self.recipe, self.of), self.of, self.indices)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[SolvedLayout]:
        return (self.layout(index) for index in self.indices)

    @property
    def name(self) -> str:
        """For people."""
        return f"{len(self)} layout{'' if len(self) == 1 else 's'} of {self.of}"

    def first(self, count: int | None) -> LayoutSet:
        """At most so many; all of them for None."""
        return replace(self, indices=self.indices[:count])

    def of_family(self, family: str) -> LayoutSet:
        """Those of one family."""
        indices = tuple(index for index in self.indices if self.layout(index).family == family)
        return replace(self, of=f"{self.of}, {family}", indices=indices)


def benchmark_set(name: str) -> LayoutSet:
    """All layouts of a packaged benchmark set, whose families come in turn."""
    layouts = _read(name)
    return LayoutSet(
        name,
        max(BENCHMARKS[name].nodes),
        tuple(range(len(layouts))),
        layouts.__getitem__,
        {"name": name, "file": _file(name)},
        recipe=(benchmark_set, (name,)),
    )


def recipe_of(recipe: Recipe | None, of: str) -> Recipe:
    """The recipe; a TypeError, as of all that cannot be sent elsewhere, where there is none."""
    if recipe is None:
        raise TypeError(f"{of}: nothing says how another process could make these")
    return recipe


def _again(recipe: Recipe, of: str, indices: tuple[int, ...]) -> LayoutSet:
    made: LayoutSet = made_once(recipe[0], *recipe[1])
    return replace(made, of=of, indices=indices)


@cache
def _read(name: str) -> list[SolvedLayout]:
    return load_benchmark(name)


@cache
def _file(name: str) -> str:
    return content_digest((resources.files("manetdiff.data") / "sets" / f"{name}.parquet").read_bytes())
