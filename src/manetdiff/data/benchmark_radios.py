"""The twelve radios of the benchmark set `radios`, and how far apart those who use them are.

Eight are abstract cones, in units of UNIT metres at the spacing of the other sets; four are link budgets of kinds of
equipment that can be bought. Between them: 3 to 8 sectors, a turned boresight, omnidirectional reception, modems with a
ceiling and with a least SNR, narrow and wide beams, and all from noise to interference as what limits a link.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from manetdiff.data.radios import FieldedRadio
from manetdiff.radio import Radio

# The default radio in metres, for fleets of any size at one density: that of bench16. There the distance from a node to
# its nearest neighbour, its median over a fleet, is 0.577 spreads on average over the thousand fleets, and a spread is
# the unit of the default radio.
UNIT = 10_000.0
SPACING = 5_770.0
IN_METRES = Radio(unit=UNIT)

# Links of a budget are no longer than this many spacings, which is about what the default radio has: further out there
# are horizons, buildings and trees.
REACH = 5


def _cone(**values: Any) -> FieldedRadio:
    return FieldedRadio(dataclasses.replace(IN_METRES, **values), SPACING)


def _budget(spacing: float, *, boresight: float = 0.0, ceiling: float | None = None, **values: Any) -> FieldedRadio:
    made = Radio.from_link_budget(range=REACH * spacing, **values)
    # Powers of ten differ in their last digit from one machine to the next; the set must not.
    rounded: dict[str, Any] = {
        name: float(f"{getattr(made, name):.6g}") for name in ("p_0", "p_max", "sigma2", "beamwidth")
    }
    return FieldedRadio(dataclasses.replace(made, boresight=boresight, ceiling=ceiling, **rounded), spacing)


BENCHMARK_RADIOS: dict[str, FieldedRadio] = {
    "cone": _cone(),
    "cone-narrow": _cone(theta_max=math.pi / 20, sectors=8),
    "cone-wide": _cone(theta_max=math.pi / 3, sectors=3),
    "cone-turned": _cone(sectors=6, boresight=math.pi / 6, theta_max=math.pi / 10),
    "cone-noisy": _cone(sigma2=4.0, alpha=0.0),
    "cone-quiet": _cone(sigma2=0.01, theta_max=math.pi / 6, alpha=1.0, p_max=8.0),
    "cone-omni": _cone(reception="omni", theta_max=math.pi / 12, sigma2=0.2),
    "cone-ceiling": _cone(sigma2=0.02, sectors=5, ceiling=4.0),
    # Access points with sector antennas: plenty of signal, held back by each other's side lobes and the modem.
    "sector-2.4GHz-20MHz": _budget(
        1_500.0, frequency=2.4e9, bandwidth=20e6, power=0.5, gain=14.0, noise_figure=5.0, losses=3.0, ceiling=6.6
    ),
    # Backhaul with panels, six to a mast.
    "panel-5.8GHz-40MHz": _budget(
        8_000.0,
        frequency=5.8e9,
        bandwidth=40e6,
        power=0.25,
        gain=20.0,
        noise_figure=6.0,
        losses=4.0,
        sectors=6,
        boresight=math.pi / 6,
        floor_db=25.0,
        ceiling=8.0,
    ),
    # Phased arrays: beams of a few degrees.
    "beam-60GHz-400MHz": _budget(
        300.0,
        frequency=60e9,
        bandwidth=400e6,
        power=0.1,
        gain=28.0,
        noise_figure=8.0,
        losses=8.0,
        sectors=8,
        floor_db=30.0,
        ceiling=4.6,
    ),
    # Long data links with small antennas: hardly above the noise.
    "link-0.9GHz-5MHz": _budget(
        60_000.0, frequency=0.9e9, bandwidth=5e6, power=1.0, gain=8.0, noise_figure=4.0, losses=6.0, sectors=3
    ),
}
