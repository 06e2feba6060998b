"""What a safetensors file of ours says of itself, read by hand: PyTorch and safetensors need not be installed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manetdiff.checks import is_whole
from manetdiff.errors import CheckpointError
from manetdiff.json_settings import parsed_json
from manetdiff.messages import brief

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
        raise CheckpointError(f"{path}: {'is not a file on a disk' if path.exists() else 'no such file'}")
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            tensors = parsed_json(file.read(min(length, MOST_BYTES)))
        told = tensors.pop("__metadata__", {})
        parameters = sum(_numbers(tensor["shape"], tensor["data_offsets"]) for tensor in tensors.values())
        end = 8 + length + max((tensor["data_offsets"][1] for tensor in tensors.values()), default=0)
        if path.stat().st_size != end:
            raise ValueError(f"{brief(end)} bytes were written, {path.stat().st_size} are there")
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path}: torn, or not a safetensors file: {error}") from None
    return Header(_description(told, path, name, version), parameters)


def _numbers(shape: list[int], offsets: list[int]) -> int:
    """How many numbers a tensor has; a ValueError where they would not fit into its bytes."""
    start, end = offsets
    sound = all(is_whole(number) and number >= 0 for number in (*shape, start, end))
    if not sound or math.prod(shape) > end - start:
        raise ValueError("a tensor has another shape than its data")
    return math.prod(shape)


def _description(told: Any, path: Path, name: str, version: int) -> dict[str, Any]:
    try:
        content = parsed_json(told[KEY])
    except (KeyError, TypeError):
        raise CheckpointError(f"{path}: a safetensors file, but none of this program's") from None
    except ValueError as error:
        raise CheckpointError(f"{path}: its description cannot be read: {error}") from None
    if not isinstance(content, dict) or content.get("format") != name:
        raise CheckpointError(f"{path}: not a file of the kind {name!r}")
    if content.get("version") != version:
        raise CheckpointError(f"{path}: version {brief(content.get('version'))}; this program reads version {version}")
    description = content.get("description")
    if not isinstance(description, dict):
        raise CheckpointError(f"{path}: has no description")
    if not isinstance(description.get("card", {}), dict):
        raise CheckpointError(f"{path}: its card is not a set of named values")
    return description
