"""Training from Python: one call, from folders of solved layouts to weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from lightning.fabric import Fabric

from manetdiff.data import SolvedLayout
from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.errors import TrainingError
from manetdiff.radio import Radio
from manetdiff.training.checkpoint import RunState
from manetdiff.training.corpus import Corpus, read_corpus
from manetdiff.training.loop import Trainer, TrainingNews
from manetdiff.training.packed import PackedCorpus, read_packed
from manetdiff.training.plan import make_plan


@dataclass(frozen=True)
class TrainingResult:
    """What became of a run.

    - state: steps taken, and the best validation: its T as a share of the target's.
    - weights: the averaged weights at the end. held_out: the layouts that it was validated on.
    - leads: whether this is the first of the run's processes, the one that writes its files.
    """

    state: RunState
    weights: Weights
    held_out: list[SolvedLayout] = field(repr=False)
    leads: bool = True


def train(
    data: str | Path | Sequence[str | Path],
    out: str | Path,
    model: str = "acam",
    recipe: str = "fast",
    *,
    losses: Mapping[str, float] | None = None,
    redundancy: float = 1.0,
    parity_pace: float = 1.0,
    heading: float = 0.0,
    forest: float = 0.0,
    start: str | Path | None = None,
    leave_out: Sequence[str] = (),
    radio: Radio | None = None,
    accelerator: str = "auto",
    devices: int = 1,
    machines: int = 1,
    report: Callable[[TrainingNews], None] = lambda news: None,
    **settings: Any,
) -> TrainingResult:
    """Train a model on solved layouts; a run that was stopped goes on from the checkpoint in its folder.

    - data: one folder that `manetdiff data` has filled, or several. out: the folder of the run, which gets
      best.safetensors, last.safetensors, checkpoint.safetensors and a TensorBoard log.
    - model, recipe: by name, see VARIANTS and RECIPES. settings: instead of theirs, by the names of ModelConfig and
      Recipe: width=48, epochs=20, mix={16: 2, 32: 1}, … The number of sectors is the data's. The model `sparse` goes
      with the recipe `any-fleet`.
    - losses: weights of the loss's terms instead of the model's, by the names of LossWeights.
    - redundancy, parity_pace, heading, forest: of the noise process, see Process.
    - start: weights to begin with instead of random ones, by name or path; they must be of this model.
    - leave_out: families of layouts that the run must not see. radio: the one that the data must have been solved for;
      none for sparse networks, whose data may be of any radios.
    - accelerator, devices, machines: Lightning Fabric's. With several devices Fabric starts the calling script again
      for each of them.
    - report: told how the run goes, first before any step.
    """
    noise = {"redundancy": redundancy, "parity_pace": parity_pace, "heading": heading, "forest": forest}
    plan = make_plan(model, recipe, losses, noise, **settings)
    folders = [Path(folder) for folder in ([data] if isinstance(data, str | Path) else data)]
    corpus: Corpus | PackedCorpus
    if plan.model.kind == "sparse":
        if radio is not None:
            raise TrainingError("radio: a sparse network learns from layouts of any radios: leave it out")
        corpus = read_packed(folders, held_out=plan.recipe.validation, leave_out=leave_out)
    else:
        corpus = read_corpus(folders, radio, held_out=plan.recipe.validation, leave_out=leave_out)
    fabric = make_fabric(plan.recipe.precision, accelerator, devices, machines)
    fabric.launch()
    begin = None if start is None else find_weights(start)
    trainer = Trainer(plan, corpus, Path(out), fabric, {"variant": model}, begin)
    state = trainer.train(report)
    return TrainingResult(state, trainer.weights(), corpus.held_out, fabric.is_global_zero)


def make_fabric(precision: str, accelerator: str = "auto", devices: int = 1, machines: int = 1) -> Fabric:
    """The devices of a run. precision: the recipe's; a CPU computes in single precision whatever it says."""
    on_gpu = accelerator != "cpu" and torch.cuda.is_available()
    if accelerator not in ("auto", "cpu") and not on_gpu:
        raise TrainingError(f"accelerator {accelerator}: there is none here that PyTorch can use; give cpu")
    half = precision == "bf16" and on_gpu
    if half:
        torch.set_float32_matmul_precision("high")
    return Fabric(
        accelerator=accelerator,
        devices=devices,
        num_nodes=machines,
        strategy="ddp" if devices * machines > 1 else "auto",
        precision="bf16-mixed" if half else "32-true",
    )
