"""A flight that the service flies itself: to show what it does, and to try settings on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from manetdiff.errors import ScenarioError
from manetdiff.fleet import Fleet
from manetdiff.scenarios import MOTIONS, draw, motions_of
from manetdiff.scenarios.motion import Moment, journey
from manetdiff.server.errors import RefusedError
from manetdiff.server.messages_in import FARTHEST, EarthNode, LocalNode, NewFlight, Positions

# Seconds of flight between the moments that are flown; what is in between is a straight line.
STEP_S = 1.0
# Seconds of flight that are flown at once at most: where updates take long the fleet flies slower, not in jumps.
LONGEST_S = 5.0


class _Now(NamedTuple):
    """Between two moments. since: seconds since the last."""

    last: Moment
    next: Moment
    since: float


class Flown:
    """A fleet on its way. Nodes that somebody has dragged elsewhere fly on from there."""

    def __init__(self, plan: NewFlight, start: Fleet | None = None, time: float = 0.0) -> None:
        """start, time: where and when to go on, after a break; by default a fleet of the plan's family is drawn."""
        rng = np.random.default_rng(plan.seed)
        suited = motions_of(plan.family)
        motion = plan.motion or suited[0]
        if motion not in MOTIONS or motion not in suited:
            raise ScenarioError(f"motion must be one of {', '.join(suited)} for {plan.family}, not {motion!r}")
        self.plan = plan.model_copy(update={"motion": motion})
        self.time = time
        self._fleet = draw(plan.family, plan.nodes, rng) if start is None else start
        way = journey(self._fleet, motion, rng)
        self._step_s = min(STEP_S, way.longest_step_s)
        self._path: Iterator[Moment] = way.path(self._step_s)
        self._now = _Now(next(self._path), next(self._path), 0.0)
        self._dragged: dict[str, tuple[float, float]] = {}  # metres, by id
        self._turned: dict[str, float] = {}  # radians

    def go(self, seconds: float) -> None:
        """Fly on for so many seconds."""
        seconds = min(seconds, LONGEST_S)
        last, after, since = self._now.last, self._now.next, self._now.since + seconds
        while since >= self._step_s:
            since -= self._step_s
            last, after = after, next(self._path)
        # All at once: somebody may drag a node meanwhile, and must not see it half way.
        self._now = _Now(last, after, since)
        self.time += seconds

    def drag(self, report: Positions) -> None:
        """Take nodes to where the report has them."""
        fleet = self.fleet()
        places = {name: place for place, name in enumerate(fleet.ids)}
        for node in report.nodes:
            if isinstance(node, EarthNode) or node.id not in places:
                raise RefusedError(f"node {node.id!r} is not of the flight, whose nodes are moved in metres (x, y)")
        for node in report.nodes:
            assert isinstance(node, LocalNode)
            x, y = fleet.horizontal[places[node.id]]
            east, north = self._dragged.get(node.id, (0.0, 0.0))
            self._dragged[node.id] = (east + node.x - x, north + node.y - y)
            if node.yaw is not None:
                turned = node.yaw - fleet.yaw[places[node.id]]
                self._turned[node.id] = self._turned.get(node.id, 0.0) + turned

    def fleet(self) -> Fleet:
        """Where it is now."""
        at = self._now
        now = at.last.between(at.next, at.since / self._step_s).as_fleet(like=self._fleet)
        if not self._dragged and not self._turned:
            return now
        positions, yaw = now.positions.copy(), now.yaw.copy()
        for place, name in enumerate(now.ids):
            positions[place, :2] += self._dragged.get(name, (0.0, 0.0))
            yaw[place] += self._turned.get(name, 0.0)
        return now.replace(positions, yaw)

    def report(self) -> Positions:
        """Where it is now, as a report of all nodes."""
        fleet = self.fleet()
        # Nobody flies on beyond what a report may say, wherever they were dragged to.
        places = np.clip(fleet.horizontal, -FARTHEST, FARTHEST).tolist()
        heights = fleet.heights.tolist() if fleet.has_heights else [None] * len(fleet)
        nodes: list[LocalNode | EarthNode] = [
            LocalNode(id=name, x=x, y=y, z=z, yaw=math.remainder(yaw, math.tau))
            for name, (x, y), z, yaw in zip(fleet.ids, places, heights, fleet.yaw.tolist(), strict=True)
        ]
        return Positions(time=self.time, nodes=nodes, complete=True)

    def to_dict(self) -> dict[str, object]:
        """JSON-ready."""
        return {**self.plan.model_dump(), "time": self.time}
