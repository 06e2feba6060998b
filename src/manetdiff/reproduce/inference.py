"""The times of inference: full diffusion, partial diffusion, correction."""

from __future__ import annotations

import time

import numpy as np

from manetdiff.reproduce import paper
from manetdiff.reproduce.cells import MEASURES, Cell, bootstrap
from manetdiff.reproduce.study import Grid, Setting, Study
from manetdiff.runtime.model import load
from manetdiff.scenarios import move_by
from manetdiff.solvers import correct

LAYOUTS = 33


def _inference(setting: Setting) -> list[Grid]:
    rows = []
    for nodes in (16, 32):
        rows += _of_size(setting, nodes)
    note = (
        "One core, one thread. The paper's figures are for a Xeon E5-2650v3 and a Tesla T4; ours on a GPU are in the "
        "table of batches. Times depend on the machine that this page names; ratios less so."
    )
    return [Grid("Time of inference", ["stage", "nodes", "ms a layout"], rows, note)]


def _of_size(setting: Setting, nodes: int) -> list[tuple[str, list[Cell | str]]]:
    model = load(threads=1)
    layouts = setting.layouts(nodes, most=LAYOUTS)
    moved = [move_by(layout.fleet, 0.3, np.random.default_rng(k)) for k, layout in enumerate(layouts)]
    pairs = list(zip(layouts, moved, strict=True))

    def times(run: object) -> list[float]:
        assert callable(run)
        run(*pairs[0])
        spent = []
        for layout, fleet in pairs:
            began = time.perf_counter()
            run(layout, fleet)
            spent.append(1e3 * (time.perf_counter() - began))
        return spent

    raw = [model.generate(layout.fleet, steps=50, correct=False, polish=False) for layout in layouts]
    places = {id(layout): k for k, layout in enumerate(layouts)}
    stages = {
        "full, 50 steps": (
            times(lambda layout, fleet: model.generate(layout.fleet, steps=50, correct=False, polish=False)),
            paper.FULL_PASS_MS["CPU"] if nodes == 16 else None,
        ),
        "partial, 15 steps": (
            times(
                lambda layout, fleet: model.update(
                    layout.topology, fleet, previous=layout.fleet, mode="standard", steps=15, correct=False
                )
            ),
            None,
        ),
        "partial, our default, with correction": (
            times(lambda layout, fleet: model.update(layout.topology, fleet, previous=layout.fleet, mode="standard")),
            None,
        ),
        "correction": (
            times(lambda layout, fleet: correct(raw[places[id(layout)]], layout.fleet)),
            paper.CORRECTION_MS if nodes == 16 else None,
        ),
    }
    return [
        (label, [f"{nodes}", Cell(MEASURES["milliseconds"], *bootstrap(spent), figure)])
        for label, (spent, figure) in stages.items()
    ]


INFERENCE_STUDIES = (
    Study(
        "inference",
        "Time of inference",
        "A full pass takes under 2 s on a CPU, 450 ms on a GPU; an update 3.3 to 5 times less; correction to 100 ms.",
        _inference,
    ),
)
