"""The streets that a fleet of vehicles is on, found from where they are and where they point.

Inside a plan, streets run along x or along y. Each is one-way, and has a number: first those along x, then those along
y, both from low to high. A vehicle's *mileage* is its coordinate along its street, counted the way the street goes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.fleet.geodetic import wrapped
from manetdiff.scenarios.placing import ComplexArray, FloatArray, IntArray, as_places
from manetdiff.scenarios.spacing import spacing_of
from manetdiff.scenarios.surface import common_axis

OFF_COURSE = float(np.radians(3.0))  # who points further off every street is taking a turn
SAME_STREET = 0.3  # spacings between two vehicles, across their street
ALONE = 0.5  # spacings to the next vehicle, across its street, of one that has the street to itself
BEYOND = 2  # streets added on every side of those that have vehicles: room to turn round
BLOCK = 1.4  # spacings between two streets, where the vehicles do not show it
ZONE = 0.2  # of the narrowest block: how far from its middle a crossing begins


@dataclass(frozen=True, eq=False)
class StreetPlan:
    """One-way streets within a ring road.

    - axis: radians from +x to the plan's x.
    - line: (streets,) metres: y of a street along x, x of a street along y; way: (streets,) 1 or -1.
    - roads: how many run along x.
    - zone: metres from a crossing's middle in which it holds one vehicle.
    """

    axis: float
    line: FloatArray
    way: IntArray
    roads: int
    zone: float

    @classmethod
    def of(cls, fleet: Fleet) -> tuple[StreetPlan, IntArray]:
        """The plan, and the street of each vehicle (n,)."""
        spacing = spacing_of(fleet)
        axis = common_axis(fleet.yaw, ways=4)
        places = as_places(fleet.horizontal) * np.exp(-1j * axis)
        quarter = np.rint((fleet.yaw - axis) / (np.pi / 2)).astype(np.int64) % 4
        turning = np.abs(wrapped(fleet.yaw - axis - quarter * np.pi / 2)) > OFF_COURSE
        if turning.mean() > 0.5:
            raise ScenarioError("vehicles must point along streets that cross at right angles: draw a fleet on streets")
        along_y, way = quarter % 2, np.where(quarter < 2, 1, -1)
        across = np.where(along_y == 1, places.real, places.imag)
        both = [_lines(across[seen], way[seen], turning[seen], spacing) for seen in (along_y == 0, along_y == 1)]
        gaps = np.concatenate([np.diff(line) for line, _ in both])
        block = float(np.median(gaps)) if len(gaps) else BLOCK * spacing
        # The ring road goes round counter-clockwise: east in the south, north in the east, and so on.
        (roads, road_ways), (avenues, avenue_ways) = (
            _extended(*lines, block, along, first)
            for lines, along, first in zip(both, (places.imag, places.real), (1, -1), strict=True)
        )
        line, ways = np.concatenate([roads, avenues]), np.concatenate([road_ways, avenue_ways])
        narrowest = min(np.diff(roads).min(), np.diff(avenues).min())
        plan = cls(axis, line, ways, len(roads), ZONE * float(narrowest))
        return plan, plan._nearest_street(across, along_y, way)

    def is_along_y(self, street: IntArray) -> npt.NDArray[np.bool_]:
        """Which of the streets run along y."""
        return street >= self.roads

    def crossing(self, street: IntArray, other: IntArray) -> IntArray:
        """The number of the crossing of two streets, whichever of them comes first."""
        return np.minimum(street, other) * len(self.line) + np.maximum(street, other)

    def mileage(self, street: IntArray, other: IntArray) -> FloatArray:
        """Where on the street its crossing with another one is."""
        return self.way[street] * self.line[other]

    def to_middle(self, street: IntArray, other: IntArray) -> FloatArray:
        """How far it is along a street to abreast of the plan's middle, from its crossing with another one.

        -1 … 1: 1 at one end of the street, where all of it is still ahead, and -1 at the other.
        """
        low = self.line[np.where(self.is_along_y(street), 0, self.roads)]
        high = self.line[np.where(self.is_along_y(street), self.roads - 1, len(self.line) - 1)]
        return self.way[street] * (low + high - 2 * self.line[other]) / (high - low)

    def leads_on(self, street: IntArray, other: IntArray) -> npt.NDArray[np.bool_]:
        """Whether the street goes on after its crossing with another one."""
        after = other + self.way[street]
        first = np.where(self.is_along_y(street), 0, self.roads)
        last = np.where(self.is_along_y(street), self.roads, len(self.line))
        return (first <= after) & (after < last)

    def ahead(self, street: IntArray, mileage: FloatArray) -> IntArray:
        """The next street that each will cross; the crossing that it is in counts."""
        found = np.empty_like(street)
        for along_y in (False, True):
            others = np.arange(self.roads) if along_y else np.arange(self.roads, len(self.line))
            mine = np.flatnonzero(self.is_along_y(street) == along_y)
            for way in (1, -1):
                chosen = mine[self.way[street[mine]] == way]
                order = others[::way]
                places = np.searchsorted(way * self.line[order] + self.zone, mileage[chosen])
                found[chosen] = order[np.minimum(places, len(order) - 1)]
        return found

    def directions(self, street: IntArray) -> ComplexArray:
        """(n,) unit vectors the way that streets go."""
        return np.asarray(self.way[street] * np.where(self.is_along_y(street), 1j, 1.0), dtype=np.complex128)

    def _nearest_street(self, across: FloatArray, along_y: IntArray, way: IntArray) -> IntArray:
        """For each vehicle the nearest street that goes its way."""
        away = np.abs(across[:, None] - self.line)
        other = (self.is_along_y(np.arange(len(self.line))) != along_y[:, None].astype(np.bool_)) | (
            self.way != way[:, None]
        )
        return np.asarray(np.where(other, np.inf, away).argmin(axis=1), dtype=np.int64)


def _lines(
    across: FloatArray, way: IntArray, turning: npt.NDArray[np.bool_], spacing: float
) -> tuple[FloatArray, IntArray]:
    """Where the streets of one direction lie, sorted, and which way each goes."""
    # Who is turning is a little off its street, and shows where that is only if nobody else does.
    from_others = np.abs(across[:, None] - across[~turning]).min(axis=1, initial=np.inf)
    order = np.flatnonzero(~turning | (from_others > ALONE * spacing))
    order = order[np.argsort(across[order])]
    groups = np.split(order, np.flatnonzero(np.diff(across[order]) > SAME_STREET * spacing) + 1) if len(order) else []
    for group in groups:
        if len(set(way[group].tolist())) > 1:
            raise ScenarioError("vehicles must not drive against each other in one street: draw a fleet on streets")
    line = np.array([np.median(across[group]) for group in groups])
    return line, np.array([way[group[0]] for group in groups], dtype=np.int64)


def _extended(
    line: FloatArray, way: IntArray, block: float, along: FloatArray, first: int
) -> tuple[FloatArray, IntArray]:
    """The streets with more on either side, beyond all places along (n,), in turn one way and the other.

    - first: which way the lowest one goes; the highest goes the other way.
    """
    if len(line) == 0:
        line, way = np.array([np.median(along)]), np.array([first], dtype=np.int64)
    below = BEYOND + max(0, int(np.ceil((line[0] - along.min()) / block)))
    above = BEYOND + max(0, int(np.ceil((along.max() - line[-1]) / block)))
    lines = [line[0] - block * np.arange(below, 0, -1), line, line[-1] + block * np.arange(1, above + 1)]
    ways = [first * (-1) ** np.arange(below), way, -first * (-1) ** np.arange(above)[::-1]]
    return np.concatenate(lines), np.concatenate(ways)
