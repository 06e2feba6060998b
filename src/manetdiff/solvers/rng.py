"""Random numbers inside compiled code: splitmix64, a state of one word, the same on every machine."""

from __future__ import annotations

import numpy as np

from manetdiff.compiled import builder, kernel


@builder
def seeded(seed, stream):  # type: ignore[no-untyped-def]
    """A generator state for the given seed and stream number; streams of one seed do not overlap in practice."""
    state = np.empty(1, dtype=np.uint64)
    state[0] = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(stream) * np.uint64(0x9E6C63D0876A68DE)
    for _ in range(4):
        _next(state)
    return state


@kernel
def uniform(state):  # type: ignore[no-untyped-def]
    """A float in 0 … 1, 1 excluded."""
    return np.float64(_next(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def below(state, limit):  # type: ignore[no-untyped-def]
    """A whole number in 0 … limit - 1."""
    return np.int64(uniform(state) * limit)


@kernel
def _next(state):  # type: ignore[no-untyped-def]
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
