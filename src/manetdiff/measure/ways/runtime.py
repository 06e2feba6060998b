"""The runtime's model on each layout: its topologies, and its raw samples corrected."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.measure.digests import content_digest
from manetdiff.measure.spreading import spreadable
from manetdiff.measure.ways.timing import timed
from manetdiff.runtime.bundle import Bundle, find_bundle
from manetdiff.runtime.model import Model, load
from manetdiff.solvers import correct
from manetdiff.topology import Topology, metrics
from manetdiff.weights import DEFAULT

if TYPE_CHECKING:
    from manetdiff.data import SolvedLayout
    from manetdiff.measure.rows import Rows
    from manetdiff.measure.sets import LayoutSet
    from manetdiff.measure.store import RowStore
    from manetdiff.runtime.options import Asked


@spreadable
def generated(
    store: RowStore,
    layouts: LayoutSet,
    *,
    weights: str = DEFAULT,
    noise: float = 0.0,
    said_noise: bool = False,
    first_seed: int = 0,
    **asked: Unpack[Asked],
) -> Rows:
    """A topology of each layout on one core, made as asked, with the layout's index, from first_seed on, as seed.

    - noise: the model is told positions that are off by so much of the fleet's spread, and scored at the true ones.
      said_noise: and it is told by how much.
    """

    def ready(solved: SolvedLayout) -> Callable[[], Topology]:
        told = blurred(solved.fleet, noise, solved.index) if noise else solved.fleet
        how: Asked = {"radio": solved.layout.radio, **asked, "seed": first_seed + solved.index}
        if said_noise:
            how["uncertainty"] = noise * told.spread
        return lambda: model_of(weights).generate(told, **how)

    label = f"{weights}, {said(asked)}" + (f", noise {noise:g}{', said' if said_noise else ''}" if noise else "")
    what = {"generate": dict(asked), "noise": noise, "first_seed": first_seed, **runtime_files(weights)}
    if said_noise:
        what["said_noise"] = True
    return store.rows(label, what, layouts, lambda some: timed(some, ready), code=__name__)


@spreadable
def correction(store: RowStore, layouts: LayoutSet, *, weights: str = DEFAULT, **asked: Unpack[Asked]) -> Rows:
    """The paper's correction, by itself, of raw topologies that are generated as asked before the clock runs."""

    def ready(solved: SolvedLayout) -> Callable[[], Topology]:
        how: Asked = {**asked, "seed": solved.index, "correct": False, "polish": False}
        raw = model_of(weights).generate(solved.layout, **how)
        # On a layout whose tables are computed while the clock runs, as everywhere.
        return lambda: correct(raw, Layout(solved.fleet, solved.layout.radio))

    what = {"correction of": dict(asked), **runtime_files(weights)}
    return store.rows(
        f"{weights}, correction, {said(asked)}", what, layouts, lambda some: timed(some, ready), code=__name__
    )


def with_generated(layouts: LayoutSet, preset: str, *, weights: str = DEFAULT) -> LayoutSet:
    """The same layouts with what a preset makes as their own topologies."""

    @cache
    def layout(index: int) -> SolvedLayout:
        solved = layouts.layout(index)
        topology = model_of(weights).generate(solved.layout, preset=preset, seed=index)
        return dataclasses.replace(solved, topology=topology, metrics=metrics(topology))

    key = {**layouts.key, "preset": preset, **runtime_files(weights)}
    code, recipe = (*layouts.code, __name__), (partial(with_generated, weights=weights), (layouts, preset))
    return dataclasses.replace(layouts, layout=layout, key=key, code=code, recipe=recipe)


def blurred(fleet: Fleet, noise: float, seed: int) -> Fleet:
    """The fleet with every position off by so much of its spread, the same each time for a seed."""
    moved = np.random.default_rng(seed).normal(scale=fleet.spread, size=fleet.positions.shape)
    return fleet.replace(positions=fleet.positions + noise * moved)


@cache
def model_of(weights: str) -> Model:
    """The model on one core, loaded once."""
    return load(weights)


@cache
def runtime_files(weights: str) -> dict[str, dict[str, str]]:
    """Digests of the runtime files."""
    return {"bundles": {weights: bundle_digest(find_bundle(weights))}}


def bundle_digest(bundle: Bundle) -> str:
    """Of what runs, not of the card."""
    described = json.dumps([bundle.radio.to_dict(), bundle.sampling.to_dict()]).encode()
    return content_digest(described, *bundle.graphs.values())


def said(asked: Any) -> str:
    """What was asked for, for people."""
    return ", ".join(f"{name} {value}" for name, value in asked.items()) or "as by default"
