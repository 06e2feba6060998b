"""One message for every command that needs PyTorch where it is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from manetdiff.errors import TrainingError

PACKAGES = ("torch", "lightning", "safetensors", "tensorboard")


@contextmanager
def needs_torch(what: str) -> Iterator[None]:
    """Turn a missing package of the extra `train` into a message; what: that which needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in PACKAGES:
            raise
        raise TrainingError(f"{what} needs the package {error.name}: pip install 'manetdiff[train]'") from None
