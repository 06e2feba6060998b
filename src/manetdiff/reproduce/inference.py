"""The times of inference: full diffusion, partial diffusion, correction."""

from __future__ import annotations

from manetdiff.measure.cells import Cell
from manetdiff.measure.moved import Moved
from manetdiff.measure.rows import Rows
from manetdiff.measure.ways.runtime import correction, generated
from manetdiff.measure.ways.updates import updated
from manetdiff.reproduce import paper
from manetdiff.reproduce.partial import TARGET_MOVES
from manetdiff.reproduce.tables import Grid, PaperTable, Setting

LAYOUTS = 33
FULL, PARTIAL, DEFAULT, CORRECTION = (
    "full, 50 steps",
    "partial, 15 steps",
    "partial, our default, with correction",
    "correction",
)
# At 16 nodes.
FIGURES = {FULL: paper.FULL_PASS_MS["CPU"], CORRECTION: paper.CORRECTION_MS}


def inference_times(setting: Setting, nodes: int) -> dict[str, Rows]:
    """Rows of every stage, which have its milliseconds on each layout."""
    store, layouts = setting.store, setting.layouts(nodes, most=LAYOUTS)
    moved = Moved(layouts, 0.3, TARGET_MOVES)
    return {
        FULL: generated(store, layouts, steps=50, correct=False, polish=False),
        PARTIAL: updated(store, moved, "standard", steps=15, correct=False),
        DEFAULT: updated(store, moved, "standard"),
        CORRECTION: correction(store, layouts, steps=50),
    }


def _inference(setting: Setting) -> list[Grid]:
    rows: list[tuple[str, list[Cell | str]]] = []
    for nodes in (16, 32):
        for label, made in inference_times(setting, nodes).items():
            figure = FIGURES.get(label) if nodes == 16 else None
            longest = made.values("milliseconds").max()
            rows.append((f"{label}, {nodes} nodes", [made.cell("milliseconds", figure), f"{longest:.2f}"]))
    note = (
        "One core, one thread. The paper's figures are for a Xeon E5-2650v3, and the one for the correction is what it "
        "never exceeds. Times depend on the machine that this page names; ratios less so. On a GPU: `inference-gpu`."
    )
    return [Grid("Time of inference", ["stage", "ms a layout", "longest, ms"], rows, note)]


INFERENCE_TABLES = (
    PaperTable(
        "inference",
        "Time of inference",
        "The paper: a full pass takes under 2 s on a CPU; an update 3.3 to 5 times less; the correction at "
        "most 100 ms.",
        _inference,
    ),
)
