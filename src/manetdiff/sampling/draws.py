"""Random numbers for sampling: a layout gets the same ones whatever batch it is in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.errors import ModelError

# The likelier of two states is taken where the number drawn is one half.
HALF = np.float32(0.5)
# Drawn at once: a gigabyte.
MOST_NUMBERS = 2**28


class Draws(NamedTuple):
    """Rounds of uniform numbers: links (rounds, b, c), for c pairs that may be linked, and parity (rounds, b, n).
    latent: (b, n, size) standard normal numbers, for models that take them."""

    links: npt.NDArray[np.float32]
    parity: npt.NDArray[np.float32]
    latent: npt.NDArray[np.float32] | None = None

    def rounds(self, start: int, stop: int | None = None) -> Draws:
        """Some of the rounds."""
        return self._replace(links=self.links[start:stop], parity=self.parity[start:stop])


def chain_draws(seeds: Sequence[tuple[int, ...]], c: int, n: int, rounds: int, *, decide: bool) -> Draws:
    """So many rounds for each of the streams, on graphs of n nodes, c pairs of which may be linked. decide: whether the
    last round draws nothing."""
    numbers = len(seeds) * (c + n)
    if rounds * numbers > MOST_NUMBERS:
        most = MOST_NUMBERS // numbers
        raise ModelError(f"steps: {rounds - 1} on {n} nodes would fill the memory; at most {most - 1}")
    drawn = [link_draws(seed, c, n, rounds, decide=decide) for seed in seeds]
    return Draws(*(np.stack(parts, axis=1) for parts in zip(*drawn, strict=True)))


def link_draws(
    seed: tuple[int, ...], links: int, n: int, rounds: int, *, decide: bool
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """So many rounds of one stream for links (rounds, c) and parity (rounds, n)."""
    numbers = _stream(seed).random((rounds, links + n), dtype=np.float32)
    if decide:
        numbers[-1] = HALF
    return numbers[:, :links], numbers[:, links:]


def padded_draws(
    seeds: Sequence[tuple[int, ...]], sizes: Sequence[int], n: int, rounds: int, *, decide: bool
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The same for graphs of several sizes, every pair of which may be linked, all padded to n nodes: of edges
    (rounds, b, n, n), those above the diagonal, and of parity (rounds, b, n). What is not drawn is 1."""
    edges = np.ones((rounds, len(sizes), n, n), dtype=np.float32)
    parity = np.ones((rounds, len(sizes), n), dtype=np.float32)
    for row, (seed, size) in enumerate(zip(seeds, sizes, strict=True)):
        i, j = np.triu_indices(size, 1)
        own = chain_draws([seed], len(i), size, rounds, decide=decide)
        edges[:, row, i, j] = own.links[:, 0]
        parity[:, row, :size] = own.parity[:, 0]
    return edges, parity


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
