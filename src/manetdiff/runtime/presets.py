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
        8: Fitted(2, 6, 0, 73, True),
        16: Fitted(1, 3, 0, 66, False),
        32: Fitted(1, 6, 0, 45, False),
        64: Fitted(3, 1, 0, 470, True),
        128: Fitted(2, 2, 0, 130, True),
        256: Fitted(2, 2, 0, 120, True),
        512: Fitted(2, 2, 1, 170, True),
        1000: Fitted(2, 2, 1, 34, True),
    },
    "fast": {
        8: Fitted(1, 16, 0, 76, False),
        16: Fitted(1, 6, 0, 110, False),
        32: Fitted(1, 12, 0, 38, False),
        64: Fitted(1, 1, 0, 1100, True),
        128: Fitted(2, 4, 0, 120, True),
        256: Fitted(2, 2, 1, 620, True),
        512: Fitted(2, 1, 0, 600, True),
        1000: Fitted(2, 1, 0, 470, True),
    },
    "balanced": {
        8: Fitted(1, 24, 0, 150, True),
        16: Fitted(1, 12, 0, 110, False),
        32: Fitted(1, 16, 0, 80, False),
        64: Fitted(3, 6, 1, 1000, False),
        128: Fitted(2, 4, 0, 290, True),
        256: Fitted(2, 2, 1, 1300, True),
        512: Fitted(2, 1, 0, 1200, True),
        1000: Fitted(3, 1, 0, 1100, True),
    },
    "careful": {
        8: Fitted(1, 24, 0, 480, True),
        16: Fitted(1, 24, 0, 110, False),
        32: Fitted(3, 4, 0, 980, False),
        64: Fitted(3, 6, 0, 500, False),
        128: Fitted(3, 1, 0, 3000, True),
        256: Fitted(2, 2, 0, 1400, True),
        512: Fitted(1, 2, 0, 1100, True),
        1000: Fitted(1, 1, 0, 1900, True),
    },
    "thorough": {
        8: Fitted(1, 24, 0, 1000, True),
        16: Fitted(1, 24, 0, 310, False),
        32: Fitted(3, 8, 0, 990, False),
        64: Fitted(3, 6, 0, 1100, False),
        128: Fitted(3, 1, 0, 6100, True),
        256: Fitted(2, 2, 0, 3000, True),
        512: Fitted(1, 2, 0, 2400, True),
        1000: Fitted(1, 1, 0, 4000, True),
    },
    "best": {
        8: Fitted(1, 24, 0, 2200, True),
        16: Fitted(1, 24, 0, 700, False),
        32: Fitted(3, 8, 0, 2100, False),
        64: Fitted(3, 6, 0, 2400, False),
        128: Fitted(3, 1, 0, 12000, True),
        256: Fitted(2, 2, 0, 6200, True),
        512: Fitted(1, 2, 0, 4900, True),
        1000: Fitted(1, 1, 0, 8000, True),
    },
}
