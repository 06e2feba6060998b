"""The times of inference on a GPU, one fleet at a time and a thousand together."""

from __future__ import annotations

import torch

from manetdiff.evaluate.batch_speed import chain_milliseconds
from manetdiff.gpu import load
from manetdiff.measure.cells import Cell
from manetdiff.measure.measures import MEASURES
from manetdiff.reproduce import paper
from manetdiff.reproduce.tables import Grid, PaperTable, Setting
from manetdiff.reproduce.weights import UnavailableError

# Full diffusion, an update as long as the paper's, and one of ours.
STEPS = {50: "full, 50 steps", 15: "15 steps, as the paper's updates", 3: "3 steps, as our updates"}
BATCHES = (1, 1024)


def _inference_gpu(setting: Setting) -> list[Grid]:
    if not torch.cuda.is_available():
        raise UnavailableError("there is no GPU here that PyTorch can use")
    model = load()
    rows: list[tuple[str, list[Cell | str]]] = []
    for nodes in (16, 32):
        layouts = list(setting.layouts(nodes))
        for steps, label in STEPS.items():
            for batch in BATCHES:
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


INFERENCE_GPU_TABLES = (
    PaperTable(
        "inference-gpu",
        "Time of inference on a GPU",
        "The paper: a full pass takes about 450 ms on a GPU.",
        _inference_gpu,
    ),
)
