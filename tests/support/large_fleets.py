"""Radios and kinds of fleets that what is heard from afar is tested with."""

from __future__ import annotations

import dataclasses

from manetdiff import Radio

CONE = Radio(unit=1.0, range=4.0, sigma2=0.02)
STEERED = dataclasses.replace(CONE, pattern="parabolic", beamwidth=0.6)
# With the relative error of T that is allowed: none but rounding where nothing is told apart by direction alone.
RADIOS = {
    "cone": (CONE, 1e-9),
    "wide cone": (dataclasses.replace(CONE, theta_max=2.0, sectors=3, boresight=0.4, ceiling=4.0), 1e-9),
    "cone heard all around": (dataclasses.replace(CONE, reception="omni", sectors=6), 1e-9),
    "beam": (STEERED, 1e-4),
    "narrow beam": (dataclasses.replace(STEERED, beamwidth=0.2, floor_db=30.0, sectors=8), 1e-4),
    "narrow beam, hardly any noise": (dataclasses.replace(STEERED, beamwidth=0.12, floor_db=30.0, sigma2=1e-4), 5e-4),
    "beam heard all around": (dataclasses.replace(STEERED, reception="omni", alpha=0.0), 1e-4),
}
KINDS = {"flat": {}, "heights": {"heights": True}, "blocked": {"heights": True, "blocked": True}}
