"""Random numbers for sampling: a layout gets the same ones whatever batch it is in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.errors import ModelError

# The likelier of two states is taken where the number drawn is one half.
HALF = np.float32(0.5)
# Drawn at once: a gigabyte.
MOST_NUMBERS = 2**28


class Draws(NamedTuple):
    """Rounds of uniform numbers: edges (rounds, b, n, n), of which those above the diagonal count, and parity
    (rounds, b, n). latent: (b, n, size) standard normal numbers, for models that take them."""

    edges: npt.NDArray[np.float32]
    parity: npt.NDArray[np.float32]
    latent: npt.NDArray[np.float32] | None = None

    def rounds(self, start: int, stop: int | None = None) -> Draws:
        """Some of the rounds."""
        return self._replace(edges=self.edges[start:stop], parity=self.parity[start:stop])


def chain_draws(seeds: Sequence[tuple[int, ...]], n: int, rounds: int, *, decide: bool) -> Draws:
    """So many rounds for each of the streams, on graphs of n nodes. decide: whether the last round draws nothing."""
    if rounds * len(seeds) * n * n > MOST_NUMBERS:
        most = MOST_NUMBERS // (len(seeds) * n * n)
        raise ModelError(f"steps: {rounds - 1} on {n} nodes would fill the memory; at most {most - 1}")
    above = _above_diagonal(n)
    edges = np.ones((rounds, len(seeds), n * n), dtype=np.float32)
    parity = np.empty((rounds, len(seeds), n), dtype=np.float32)
    for row, seed in enumerate(seeds):
        numbers = _stream(seed).random((rounds, len(above) + n), dtype=np.float32)
        edges[:, row, above] = numbers[:, : len(above)]
        parity[:, row] = numbers[:, len(above) :]
    if decide:
        edges[-1], parity[-1] = HALF, HALF
    return Draws(edges.reshape(rounds, len(seeds), n, n), parity)


def padded_draws(seeds: Sequence[tuple[int, ...]], sizes: Sequence[int], n: int, rounds: int, *, decide: bool) -> Draws:
    """The same for graphs of several sizes, all padded to n nodes."""
    edges = np.ones((rounds, len(sizes), n, n), dtype=np.float32)
    parity = np.ones((rounds, len(sizes), n), dtype=np.float32)
    for row, (seed, size) in enumerate(zip(seeds, sizes, strict=True)):
        own = chain_draws([seed], size, rounds, decide=decide)
        edges[:, row, :size, :size] = own.edges[:, 0]
        parity[:, row, :size] = own.parity[:, 0]
    return Draws(edges, parity)


def latent_draws(
    seeds: Sequence[tuple[int, ...]], sizes: Sequence[int], n: int, latent: int
) -> npt.NDArray[np.float32]:
    """(b, n, latent) standard normal numbers for graphs of several sizes, 0 where they are padded."""
    normal = np.zeros((len(sizes), n, latent), dtype=np.float32)
    for row, (seed, size) in enumerate(zip(seeds, sizes, strict=True)):
        normal[row, :size] = _stream(seed).standard_normal((size, latent), dtype=np.float32)
    return normal


def _stream(seed: tuple[int, ...]) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed)))


@lru_cache(maxsize=64)
def _above_diagonal(n: int) -> npt.NDArray[np.intp]:
    return np.flatnonzero(np.triu(np.ones((n, n), dtype=np.bool_), 1).ravel())
