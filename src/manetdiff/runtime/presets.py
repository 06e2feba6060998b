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
        8: Fitted(1, 6, 0, 100, False),
        16: Fitted(1, 3, 0, 67, False),
        32: Fitted(1, 6, 0, 40, False),
        64: Fitted(3, 3, 2, 87, False),
        128: Fitted(3, 3, 0, 14, False),
        256: Fitted(2, 2, 0, 100, True),
        512: Fitted(3, 2, 0, 24, True),
        1000: Fitted(2, 1, 0, 180, True),
    },
    "fast": {
        8: Fitted(1, 16, 0, 52, False),
        16: Fitted(1, 6, 0, 83, False),
        32: Fitted(1, 12, 0, 35, False),
        64: Fitted(3, 6, 1, 270, False),
        128: Fitted(3, 4, 1, 270, False),
        256: Fitted(2, 1, 0, 620, True),
        512: Fitted(2, 1, 0, 620, True),
        1000: Fitted(2, 2, 1, 390, True),
    },
    "balanced": {
        8: Fitted(1, 24, 0, 120, True),
        16: Fitted(1, 12, 0, 91, False),
        32: Fitted(1, 16, 0, 79, False),
        64: Fitted(3, 8, 2, 490, False),
        128: Fitted(3, 4, 0, 210, False),
        256: Fitted(2, 1, 0, 1200, True),
        512: Fitted(2, 1, 0, 1300, True),
        1000: Fitted(2, 2, 0, 450, True),
    },
    "careful": {
        8: Fitted(1, 24, 0, 420, True),
        16: Fitted(1, 24, 0, 100, False),
        32: Fitted(2, 4, 0, 1000, False),
        64: Fitted(3, 6, 0, 550, False),
        128: Fitted(2, 1, 0, 2700, True),
        256: Fitted(2, 1, 0, 2700, True),
        512: Fitted(3, 1, 0, 2700, True),
        1000: Fitted(2, 2, 0, 990, True),
    },
    "thorough": {
        8: Fitted(1, 24, 0, 960, True),
        16: Fitted(1, 24, 0, 280, False),
        32: Fitted(2, 6, 0, 1400, False),
        64: Fitted(3, 6, 0, 1200, False),
        128: Fitted(2, 1, 0, 5500, True),
        256: Fitted(2, 1, 0, 5500, True),
        512: Fitted(3, 1, 0, 5700, True),
        1000: Fitted(2, 2, 0, 2000, True),
    },
    "best": {
        8: Fitted(1, 24, 0, 2000, True),
        16: Fitted(1, 24, 0, 650, False),
        32: Fitted(2, 6, 0, 3100, False),
        64: Fitted(3, 6, 0, 2600, False),
        128: Fitted(2, 1, 0, 11000, True),
        256: Fitted(2, 1, 0, 11000, True),
        512: Fitted(3, 1, 0, 11000, True),
        1000: Fitted(2, 2, 0, 4200, True),
    },
}
