"""What a safetensors file of ours says of itself, read by hand: PyTorch and safetensors need not be installed."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manetdiff.errors import CheckpointError

FORMAT_NAME = "manetdiff-weights"
FORMAT = 1
KEY = "manetdiff"
MOST_BYTES = 100_000_000  # of a header, as safetensors itself has it


@dataclass(frozen=True)
class Header:
    """description: of weights, the model, noise process, radio, sampling and card. parameters: numbers in the file."""

    description: dict[str, Any]
    parameters: int


def read_header(path: Path, name: str = FORMAT_NAME, version: int = FORMAT) -> Header:
    """The header of a weights file, or of another kind of file by its name and version."""
    if not path.is_file():
        raise CheckpointError(f"{path}: no such file")
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            tensors = json.loads(file.read(min(length, MOST_BYTES)))
        told = tensors.pop("__metadata__", {})
        parameters = sum(math.prod(tensor["shape"]) for tensor in tensors.values())
        end = 8 + length + max((tensor["data_offsets"][1] for tensor in tensors.values()), default=0)
        if path.stat().st_size != end:
            raise ValueError(f"{end} bytes were written, {path.stat().st_size} are there")
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise CheckpointError(f"{path}: torn, or not a safetensors file: {error}") from None
    return Header(_description(told, path, name, version), parameters)


def _description(told: Any, path: Path, name: str, version: int) -> dict[str, Any]:
    try:
        content = json.loads(told[KEY])
    except (KeyError, TypeError):
        raise CheckpointError(f"{path}: a safetensors file, but none of this program's") from None
    except (ValueError, RecursionError):
        raise CheckpointError(f"{path}: its description cannot be read") from None
    if not isinstance(content, dict) or content.get("format") != name:
        raise CheckpointError(f"{path}: not a file of the kind {name!r}")
    if content.get("version") != version:
        raise CheckpointError(f"{path}: version {content.get('version')!r}; this program reads version {version}")
    description = content.get("description")
    if not isinstance(description, dict):
        raise CheckpointError(f"{path}: has no description")
    if not isinstance(description.get("card", {}), dict):
        raise CheckpointError(f"{path}: its card is not a set of named values")
    return description
