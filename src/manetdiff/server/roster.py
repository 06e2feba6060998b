"""Who is in a network: where each node was last heard of, and when; who is stale, and who is gone."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.checks import first_repeated
from manetdiff.errors import FleetError
from manetdiff.fleet import Fleet, LocalFrame
from manetdiff.fleet.coincidence import CLOSEST, coincident_pair
from manetdiff.fleet.geodetic import compass_to_yaw
from manetdiff.server.errors import ConflictError, RefusedError
from manetdiff.server.messages_in import EarthNode, LocalNode, Positions

# Seconds that a report's time may be away from where the network's clock should be.
LARGEST_JUMP_S = 3600.0
# Metres that the fleet's middle may be away from the middle of its frame: the plane is still level enough there, and a
# frame that stays is a fleet whose places can be compared from one moment to the next.
FARTHEST_FROM_FRAME = 50_000.0
# Metres within which nodes may be said to be at the same place, and by which those are set apart: a fleet cannot hold
# them otherwise.
NEAR, APART = 1e-6, 0.1

Node = LocalNode | EarthNode
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Heard:
    """A node as it was last heard of. time: what the sender says, in seconds. arrived: by the server's steady clock."""

    node: Node
    time: float
    arrived: float
    pointing: float  # radians or degrees, as the node's kind has it


class Merged(NamedTuple):
    """How many nodes of a report were news, how many older than what is known, and how many have left by it.

    - left_out: nodes that are beyond the horizon of most others, and are not taken.
    """

    taken: int
    older: int
    left: int = 0
    left_out: int = 0


class Roster:
    """The nodes of one network. It is changed by the event loop alone; `seen` is a copy for others."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.clock: float | None = None  # the newest time of all reports
        self._arrived = -math.inf  # when that came, by the steady clock
        self._heard: dict[str, Heard] = {}

    def __len__(self) -> int:
        return len(self._heard)

    def merge(self, report: Positions, now: float, patience: float) -> Merged:
        """Take what is news. now: the steady clock. patience: seconds of silence after which any clock is taken.

        A report that does not fit the nodes that are there, or the clock, is refused whole.
        """
        known = self._known(report.time, now, patience)
        if report.complete:
            there = {node.id for node in report.nodes}
            known = {name: one for name, one in known.items() if name in there or one.time > report.time}
        news = [node for node in report.nodes if node.id not in known or report.time >= known[node.id].time]
        older = len(report.nodes) - len(news)
        beyond = _beyond_horizon([*(one.node for name, one in known.items()), *news])
        near = [node for node in news if node.id not in beyond]
        if near:  # else there is nobody to judge by, and the check says what is wrong
            known = {name: one for name, one in known.items() if name not in beyond}
            news = near
        self._check(report, news, known)
        heard = {node.id: Heard(node, report.time, now, _pointing(node, known.get(node.id))) for node in news}
        heard = {**known, **heard}
        _check_fleet(list(heard.values()))
        left = len(self._heard.keys() - heard.keys())
        self._heard = heard
        # A clock that nobody has reached for so long was wrong: one report from the future must not make all else old.
        if news and (self.clock is None or report.time >= self.clock or now - self._arrived > patience):
            self.clock, self._arrived = report.time, now
        return Merged(len(news), older, left, len(report.nodes) - older - len(news))

    def restore(self, nodes: Sequence[Node], times: Sequence[float], clock: float, now: float) -> None:
        """Take nodes as they were when the service last ran: all of them count as just heard."""
        for node, time in zip(nodes, times, strict=True):
            self._heard[node.id] = Heard(node, time, now, _pointing(node, None))
        # Senders may have begun anew in the meantime: whatever clock comes first is taken.
        self.clock, self._arrived = clock, -math.inf

    def forget(self) -> None:
        """Nobody is there, and no clock."""
        self._heard, self.clock, self._arrived = {}, None, -math.inf

    def stale(self, now: float, seconds: float) -> frozenset[str]:
        """Nodes without news for so long, by the steady clock or by that of the senders."""
        clock = self._common_clock()
        return frozenset(name for name, one in self._heard.items() if _age(one, now, clock) > seconds)

    def take_out(self, now: float, seconds: float) -> frozenset[str]:
        """Forget nodes without news for so long; their ids."""
        gone = self.stale(now, seconds)
        for name in gone:
            del self._heard[name]
        return gone

    @property
    def ids(self) -> frozenset[str]:
        """Of all nodes that are there."""
        return frozenset(self._heard)

    def seen(self) -> list[Heard]:
        """All nodes as they are known now."""
        return list(self._heard.values())

    def _common_clock(self) -> float:
        """The senders' time as half of the nodes have reached it: one with a clock ahead makes nobody else old."""
        times = [one.time for one in self._heard.values() if not math.isinf(one.time)]
        return statistics.median_low(times) if times else -math.inf

    def _known(self, time: float, now: float, patience: float) -> dict[str, Heard]:
        """Who is known to a report of this time; after a jump, and where clocks may begin anew, without their times."""
        silent = now - self._arrived > patience
        if self.clock is None or not (self._has_jumped(self.clock, time, now) or (silent and time < self.clock)):
            return self._heard
        if not silent:
            raise ConflictError(
                f"time {time:g} s is more than {LARGEST_JUMP_S:g} s away from the network's clock at "
                f"{self.clock:g} s: after {patience:g} s without reports any clock is taken"
            )
        return {name: Heard(one.node, -math.inf, one.arrived, one.pointing) for name, one in self._heard.items()}

    def _has_jumped(self, clock: float, time: float, now: float) -> bool:
        passed = 0.0 if math.isinf(self._arrived) else now - self._arrived
        return time > clock + passed + LARGEST_JUMP_S or time < clock - LARGEST_JUMP_S

    def _check(self, report: Positions, news: list[Node], known: Mapping[str, Heard]) -> None:
        """That the network can be of the news and of those who stay as they are known."""
        repeated = first_repeated([node.id for node in report.nodes])
        if repeated is not None:
            raise RefusedError(f"node {repeated!r}: the id stands twice")
        new = {node.id for node in news}
        nodes = [*(one.node for name, one in known.items() if name not in new), *news]
        if len(nodes) > self.most:
            raise RefusedError(f"the network would have {len(nodes)} nodes: at most {self.most} are taken")
        for node in news:
            first = nodes[0]
            if type(node) is not type(first):
                raise RefusedError(f"node {node.id!r}: the network's other nodes are given in {_kind(first)}")
            if (_height(node) is None) is not (_height(first) is None):
                told = "has no height, which others have" if _height(node) is None else "has a height, others have none"
                raise RefusedError(f"node {node.id!r} {told}: give all nodes a height, or none")
        _check_horizon([node for node in nodes if isinstance(node, EarthNode)])


def _age(one: Heard, now: float, clock: float) -> float:
    """Seconds without news, by the steady clock or by that of the senders, whichever is longer."""
    return max(now - one.arrived, 0.0 if math.isinf(one.time) else clock - one.time)


def _check_fleet(seen: Sequence[Heard]) -> None:
    """That a fleet can be made of them: a report that cannot be served must not stay."""
    if len(seen) >= 2:
        try:
            fleet_of(seen, None)
        except FleetError as error:
            raise RefusedError(str(error)) from None


def fleet_of(seen: Sequence[Heard], frame: LocalFrame | None) -> Fleet:
    """The fleet, in the frame that it was in before where its middle is still near the middle of that."""
    ids = [one.node.id for one in seen]
    pointing = np.array([one.pointing for one in seen])
    heights = [height for one in seen if (height := _height(one.node)) is not None]
    if isinstance(seen[0].node, LocalNode):
        horizontal = np.array([(one.node.x, one.node.y) for one in seen if isinstance(one.node, LocalNode)])
        chosen, yaw = None, pointing
    else:
        degrees = np.array([(one.node.lat, one.node.lon) for one in seen if isinstance(one.node, EarthNode)])
        chosen, horizontal = _projected(degrees, frame, ids)
        yaw = compass_to_yaw(chosen, degrees[:, 0], degrees[:, 1], pointing)
    positions = np.column_stack([horizontal, heights]) if heights else horizontal
    return Fleet(_set_apart(positions), yaw, ids, chosen)


def _projected(degrees: FloatArray, frame: LocalFrame | None, ids: list[str]) -> tuple[LocalFrame, FloatArray]:
    middle = LocalFrame.around(degrees[:, 0], degrees[:, 1], ids)
    if frame is not None:
        (offset,) = frame.to_xy(np.array([middle.latitude]), np.array([middle.longitude]))
        if np.hypot(*offset) < FARTHEST_FROM_FRAME:
            return frame, frame.to_xy(degrees[:, 0], degrees[:, 1])
    return middle, middle.to_xy(degrees[:, 0], degrees[:, 1])


def _set_apart(positions: FloatArray) -> FloatArray:
    """Nodes that coincide, which receivers on one bench do, each a little away from the others."""
    if len(positions) < 2:
        raise FleetError("a fleet needs at least two nodes: there is nothing to link")
    extent = float(np.ptp(positions, axis=0).max())
    # Cells that are larger than the closest distance, in grids half a cell apart: no pair is parted by all of them.
    cell, apart = max(NEAR, 4 * CLOSEST * extent), max(APART, 16 * CLOSEST * extent)
    placed = positions.copy()
    for shift in itertools.product((0.0, 0.5), repeat=positions.shape[1]):
        if coincident_pair(placed) is None:
            break
        cells = np.floor(placed / cell + shift)
        _, cell_of = np.unique(cells, axis=0, return_inverse=True)
        order = np.argsort(cell_of, kind="stable")
        first = np.searchsorted(cell_of[order], cell_of[order])
        turn = np.empty(len(order))
        turn[order] = np.arange(len(order)) - first  # 0 for the first of each cell, who stays
        # Ever farther, by the golden angle: no two nodes are sent to one place.
        placed[:, :2] += apart * np.sqrt(turn)[:, None] * np.stack([np.cos(2.4 * turn), np.sin(2.4 * turn)], axis=1)
    for attempt in range(1, 4 * len(placed)):  # rare: neighbours of two cells that were sent the same way
        pair = coincident_pair(placed)
        if pair is None:
            break
        placed[pair[1], :2] += apart * np.sqrt(attempt) * np.array([np.cos(2.4 * attempt), np.sin(2.4 * attempt)])
    return placed


def _beyond_horizon(nodes: Sequence[Node]) -> frozenset[str]:
    """Nodes on the other side of the earth from most others: one with a bad fix must not take the network from them."""
    earth = [node for node in nodes if isinstance(node, EarthNode)]
    if len(earth) < 2:
        return frozenset()
    lat, lon = np.radians([(node.lat, node.lon) for node in earth]).T
    directions = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    far = directions @ np.median(directions, axis=0) <= 0.0
    return frozenset(node.id for node, is_far in zip(earth, far.tolist(), strict=True) if is_far)


def _check_horizon(nodes: Sequence[EarthNode]) -> None:
    """That they fit on one side of the earth."""
    if nodes:
        degrees = np.array([(node.lat, node.lon) for node in nodes])
        try:
            LocalFrame.around(degrees[:, 0], degrees[:, 1], [node.id for node in nodes])
        except FleetError as error:
            raise RefusedError(str(error)) from None


def _pointing(node: Node, before: Heard | None) -> float:
    """Where it points: as it says, or where it has gone, or as it did before."""
    said = node.yaw if isinstance(node, LocalNode) else node.heading
    if said is not None:
        return said
    if before is None:
        return 0.0
    if isinstance(node, LocalNode) and isinstance(before.node, LocalNode):
        east, north = node.x - before.node.x, node.y - before.node.y
        return math.atan2(north, east) if (east, north) != (0.0, 0.0) else before.pointing
    if isinstance(node, EarthNode) and isinstance(before.node, EarthNode):
        north = node.lat - before.node.lat
        east = math.remainder(node.lon - before.node.lon, 360.0) * math.cos(math.radians(node.lat))
        return math.degrees(math.atan2(east, north)) % 360.0 if (east, north) != (0.0, 0.0) else before.pointing
    return 0.0


def _height(node: Node) -> float | None:
    return node.z if isinstance(node, LocalNode) else node.alt


def _kind(node: Node) -> str:
    return "metres (x, y)" if isinstance(node, LocalNode) else "degrees (lat, lon)"
