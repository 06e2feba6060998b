"""Bounds of a radio's numbers: far outside every real radio, and such that nothing computed from them overflows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from manetdiff.checks import check_within
from manetdiff.errors import FleetError, RadioError
from manetdiff.fleet import Fleet

Bounds = Mapping[str, tuple[float, float]]

# With distances of 1e-21 … 1e12 units the signal-to-noise ratio stays below 1e205 and p_0 · d^(2·alpha) below 1e300.
RADIO: Bounds = {
    "unit": (1e-9, 1e12),
    "p_0": (1e-200, 1e200),
    "p_max": (1e-80, 1e80),
    "alpha": (0.0, 4.0),
    "theta_max": (0.0, 10.0),
    "epsilon": (0.0, 1e30),
    "sigma2": (1e-80, 1e80),
    "range": (1e-12, 1e12),
    "bandwidth": (1e-3, 1e15),
    "beamwidth": (1e-6, 100.0),
    "floor_db": (0.0, 1000.0),
    "boresight": (-7.0, 7.0),
    "min_snr": (-200.0, 200.0),
    "ceiling": (1e-3, 1e3),
}
# Of a radio that says nothing of them, these are None.
OPTIONAL = frozenset({"unit", "beamwidth", "min_snr", "ceiling"})
# Whatever they make of each other is within the bounds of a radio, but for the range.
LINK_BUDGET: Bounds = {
    "frequency": (1e3, 1e15),
    "bandwidth": RADIO["bandwidth"],
    "power": (1e-15, 1e15),
    "gain": (-50.0, 100.0),
    "noise_figure": (-50.0, 100.0),
    "losses": (-100.0, 300.0),
    "temperature": (1e-3, 1e9),
    "min_snr": RADIO["min_snr"],
}
# Of a fleet, in units.
WIDTH = (1e-12, 1e12)
# Beams are between any three nodes: of more, a table would not fit into the memory of most machines.
MOST_NODES = 1024


def check_bounds(what: str, bounds: Bounds, values: Mapping[str, Any], optional: Collection[str] = ()) -> None:
    """Raise unless each of the values is a number within its bounds. optional: which may also be None."""
    for name, value in values.items():
        if value is not None or name not in optional:
            check_within(RadioError, f"{what}: {name}", value, *bounds[name])


def check_size(fleet: Fleet, unit: float) -> None:
    """Raise unless the fleet has no more nodes, and is as wide in units of so many metres, as can be computed with."""
    if len(fleet) > MOST_NODES:
        raise FleetError(f"rates can be computed for fleets of up to {MOST_NODES} nodes, not {len(fleet)}")
    metres = float(np.ptp(fleet.positions, axis=0).max())
    low, high = WIDTH
    if not low * unit <= metres <= high * unit:
        raise RadioError(
            f"radio: a fleet {metres:.3g} m wide cannot be measured in units of {unit:.3g} m: "
            f"it must be {low:g} to {high:g} of them"
        )
