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
        8: Fitted(1, 2, 0, 340, True),
        16: Fitted(2, 1, 0, 71, True),
        32: Fitted(1, 3, 0, 68, False),
        64: Fitted(1, 2, 1, 370, True),
        128: Fitted(2, 3, 2, 15, True),
        256: Fitted(2, 2, 0, 17, True),
        512: Fitted(2, 1, 0, 140, True),
        1000: Fitted(2, 1, 0, 48, True),
    },
    "fast": {
        8: Fitted(1, 8, 0, 75, False),
        16: Fitted(1, 4, 0, 49, False),
        32: Fitted(1, 1, 0, 870, True),
        64: Fitted(1, 2, 1, 830, True),
        128: Fitted(3, 4, 2, 20, False),
        256: Fitted(2, 2, 0, 150, True),
        512: Fitted(3, 2, 1, 210, True),
        1000: Fitted(3, 1, 0, 270, True),
    },
    "balanced": {
        8: Fitted(1, 16, 0, 82, False),
        16: Fitted(1, 8, 0, 63, False),
        32: Fitted(1, 4, 2, 730, False),
        64: Fitted(2, 2, 1, 1500, True),
        128: Fitted(3, 4, 0, 120, False),
        256: Fitted(2, 2, 1, 840, True),
        512: Fitted(3, 2, 0, 330, True),
        1000: Fitted(3, 1, 0, 640, True),
    },
    "careful": {
        8: Fitted(1, 24, 0, 150, False),
        16: Fitted(1, 16, 0, 77, False),
        32: Fitted(3, 6, 2, 1100, False),
        64: Fitted(3, 1, 0, 3400, True),
        128: Fitted(3, 3, 2, 830, False),
        256: Fitted(2, 2, 0, 970, True),
        512: Fitted(3, 2, 0, 810, True),
        1000: Fitted(3, 1, 0, 1400, True),
    },
    "thorough": {
        8: Fitted(1, 24, 0, 400, False),
        16: Fitted(1, 24, 0, 140, False),
        32: Fitted(3, 6, 0, 1000, False),
        64: Fitted(2, 2, 0, 3500, True),
        128: Fitted(3, 3, 0, 1200, False),
        256: Fitted(2, 1, 0, 4300, True),
        512: Fitted(3, 2, 0, 1700, True),
        1000: Fitted(3, 1, 0, 3000, True),
    },
    "best": {
        8: Fitted(1, 24, 0, 910, False),
        16: Fitted(1, 24, 0, 390, False),
        32: Fitted(3, 6, 0, 2300, False),
        64: Fitted(2, 2, 0, 7300, True),
        128: Fitted(3, 3, 0, 2600, False),
        256: Fitted(2, 1, 0, 8700, True),
        512: Fitted(3, 2, 0, 3600, True),
        1000: Fitted(3, 1, 0, 6000, True),
    },
}
