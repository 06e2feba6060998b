"""The times of inference: full diffusion, partial diffusion, correction."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import numpy as np

from manetdiff.data import SolvedLayout
from manetdiff.fleet import Fleet
from manetdiff.reproduce import paper
from manetdiff.reproduce.cells import Cell
from manetdiff.reproduce.rows import Row, Rows
from manetdiff.reproduce.study import Grid, Setting, Study
from manetdiff.runtime.model import load
from manetdiff.scenarios import move_by
from manetdiff.solvers import correct
from manetdiff.topology import Topology

LAYOUTS = 33
FULL, PARTIAL, DEFAULT, CORRECTION = (
    "full, 50 steps",
    "partial, 15 steps",
    "partial, our default, with correction",
    "correction",
)
# At 16 nodes.
FIGURES = {FULL: paper.FULL_PASS_MS["CPU"], CORRECTION: paper.CORRECTION_MS}

# Layout, its fleet after a movement, and a raw sample for the layout.
Stage = Callable[[SolvedLayout, Fleet, Topology], Topology]


def inference_times(setting: Setting, nodes: int) -> dict[str, Rows]:
    """The milliseconds of every stage on each layout."""
    model = load(threads=1)
    stages: dict[str, Stage] = {
        FULL: lambda layout, moved, raw: model.generate(layout.fleet, steps=50, correct=False, polish=False),
        PARTIAL: lambda layout, moved, raw: model.update(
            layout.topology, moved, previous=layout.fleet, mode="standard", steps=15, correct=False
        ),
        DEFAULT: lambda layout, moved, raw: model.update(
            layout.topology, moved, previous=layout.fleet, mode="standard"
        ),
        CORRECTION: lambda layout, moved, raw: correct(raw, layout.fleet),
    }
    layouts = setting.layouts(nodes, most=LAYOUTS)

    @cache
    def prepared() -> list[tuple[SolvedLayout, Fleet, Topology]]:
        moved = [move_by(layout.fleet, 0.3, np.random.default_rng(k)) for k, layout in enumerate(layouts)]
        raw = [model.generate(layout.fleet, steps=50, correct=False, polish=False) for layout in layouts]
        return list(zip(layouts, moved, raw, strict=True))

    def make(stage: Stage) -> list[Row]:
        stage(*prepared()[0])
        rows = []
        for given in prepared():
            began = time.perf_counter()
            stage(*given)
            rows.append({"milliseconds": 1e3 * (time.perf_counter() - began)})
        return rows

    count = f"{len(layouts)} layouts of {nodes} nodes"
    return {
        label: setting.store.rows({"way": f"time of {label}", "set": count}, lambda stage=stage: make(stage))  # type: ignore[misc]
        for label, stage in stages.items()
    }


def _inference(setting: Setting) -> list[Grid]:
    rows: list[tuple[str, list[Cell | str]]] = []
    for nodes in (16, 32):
        for label, made in inference_times(setting, nodes).items():
            figure = FIGURES.get(label) if nodes == 16 else None
            longest = max(row["milliseconds"] for row in made.rows)
            rows.append((f"{label}, {nodes} nodes", [made.cell("milliseconds", figure), f"{longest:.2f}"]))
    note = (
        "One core, one thread. The paper's figures are for a Xeon E5-2650v3, and the one for the correction is what it "
        "never exceeds. Times depend on the machine that this page names; ratios less so. On a GPU: `inference-gpu`."
    )
    return [Grid("Time of inference", ["stage", "ms a layout", "longest, ms"], rows, note)]


INFERENCE_STUDIES = (
    Study(
        "inference",
        "Time of inference",
        "The paper: a full pass takes under 2 s on a CPU; an update 3.3 to 5 times less; the correction at "
        "most 100 ms.",
        _inference,
    ),
)
