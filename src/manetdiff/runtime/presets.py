"""The presets, by the size of the fleet, as `scripts/fit_presets.py --write` fitted them: on layouts that are in no
benchmark set, each what makes most of its time."""

from __future__ import annotations

from typing import NamedTuple


class Fitted(NamedTuple):
    """As an Effort; polish: moves a node on each finalist."""

    steps: int
    samples: int
    finalists: int
    polish: int
    forest: bool


# The fastest preset first.
PRESETS: dict[str, dict[int, Fitted]] = {
    "instant": {
        8: Fitted(1, 2, 1, 310, True),
        16: Fitted(1, 1, 0, 90, True),
        32: Fitted(1, 3, 2, 52, False),
        64: Fitted(1, 2, 1, 200, True),
        128: Fitted(2, 2, 1, 33, True),
        256: Fitted(2, 2, 1, 51, True),
        512: Fitted(2, 1, 0, 75, True),
        1000: Fitted(2, 1, 0, 36, True),
    },
    "fast": {
        8: Fitted(1, 3, 0, 350, True),
        16: Fitted(1, 3, 0, 50, False),
        32: Fitted(1, 6, 2, 100, False),
        64: Fitted(1, 1, 0, 550, True),
        128: Fitted(2, 4, 2, 20, True),
        256: Fitted(2, 2, 0, 110, True),
        512: Fitted(2, 1, 0, 240, True),
        1000: Fitted(2, 2, 0, 26, True),
    },
    "balanced": {
        8: Fitted(1, 12, 0, 100, False),
        16: Fitted(1, 6, 0, 71, False),
        32: Fitted(1, 1, 0, 1300, True),
        64: Fitted(2, 1, 0, 1000, True),
        128: Fitted(3, 4, 2, 110, False),
        256: Fitted(2, 1, 0, 760, True),
        512: Fitted(2, 2, 0, 220, True),
        1000: Fitted(2, 2, 0, 120, True),
    },
    "careful": {
        8: Fitted(1, 24, 0, 140, True),
        16: Fitted(1, 16, 0, 38, False),
        32: Fitted(1, 1, 0, 2900, True),
        64: Fitted(2, 3, 0, 650, True),
        128: Fitted(3, 4, 2, 490, False),
        256: Fitted(2, 1, 0, 1600, True),
        512: Fitted(2, 2, 0, 560, True),
        1000: Fitted(2, 2, 0, 300, True),
    },
    "thorough": {
        8: Fitted(1, 24, 0, 460, True),
        16: Fitted(2, 4, 0, 1100, False),
        32: Fitted(1, 2, 0, 2900, True),
        64: Fitted(2, 3, 0, 1400, True),
        128: Fitted(1, 1, 0, 2900, True),
        256: Fitted(1, 1, 0, 3300, True),
        512: Fitted(2, 2, 0, 1200, True),
        1000: Fitted(2, 2, 0, 400, True),
    },
    "best": {
        8: Fitted(1, 24, 0, 1000, True),
        16: Fitted(2, 4, 0, 2400, False),
        32: Fitted(3, 6, 0, 1800, False),
        64: Fitted(2, 3, 0, 3000, True),
        128: Fitted(1, 1, 0, 6000, True),
        256: Fitted(1, 1, 0, 6700, True),
        512: Fitted(2, 2, 0, 1200, True),
        1000: Fitted(2, 2, 0, 400, True),
    },
}
