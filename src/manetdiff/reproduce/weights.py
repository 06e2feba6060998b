"""The weights that the tables need, and what is said where they are missing."""

from __future__ import annotations

from functools import lru_cache

from manetdiff.diffusion.weights import Weights, find_weights
from manetdiff.weights import WEIGHTS_FILE, known


class UnavailableError(Exception):
    """A table needs what this machine does not have; what an earlier run left of it stays as it is."""


@lru_cache(maxsize=4)
def weights_of(name: str) -> Weights:
    """Weights of the package or of the sources' folder `studies`, read once."""
    if name not in known(WEIGHTS_FILE):
        raise UnavailableError(f"the weights {name} come with the sources (folder studies), not with the package")
    return find_weights(name)
