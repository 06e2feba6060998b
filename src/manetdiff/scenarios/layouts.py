"""Drawing a layout: a family lays the nodes out, and what no fleet would do or no radio could link is redrawn."""

from __future__ import annotations

import numpy as np

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.fleet.geodetic import wrapped
from manetdiff.scenarios.formations import FORMATIONS
from manetdiff.scenarios.heights import check_heights, with_heights
from manetdiff.scenarios.kinematics import check_positive
from manetdiff.scenarios.packages import PACKAGES
from manetdiff.scenarios.patrols import PATROLS
from manetdiff.scenarios.placing import Layout, as_places, as_positions
from manetdiff.scenarios.spacing import (
    CLOSEST,
    closed_up,
    connected,
    pair_distances,
    pushed_apart,
    required_separation,
    spacing_of,
)
from manetdiff.scenarios.surface import SURFACE
from manetdiff.scenarios.traffic import TRAFFIC

IN_THE_AIR = {**FORMATIONS, **PACKAGES, **PATROLS, **TRAFFIC}
LAYOUTS = {**IN_THE_AIR, **SURFACE}
AIR: tuple[str, ...] = tuple(IN_THE_AIR)
FAMILIES: tuple[str, ...] = tuple(LAYOUTS)
MIXED = "mixed"
MIN_NODES, MAX_NODES = 2, 1024
TRIES = 200
OFFSET = 100_000.0  # metres: how far from the origin, along either axis, a layout may be placed
CLOSED_UP = 0.95  # of the range asked for: gaps that are too wide are closed to this
ROUNDS = 4  # of closing gaps and going back to the spacing, which closing them may change


def draw(
    family: str,
    n: int,
    rng: np.random.Generator,
    *,
    reach: float = 2.5,
    spacing: float | None = None,
    within: float | None = None,
    heights: tuple[float, float] | None = None,
) -> Fleet:
    """A random fleet of n nodes (2 to 1,024) of one family, or of any family of aircraft where it is "mixed".

    - spacing: metres, the median distance of a node to its nearest neighbour. None: as the family draws it.
    - within: metres; pairs no further apart than this connect the whole fleet. None: `reach` says it.
    - reach: the same in spreads. Two nodes alone are 2√2 spreads apart wherever they are: there it is not asked for.
    - heights: lowest and highest, in metres; neighbours are at similar heights. None: the fleet is flat.

    Positions are in metres and yaw in radians. No two nodes come closer than `required_separation`; where a spacing is
    asked for, and on streets and sea lanes, than a fifth of the spacing.
    """
    if family != MIXED and family not in LAYOUTS:
        raise ScenarioError(f"unknown family {family!r}: choose one of {', '.join((*FAMILIES, MIXED))}")
    if not MIN_NODES <= n <= MAX_NODES:
        raise ScenarioError(f"a layout has {MIN_NODES} to {MAX_NODES} nodes, not {n}")
    if not (np.isfinite(reach) and reach > 0):
        raise ScenarioError(f"reach is a positive number of spreads, not {reach}")
    for name, length in (("spacing", spacing), ("within", within)):
        if length is not None:
            check_positive(name, length)
    if heights is not None:
        check_heights(heights)
    chosen = pick_family(rng) if family == MIXED else family
    for _ in range(TRIES):
        fleet = _separated(_placed(LAYOUTS[chosen](n, rng), rng), chosen)
        if fleet is not None and (spacing is not None or within is not None):
            fleet = _fitted(fleet, chosen, spacing, within)
        if fleet is None:
            continue
        if heights is not None:
            fleet = with_heights(fleet, heights, rng)
        if within is None and n == MIN_NODES:
            return fleet
        if connected(fleet, reach * fleet.spread if within is None else within):
            return fleet
    asked = f"within {reach} spreads" if within is None else f"within {within:g} m"
    spaced = "" if spacing is None else f" with {spacing:g} m between neighbours"
    raise ScenarioError(
        f"no {chosen} layout of {n} nodes{spaced} came out connected {asked} in {TRIES} tries: "
        "choose a longer reach or another family"
    )


def pick_family(rng: np.random.Generator) -> str:
    """One family of aircraft, each equally likely: which one a mixed draw uses, for a caller who wants to know."""
    return AIR[int(rng.integers(len(AIR)))]


def _placed(layout: Layout, rng: np.random.Generator) -> Fleet:
    """The layout turned by any heading and set down anywhere."""
    places, yaw = layout
    heading = rng.uniform(-np.pi, np.pi)
    east, north = rng.uniform(-OFFSET, OFFSET, 2)
    turned = (places - places.mean()) * np.exp(1j * heading)
    return Fleet(as_positions(turned + (east + 1j * north)), wrapped(yaw + heading))


def _separated(fleet: Fleet, family: str, *, spaced: bool = False) -> Fleet | None:
    """The fleet with every pair far enough apart, or None; spaced: it has the spacing that was asked for."""
    if _far_enough(fleet, family, spaced):
        return fleet
    if spaced or _on_tracks(family):
        return None
    pushed = pushed_apart(as_places(fleet.horizontal), required_separation(fleet))
    fleet = fleet.replace(positions=as_positions(pushed))
    return fleet if _far_enough(fleet, family, spaced) else None


def _far_enough(fleet: Fleet, family: str, spaced: bool) -> bool:
    needed = CLOSEST * spacing_of(fleet) if spaced or family in SURFACE else required_separation(fleet)
    return bool(pair_distances(fleet.horizontal).min() >= needed)


def _on_tracks(family: str) -> bool:
    """Whether nobody may be moved: off their track, street or lane, they would no longer point along it."""
    return family in PATROLS or family in SURFACE


def _fitted(fleet: Fleet, family: str, spacing: float | None, within: float | None) -> Fleet | None:
    """The fleet at the spacing asked for, with gaps wider than `within` closed; None if that leaves some too near."""
    fleet = _spaced(fleet, spacing)
    for _ in range(ROUNDS):
        if within is None or _on_tracks(family) or connected(fleet, within):
            break
        closed = closed_up(as_places(fleet.horizontal), CLOSED_UP * within)
        closed = pushed_apart(closed, CLOSEST * spacing_of(fleet))
        fleet = _spaced(fleet.replace(positions=as_positions(closed)), spacing)
    return _separated(fleet, family, spaced=spacing is not None)


def _spaced(fleet: Fleet, spacing: float | None) -> Fleet:
    """The fleet widened or narrowed as a whole, about its middle, until its spacing is the one asked for."""
    if spacing is None:
        return fleet
    middle = fleet.horizontal.mean(axis=0)
    return fleet.replace(positions=middle + (fleet.horizontal - middle) * (spacing / spacing_of(fleet)))
