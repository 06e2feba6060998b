"""Radios to choose from where nobody has one to hand: the default, and three that could be bought."""

from __future__ import annotations

from manetdiff.radio import Radio

# By name: what people are shown, and the radio. Ranges are for the distances that our own flights have.
RADIOS: dict[str, tuple[str, Radio]] = {
    "default": ("Default: distances in the fleet's own spread", Radio()),
    "sector-2.4": (
        "2.4 GHz, 10 MHz, 5 W, 15 dBi, 4 sectors",
        Radio.from_link_budget(2.4e9, 10e6, 5.0, 15.0, 4.0, range=30_000.0),
    ),
    "panel-5.8": (
        "5.8 GHz, 40 MHz, 1 W, 20 dBi, 6 sectors",
        Radio.from_link_budget(5.8e9, 40e6, 1.0, 20.0, 5.0, range=25_000.0, sectors=6),
    ),
    "ku-15": (
        "15 GHz, 100 MHz, 10 W, 30 dBi, 8 sectors",
        Radio.from_link_budget(15e9, 100e6, 10.0, 30.0, 5.0, range=60_000.0, sectors=8),
    ),
}
