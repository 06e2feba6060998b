"""What gets through over a flight: T over time, less what is lost while new links are pointed and acquired."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from manetdiff.checks import check_at_least_0
from manetdiff.errors import TopologyError
from manetdiff.layout import Layout
from manetdiff.radio import link_rates
from manetdiff.topology import Topology, carried_over

FloatArray = npt.NDArray[np.float64]
# A link by the ids of its ends.
Named = tuple[str, str]


def delivered(moments: Sequence[tuple[float, Topology]], setup: float = 0.0) -> float:
    """Mbit/s that got through on average, from the first moment to the last.

    - moments: seconds and the topology from then on, which knows its layout, in the order of time.
    - setup: seconds until a new link carries anything. The first topology's links are taken to stand already. A link
      that was dropped and comes again is new.

    In between moments a link's rate goes from what it has where the fleet is at the one to what it has, by the same
    topology, where the fleet is at the next; links of nodes that have left by then fall to nothing.
    """
    each = delivered_between(moments, setup)
    times = np.diff([time for time, _ in moments])
    if len(each) == 0:
        (_, only), *_ = moments
        return float(_rates(only).sum())
    return float(np.average(each, weights=times))


def delivered_between(moments: Sequence[tuple[float, Topology]], setup: float = 0.0) -> FloatArray:
    """(m - 1,) the same for each interval between two moments."""
    check_at_least_0(TopologyError, "setup", setup)
    if not moments:
        raise TopologyError("delivered: give at least one moment")
    if not all(before < after < np.inf for (before, _), (after, _) in pairwise(moments)):
        raise TopologyError("delivered: the moments must come in the order of time")
    since: dict[Named, float] = {}
    made = np.empty(len(moments) - 1)
    for k, (time, topology) in enumerate(moments[:-1]):
        names = link_names(topology)
        since = {name: since.get(name, time if k else -np.inf) for name in names}
        until, then = moments[k + 1]
        up = np.array([since[name] + setup for name in names])
        share = ((up - time) / (until - time)).clip(0.0, 1.0)  # of the interval, before the link carries anything
        first, last = _rates(topology), _rates_later(topology, names, then.on())
        at_start = first + (last - first) * share
        made[k] = float(((1 - share) * (at_start + last) / 2).sum())
    return made


def link_names(topology: Topology) -> list[Named]:
    """The links, in their order, by the ids at their ends, which stay the same while nodes join and leave."""
    ids = topology.on().fleet.ids
    return [(min(ids[i], ids[j]), max(ids[i], ids[j])) for i, j in topology.links.tolist()]


def _rates(topology: Topology) -> FloatArray:
    """(m,) of both directions of each link."""
    return np.asarray(link_rates(topology.on().placement, topology.links, topology.parity).sum(axis=1))


def _rates_later(topology: Topology, names: Sequence[Named], later: Layout) -> FloatArray:
    """(m,) of the same links where the fleet is later."""
    there = carried_over(topology, later)
    rates = dict(zip(link_names(there), _rates(there).tolist(), strict=True))
    return np.array([rates.get(name, 0.0) for name in names])
