"""Updates of moved fleets: what each way of updating keeps of the links and of T, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from manetdiff.data import SolvedLayout
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.runtime.model import Model, load
from manetdiff.scenarios import move_by
from manetdiff.solvers import correct, polish, solve
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology, continuity, metrics

MOVEMENTS = (0.1, 0.3)
BEFORE = "careful"
# What the moved fleets' topologies are compared with.
TARGET_MOVES = 50_000
# Weights that were trained with heading-conditioned transitions.
HEADING = "netdiff-heading"
# An annealing that goes on from the previous topology: as long as an update takes.
ANNEALED_MOVES = 4_000

Way = Callable[[Topology, Fleet], Topology]


@dataclass(frozen=True)
class UpdateRow:
    """Means over moved fleets. ratio: T over that of a long search from scratch."""

    movement: float
    way: str
    seconds: float
    ratio: float
    connected: float
    parity: float
    valid: float
    continuity: float


def update_rows(layouts: Sequence[SolvedLayout], report: Callable[[str], None] = lambda what: None) -> list[UpdateRow]:
    """Every way of updating, on every layout moved by each of MOVEMENTS."""
    model = load(threads=1)
    before = [model.generate(layout.fleet, preset=BEFORE) for layout in layouts]
    rows = []
    for movement in MOVEMENTS:
        fleets = [move_by(layout.fleet, movement, np.random.default_rng(index)) for index, layout in enumerate(layouts)]
        target = [solve(fleet, method="reference", moves=TARGET_MOVES) for fleet in fleets]
        best = float(np.mean([metrics(one, fleet)["throughput"] for one, fleet in zip(target, fleets, strict=True)]))
        for name, way in _ways(model).items():
            report(f"movement {movement}: {name}")
            rows.append(_row(movement, name, way, before, fleets, best))
    return rows


def _ways(model: Model) -> dict[str, Way]:
    heading = load(HEADING, threads=1)
    return {
        "50 steps, anew": lambda old, fleet: model.generate(fleet, steps=50, samples=1, polish=False),
        "preset balanced, anew": lambda old, fleet: model.generate(fleet),
        "minor": lambda old, fleet: model.update(old, fleet, mode="minor"),
        "minor, 8 steps": lambda old, fleet: model.update(old, fleet, mode="minor", steps=8),
        "standard": lambda old, fleet: model.update(old, fleet, mode="standard"),
        "standard, 15 steps": lambda old, fleet: model.update(old, fleet, mode="standard", steps=15),
        "guided": lambda old, fleet: model.update(old, fleet, mode="guided"),
        "minor, by heading": lambda old, fleet: heading.update(old, fleet, mode="minor"),
        "standard, by heading": lambda old, fleet: heading.update(old, fleet, mode="standard"),
        "standard, polished": lambda old, fleet: model.update(old, fleet, mode="standard", polish=500),
        "annealing from the old links": lambda old, fleet: _annealed_from(old, fleet),
        "old links, corrected": lambda old, fleet: correct(old, fleet, flip_parts=True),
        "old links, corrected and polished": lambda old, fleet: polish(correct(old, fleet), fleet, moves=2_000),
    }


def _annealed_from(old: Topology, fleet: Fleet) -> Topology:
    """The strongest search from the previous topology that takes about as long as an update: corrected, then annealed,
    warm enough to leave it and kept to one link an antenna."""
    layout = Layout(fleet)
    bench = Workbench(layout)
    correct_onto(bench, old.links, old.parity, flip_parts=True)
    search_on(bench, Meter(Budget(moves=ANNEALED_MOVES)), 0, limit=1, annealing=THOROUGH)
    return Topology(bench.links, bench.parity, layout=layout)


def _row(
    movement: float, name: str, way: Way, before: Sequence[Topology], fleets: Sequence[Fleet], best: float
) -> UpdateRow:
    way(before[0], fleets[0])  # compiled and loaded before it is timed
    began = time.perf_counter()
    after = [way(old, fleet) for old, fleet in zip(before, fleets, strict=True)]
    seconds = (time.perf_counter() - began) / len(fleets)
    scores = [metrics(new, fleet, Radio()) for new, fleet in zip(after, fleets, strict=True)]
    means = {key: float(np.mean([score[key] for score in scores])) for key in scores[0]}
    same = float(np.mean([continuity(old, new) for old, new in zip(before, after, strict=True)]))
    return UpdateRow(
        movement, name, seconds, means["throughput"] / best, means["connected"], means["parity"], means["valid"], same
    )
