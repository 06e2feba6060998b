"""Weights files: tensors and a JSON description in one safetensors file. Reading one runs no code from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor

from manetdiff.diffusion.generator import AnyGenerator, build
from manetdiff.diffusion.process import Process
from manetdiff.errors import CheckpointError, ManetDiffError
from manetdiff.layout import ARCS_VERSION, FEATURES_VERSION
from manetdiff.model.config import ModelConfig
from manetdiff.radio import Radio
from manetdiff.sampling import SamplerConfig
from manetdiff.weights import DEFAULT, WEIGHTS_FILE, find, read_header
from manetdiff.weights.header import FORMAT, FORMAT_NAME, KEY


@dataclass(frozen=True)
class Weights:
    """A model's weights with all that is needed to use them.

    - sampling: how to sample from them, unless something else is asked for.
    - card: how they were made and how good they are: data, recipe, losses, seeds, commit, metrics; JSON-ready.
    """

    config: ModelConfig
    process: Process
    radio: Radio
    tensors: Mapping[str, Tensor] = field(repr=False)
    sampling: SamplerConfig = field(default_factory=SamplerConfig)
    card: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def any_radio(self) -> bool:
        """Whether they are for any radio, and `radio` only the one of users who name none."""
        return self.config.kind == "sparse"

    @property
    def digest(self) -> str:
        """Of the tensors: equal for equal ones."""
        made = hashlib.sha256()
        for name in sorted(self.tensors):
            made.update(name.encode() + self.tensors[name].float().cpu().numpy().tobytes())
        return made.hexdigest()

    def build(self) -> AnyGenerator:
        """The model, in single precision and ready to sample."""
        with torch.device("meta"):  # shapes without memory: a description may ask for any size
            wanted = {name: tuple(part.shape) for name, part in build(self.config, self.process).state_dict().items()}
        there = {name: tuple(part.shape) for name, part in self.tensors.items()}
        for name in sorted(wanted.keys() | there.keys()):
            if wanted.get(name) != there.get(name):
                found, right = (shapes.get(name, "not there") for shapes in (there, wanted))
                raise CheckpointError(
                    f"the weights do not fit the model that they describe: {name} is {found}, should be {right}"
                )
        model = build(self.config, self.process)
        model.load_state_dict({name: tensor.float() for name, tensor in self.tensors.items()})
        return model.eval()

    def to_bytes(self, *, half: bool = False) -> bytes:
        """The file's content, in single or half precision."""
        dtype = torch.float16 if half else torch.float32
        description = {
            "model": self.config.to_dict(),
            "process": self.process.to_dict(),
            "radio": self.radio.to_dict(),
            "features": features_version(self.config),
            "sampling": self.sampling.to_dict(),
            "card": dict(self.card),
        }
        tensors = {name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in self.tensors.items()}
        return described_bytes(FORMAT_NAME, FORMAT, description, tensors)


def find_weights(name: str | Path = DEFAULT) -> Weights:
    """Weights by the name of known ones, or by path."""
    return read_weights(find(name, WEIGHTS_FILE))


def read_weights(path: Path | str) -> Weights:
    """Weights from a file."""
    description, tensors = read_described(Path(path), FORMAT_NAME, FORMAT)
    try:
        config = ModelConfig.from_dict(description["model"])
        features, made = description.get("features", 1), features_version(config)
        if features != made:
            raise CheckpointError(
                f"{path}: trained on version {features!r} of the layout features; this program makes version {made}: "
                "train again"
            )
        return Weights(
            config,
            Process.from_dict(description["process"]),
            Radio.from_dict(description["radio"]),
            tensors,
            SamplerConfig.from_dict(description.get("sampling", {})),
            description.get("card", {}),
        )
    except KeyError as error:
        raise CheckpointError(f"{path}: its description has no {error.args[0]!r}") from None
    except CheckpointError:
        raise
    except (ManetDiffError, TypeError) as error:
        raise CheckpointError(f"{path}: {error}") from None


def features_version(config: ModelConfig) -> int:
    """Of what such a network reads of a layout."""
    return ARCS_VERSION if config.kind == "sparse" else FEATURES_VERSION


def described_bytes(name: str, version: int, description: Mapping[str, Any], tensors: dict[str, Tensor]) -> bytes:
    """A safetensors file with a description in its header."""
    content = {"format": name, "version": version, "description": description}
    # Under one key, because safetensors keeps several in no fixed order, and the same content must be the same bytes.
    return to_safetensors(tensors, {KEY: json.dumps(content)})


def read_described(path: Path, name: str, version: int) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The description and the tensors of a file that `described_bytes` made."""
    description = read_header(path, name, version).description
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {_renamed(key): file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path}: torn, or not a safetensors file: {error}") from None
    return description, tensors


def _renamed(name: str) -> str:
    """A tensor's name; earlier files call the feed-forward parts think_nodes and think_edges."""
    return name.replace(".think_", ".feed_forward_")
