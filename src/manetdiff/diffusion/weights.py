"""Weights files: tensors and a JSON description in one safetensors file. Reading one runs no code from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor

from manetdiff.diffusion.generator import DiffusionGenerator, VariationalGenerator, build
from manetdiff.diffusion.process import Process
from manetdiff.errors import CheckpointError, ManetDiffError
from manetdiff.features import FEATURES_VERSION
from manetdiff.model.config import ModelConfig
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig

FORMAT_NAME = "manetdiff-weights"
FORMAT = 1
SUFFIX = ".safetensors"
HEADER = "manetdiff"
DEFAULT = "netdiff"


@dataclass(frozen=True)
class Weights:
    """A model's weights with all that is needed to use them.

    sampling: how to sample from them, unless something else is asked for.
    card: how they were made and how good they are: data, recipe, losses, seeds, commit, metrics; JSON-ready.
    """

    config: ModelConfig
    process: Process
    radio: Radio
    tensors: Mapping[str, Tensor] = field(repr=False)
    sampling: SamplerConfig = field(default_factory=SamplerConfig)
    card: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def build(self) -> DiffusionGenerator | VariationalGenerator:
        """The model, in single precision and ready to sample."""
        model = build(self.config, self.process)
        try:
            model.load_state_dict({name: tensor.float() for name, tensor in self.tensors.items()})
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise CheckpointError(f"the weights do not fit the model that they describe: {reason}") from None
        return model.eval()

    def to_bytes(self, *, half: bool = False) -> bytes:
        """The file's content, in single or half precision."""
        dtype = torch.float16 if half else torch.float32
        description = {
            "model": self.config.to_dict(),
            "process": self.process.to_dict(),
            "radio": self.radio.to_dict(),
            "features": FEATURES_VERSION,
            "sampling": self.sampling.to_dict(),
            "card": dict(self.card),
        }
        tensors = {name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in self.tensors.items()}
        return described_bytes(FORMAT_NAME, FORMAT, description, tensors)


def read_weights(path: Path | str) -> Weights:
    """Weights from a file."""
    file = Path(path)
    description, tensors = read_described(file, FORMAT_NAME, FORMAT)
    return weights_from(description, tensors, str(file))


def packaged_names() -> list[str]:
    """Names of the weights in the package."""
    folder = resources.files("manetdiff") / "weights"
    return sorted(entry.name.removesuffix(SUFFIX) for entry in folder.iterdir() if entry.name.endswith(SUFFIX))


def packaged_weights(name: str = DEFAULT) -> Weights:
    """Weights that come with the package, by name."""
    entry = resources.files("manetdiff") / "weights" / f"{name}{SUFFIX}"
    if not entry.is_file():
        raise CheckpointError(f"no packaged weights {name!r}; there are {', '.join(packaged_names())}")
    with resources.as_file(entry) as path:
        return read_weights(path)


def weights_from(description: Mapping[str, Any], tensors: Mapping[str, Tensor], name: str) -> Weights:
    """Weights from what a file describes."""
    features = description.get("features", 1)
    if features != FEATURES_VERSION:
        raise CheckpointError(
            f"{name}: trained on version {features!r} of the layout features; this program makes version "
            f"{FEATURES_VERSION}: train again"
        )
    card = description.get("card", {})
    if not isinstance(card, dict):
        raise CheckpointError(f"{name}: its card is not a set of named values")
    try:
        return Weights(
            ModelConfig.from_dict(description["model"]),
            Process.from_dict(description["process"]),
            Radio.from_dict(description["radio"]),
            tensors,
            SamplerConfig.from_dict(description.get("sampling", {})),
            card,
        )
    except KeyError as error:
        raise CheckpointError(f"{name}: its description has no {error.args[0]!r}") from None
    except (ManetDiffError, TypeError) as error:
        raise CheckpointError(f"{name}: {error}") from None


def described_bytes(name: str, version: int, description: Mapping[str, Any], tensors: dict[str, Tensor]) -> bytes:
    """A safetensors file with a description in its header."""
    content = {"format": name, "version": version, "description": description}
    # Under one key, because safetensors keeps several in no fixed order, and the same content must be the same bytes.
    return to_safetensors(tensors, {HEADER: json.dumps(content)})


def read_described(path: Path, name: str, version: int) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The description and the tensors of a file that :func:`described_bytes` made."""
    if not path.is_file():
        raise CheckpointError(f"{path}: no such file")
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {_renamed(key): file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path}: torn, or not a safetensors file: {error}") from None
    try:
        content = json.loads(header[HEADER])
    except KeyError:
        raise CheckpointError(f"{path}: a safetensors file, but none of this program's") from None
    except ValueError:
        raise CheckpointError(f"{path}: its description cannot be read") from None
    if not isinstance(content, dict) or content.get("format") != name:
        raise CheckpointError(f"{path}: not a file of the kind {name!r}")
    if content.get("version") != version:
        raise CheckpointError(f"{path}: version {content.get('version')!r}; this program reads version {version}")
    if not isinstance(content.get("description"), dict):
        raise CheckpointError(f"{path}: has no description")
    return content["description"], tensors


def _renamed(name: str) -> str:
    """A tensor's name; earlier files call the feed-forward parts think_nodes and think_edges."""
    return name.replace(".think_", ".feed_forward_")
