"""Drawing a layout: a family lays the aircraft out, and what no fleet would fly or no radio could link is redrawn."""

from __future__ import annotations

import numpy as np

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.fleet.geodetic import wrapped
from manetdiff.scenarios.formations import FORMATIONS
from manetdiff.scenarios.packages import PACKAGES
from manetdiff.scenarios.patrols import PATROLS
from manetdiff.scenarios.placing import Layout, as_places, as_positions
from manetdiff.scenarios.spacing import connected, pair_distances, pushed_apart, required_separation
from manetdiff.scenarios.traffic import TRAFFIC

LAYOUTS = {**FORMATIONS, **PACKAGES, **PATROLS, **TRAFFIC}
FAMILIES: tuple[str, ...] = tuple(LAYOUTS)
MIXED = "mixed"
MIN_NODES, MAX_NODES = 2, 256
TRIES = 200
OFFSET = 100_000.0  # metres: how far from the origin, along either axis, a layout may be placed


def draw(family: str, n: int, rng: np.random.Generator, *, reach: float = 2.5) -> Fleet:
    """A random fleet of n aircraft (2 to 256) of one family, or of any family where it is "mixed".

    Positions are in metres and yaw in radians. All pairs are at least `required_separation` apart, and the pairs
    within `reach` spreads of one another connect the whole fleet. Two aircraft alone are 2√2 spreads apart wherever
    they are, so there the reach says nothing and is not asked for.
    """
    if family != MIXED and family not in LAYOUTS:
        raise ScenarioError(f"unknown family {family!r}: choose one of {', '.join((*FAMILIES, MIXED))}")
    if not MIN_NODES <= n <= MAX_NODES:
        raise ScenarioError(f"a layout has {MIN_NODES} to {MAX_NODES} aircraft, not {n}")
    if not (np.isfinite(reach) and reach > 0):
        raise ScenarioError(f"reach is a positive number of spreads, not {reach}")
    chosen = pick_family(rng) if family == MIXED else family
    for _ in range(TRIES):
        fleet = _separated(_placed(LAYOUTS[chosen](n, rng), rng), may_move=chosen not in PATROLS)
        if fleet is not None and (n == MIN_NODES or connected(fleet, reach)):
            return fleet
    raise ScenarioError(
        f"no {chosen} layout of {n} aircraft came out connected within {reach} spreads in {TRIES} tries: "
        "choose a longer reach or another family"
    )


def pick_family(rng: np.random.Generator) -> str:
    """One family, each equally likely: for a caller of `draw` who wants to know which one a mixed draw used."""
    return FAMILIES[int(rng.integers(len(FAMILIES)))]


def _placed(layout: Layout, rng: np.random.Generator) -> Fleet:
    """The layout turned by any heading and set down anywhere."""
    places, yaw = layout
    heading = rng.uniform(-np.pi, np.pi)
    east, north = rng.uniform(-OFFSET, OFFSET, 2)
    turned = (places - places.mean()) * np.exp(1j * heading)
    return Fleet(as_positions(turned + (east + 1j * north)), wrapped(yaw + heading))


def _separated(fleet: Fleet, *, may_move: bool) -> Fleet | None:
    """The fleet with every pair far enough apart, or None.

    Aircraft on a patrol track may not move: pushed off their track, they would no longer point along it.
    """
    if _far_enough(fleet):
        return fleet
    if not may_move:
        return None
    pushed = pushed_apart(as_places(fleet.horizontal), required_separation(fleet))
    fleet = fleet.replace(positions=as_positions(pushed))
    return fleet if _far_enough(fleet) else None


def _far_enough(fleet: Fleet) -> bool:
    return bool(pair_distances(fleet.horizontal).min() >= required_separation(fleet))
