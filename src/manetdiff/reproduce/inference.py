"""The times of inference: full diffusion, partial diffusion and correction on a core, and the chain on a GPU."""

from __future__ import annotations

import torch

from manetdiff.evaluate.batch_speed import chain_milliseconds
from manetdiff.gpu import load
from manetdiff.measure.measures import MEASURES, Cell
from manetdiff.measure.moved import Moved
from manetdiff.measure.rows import Rows
from manetdiff.measure.ways.runtime import correction, generated
from manetdiff.measure.ways.updates import updated
from manetdiff.reproduce import paper
from manetdiff.reproduce.partial import TARGET_MOVES
from manetdiff.reproduce.tables import Grid, Setting
from manetdiff.reproduce.weights import UnavailableError
from manetdiff.weights import PAPER

LAYOUTS = 33
FULL, PARTIAL, DEFAULT, CORRECTION = (
    "full, 50 steps",
    "partial, 15 steps",
    "partial, our default, with correction",
    "correction",
)
# At 16 nodes.
FIGURES = {FULL: paper.FULL_PASS_MS["CPU"], CORRECTION: paper.CORRECTION_MS}
# Full diffusion, an update as long as the paper's, and one of ours.
GPU_CHAINS = {50: "full, 50 steps", 15: "15 steps, as the paper's updates", 3: "3 steps, as our updates"}
GPU_BATCHES = (1, 1024)


def inference_times(setting: Setting, nodes: int) -> dict[str, Rows]:
    """Rows of every stage, which have its milliseconds on each layout, measured one after the other."""
    store, layouts = setting.store.alone(), setting.layouts(nodes, most=LAYOUTS)
    moved = Moved(layouts, 0.3, TARGET_MOVES)
    return {
        FULL: generated(store, layouts, weights=PAPER, steps=50, correct=False, polish=False),
        PARTIAL: updated(store, moved, "standard", weights=PAPER, steps=15, correct=False),
        DEFAULT: updated(store, moved, "standard", weights=PAPER),
        CORRECTION: correction(store, layouts, weights=PAPER, steps=50),
    }


def on_a_core(setting: Setting) -> list[Grid]:
    """Every stage, at both sizes."""
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


def on_a_gpu(setting: Setting) -> list[Grid]:
    """One fleet at a time, and a thousand together."""
    if not torch.cuda.is_available():
        raise UnavailableError("there is no GPU here that PyTorch can use")
    model = load(PAPER)
    rows: list[tuple[str, list[Cell | str]]] = []
    for nodes in (16, 32):
        layouts = list(setting.layouts(nodes))
        for steps, label in GPU_CHAINS.items():
            for batch in GPU_BATCHES:
                spent = chain_milliseconds(model, layouts, steps, batch)
                figure = paper.FULL_PASS_MS["GPU"] if (nodes, steps, batch) == (16, 50, 1) else None
                cell = Cell(MEASURES["milliseconds"], spent, paper=figure)
                rows.append((f"{label}, {nodes} nodes, {batch:,} at once", [cell, f"{1e3 * batch / spent:,.0f}"]))
    note = (
        "The chain alone, fastest of five, captured as one CUDA graph; correction follows on the CPU. The paper's "
        "figure is for a Tesla T4."
    )
    name = torch.cuda.get_device_name()
    return [Grid(f"Time of inference on one {name}", ["chain", "ms a batch", "topologies a second"], rows, note)]
