"""Checkpoints: everything that a run needs to go on exactly, in one file that is whole or not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from manetdiff.data.settings import first_difference
from manetdiff.diffusion.process import Process
from manetdiff.diffusion.weights import described_bytes, read_described
from manetdiff.errors import CheckpointError
from manetdiff.files import write_whole
from manetdiff.training.optimisation import AveragedWeights

FORMAT_NAME = "manetdiff-checkpoint"
FORMAT = 1
CHECKPOINT = "checkpoint.safetensors"


@dataclass
class RunState:
    """How far a run is: steps taken, T of the best validation as a share of the target's, and validations since."""

    step: int = 0
    best: float | None = None
    since_best: int = 0


def save_checkpoint(
    path: Path,
    run: Mapping[str, Any],
    module: nn.Module,
    average: AveragedWeights,
    optimizer: torch.optim.Optimizer,
    state: RunState,
) -> None:
    """run: what the run is, JSON-ready; a checkpoint of another run is not continued."""
    tensors: dict[str, Tensor] = {f"weights/{name}": weight for name, weight in module.named_parameters()}
    tensors |= {f"average/{name}": weight for name, weight in average.tensors.items()}
    for index, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{index}/{name}": value for name, value in moments.items()}
    description = {"run": run, **asdict(state)}
    contiguous = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    write_whole(path, described_bytes(FORMAT_NAME, FORMAT, description, contiguous))


def load_checkpoint(
    path: Path,
    run: Mapping[str, Any],
    module: nn.Module,
    average: AveragedWeights,
    optimizer: torch.optim.Optimizer,
) -> RunState:
    """Take a run up where the checkpoint left it."""
    description, tensors = read_described(path, FORMAT_NAME, FORMAT)
    there = description.get("run")
    if isinstance(there, dict) and isinstance(there.get("process"), dict):
        there = {**there, "process": Process.from_dict(there["process"]).to_dict()}  # earlier names
    if isinstance(there, dict) and there.get("split") == {"processes": 1}:
        there = {**there, "split": {}}  # from when packed batches differed with the number of processes
    difference = first_difference(there, run)
    if difference:
        name, was, asked = difference
        raise CheckpointError(
            f"{path}: of a run with {name} = {was!r}, not {asked!r}: give the same settings to continue it, or "
            "another folder"
        )
    try:
        with torch.no_grad():
            for name, weight in module.named_parameters():
                weight.copy_(tensors[f"weights/{name}"])
        average.load({name: tensors[f"average/{name}"] for name in average.tensors})
        _load_optimizer(optimizer, tensors)
        return RunState(description["step"], description["best"], description["since_best"])
    except (KeyError, RuntimeError) as error:
        raise CheckpointError(f"{path}: does not fit the run that it describes: {error}") from None


def _load_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        if key.startswith("optimizer/"):
            _, index, name = key.split("/")
            state.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
