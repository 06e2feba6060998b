"""What counts beside T now: T where the fleet will be, links that are kept, and links that hold wherever nodes are.

What is raised, and by what the best topology is chosen, is T, the mean over now and what lies ahead, and `loyalty` for
every link that is kept instead of being exchanged. A link that comes or goes
alone costs half the loyalty: measured on flights, that keeps more links and T than paying for kept links only, because
free antennas are else filled with links that do not last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from manetdiff.checks import check_above_0, check_at_least_0
from manetdiff.errors import FleetError, ModelError
from manetdiff.fleet import Fleet
from manetdiff.fleet.coincidence import coincident_pair
from manetdiff.fleet.prediction import seen_from
from manetdiff.layout import Layout
from manetdiff.radio import link_rates
from manetdiff.runtime.previous import PreviousLinks
from manetdiff.runtime.samples import Sample
from manetdiff.runtime.wary import CROWDING_SHARE, wary_layouts
from manetdiff.solvers.loyalty import Loyalty
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import places_in

# What a kept link is worth where nobody says, as a share of what a link carries.
USUAL_SHARE = 0.3
# Of a way, and of the fleet's scale: far enough to be apart, and no distance that matters.
NOT_QUITE = 1e-6


class Before(NamedTuple):
    """What an update starts from. sample: the previous links, with what pins say about them. worth: of a kept link, in
    Mbit/s."""

    sample: Sample
    previous: PreviousLinks
    worth: float


@dataclass(frozen=True)
class LoyaltyAsked:
    """What a kept link is worth.

    - loyalty: in bit/s/Hz; None: by setup and elapsed, or as usual.
    - setup: seconds until a new link carries anything. elapsed: seconds since the last update, about as many as until
      the next one.
    """

    loyalty: float | None = None
    setup: float | None = None
    elapsed: float | None = None

    def __post_init__(self) -> None:
        if self.setup is not None and self.elapsed is None:
            raise ModelError("setup goes with elapsed: what a kept link is worth follows from both")
        for name in ("loyalty", "setup"):
            if getattr(self, name) is not None:
                check_at_least_0(ModelError, name, getattr(self, name))
        if self.elapsed is not None:
            check_above_0(ModelError, "elapsed", self.elapsed)

    def share(self, link: float) -> float:
        """What a kept link is worth, as a share of what one carries, in bit/s/Hz."""
        if self.loyalty is not None:
            return self.loyalty / link
        if self.setup is None or self.elapsed is None:
            return USUAL_SHARE
        return share_for(self.setup / self.elapsed)


def share_for(setups_an_update: float) -> float:
    """What a kept link is worth, as a share of what it carries, where setting one up takes so much of the time between
    updates: half of what is lost meanwhile, because a link outlasts an update, and half of the link at most. Fitted by
    what is delivered on flights with updates every 1, 4 and 10 s."""
    return setups_an_update / (2 + 2 * setups_an_update)


def usual_link(previous: PreviousLinks, layout: Layout) -> float:
    """What a link of the previous topology carries where the fleet is now, in bit/s/Hz: the median of those that carry
    anything, so that links that have got lost do not count."""
    topology = previous.topology
    carried = link_rates(layout.placement, topology.links, topology.parity).sum(axis=1)
    carried = carried[carried > 0]
    return float(np.median(carried)) / (layout.radio.bandwidth / 1e6) if len(carried) else 1.0


@dataclass(frozen=True)
class Objective:
    """ahead: layouts of the same nodes where they will be. before: of an update. uncertainty: of places, in metres; 0:
    none."""

    ahead: tuple[Layout, ...] = ()
    before: Before | None = None
    uncertainty: float = 0.0

    @property
    def plain(self) -> bool:
        """Whether nothing counts but T now."""
        return not self.ahead and self.before is None and not self.uncertainty

    def set_on(self, bench: Workbench, link: float) -> None:
        """Make a bench look ahead, and all around. link: what one carries on average, in Mbit/s."""
        wary = wary_layouts(bench.layout, self.uncertainty) if self.uncertainty else ()
        bench.look_ahead([*self.ahead, *wary], [*(0.0 for _ in self.ahead), *(CROWDING_SHARE * link for _ in wary)])

    @property
    def loyalty(self) -> Loyalty | None:
        """Of an update."""
        before = self.before
        return None if before is None else Loyalty(before.previous.topology.links, before.previous.known, before.worth)


def layouts_ahead(ahead: Sequence[Fleet | Layout], now: Layout) -> tuple[Layout, ...]:
    """The same nodes under the same radio where they will be; who has not come yet is left out."""
    return tuple(
        Layout(_same_nodes(one.fleet if isinstance(one, Layout) else one, now.fleet), now.radio) for one in ahead
    )


def _same_nodes(later: Fleet, now: Fleet) -> Fleet:
    """The nodes of now, where they are in later; who is not there goes along with the others. What later does not say
    of heights, and azimuths that are blocked, are as they are now."""
    if not isinstance(later, Fleet):
        raise FleetError(f"ahead: give Fleets, not {type(later).__name__}")
    place = places_in(later, now)
    there = place >= 0
    if not there.any():
        raise FleetError("ahead: a fleet to come shares no node with the fleet (nodes are matched by id)")
    horizontal, turned = seen_from(later, now)
    way = np.zeros_like(now.positions)
    way[there, :2] = horizontal[place[there]] - now.horizontal[there]
    if now.has_heights and later.has_heights:
        way[there, 2] = later.heights[place[there]] - now.heights[there]
    way[~there] = way[there].mean(axis=0)
    yaw = np.where(there, turned[place], now.yaw)
    positions = now.positions + way
    # Two of one fleet are never in one place, but who is not there any more may come to be where another is.
    while coincident_pair(positions) is not None:
        way[~there] *= 1 - NOT_QUITE
        positions = now.positions + way + np.where(there[:, None], 0.0, NOT_QUITE * now.scale)
    return now.replace(positions, yaw)
