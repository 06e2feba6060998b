"""The metrics: one definition for every method, table and figure of the project."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from manetdiff.errors import TopologyError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import Radio, link_rates
from manetdiff.topology.components import count_components
from manetdiff.topology.constraints import antenna_loads, same_parity
from manetdiff.topology.matching import matched_links
from manetdiff.topology.topology import Topology

# Of the time, how much a direction of a link has: one of two slots.
SLOT_SHARE = 0.5

# What is stored of a topology and averaged over sets of them; `sustained` follows from the throughput.
METRICS = (
    "links",
    "mean_length",
    "link_throughput",
    "throughput",
    "antenna_saturation",
    "node_saturation",
    "connected",
    "parity",
    "valid",
)


def metrics(topology: Topology, fleet: Fleet | Layout | None = None, radio: Radio | None = None) -> dict[str, float]:
    """All metrics of one topology, by the names in METRICS, and `sustained`; shares are 0 … 1.

    - fleet: a fleet or a layout; by default the topology's own. radio: by default the one that it was made for.

    The topology is scored as it is: links that break the parity count in links, length, saturation and connectivity,
    and carry no throughput. Rates and throughput are those while a slot lasts; each direction of a link has one of the
    two slots, so what gets through on average, `sustained`, is half of it. A topology without links has mean_length,
    link_throughput and saturations 0 and parity 1.
    """
    layout = topology.on(fleet, radio)
    count = len(topology.links)
    total = float(link_rates(layout.placement, topology.links, topology.parity).sum())
    loads = antenna_loads(topology, layout)
    saturated = loads > 1
    violations = int(same_parity(topology).sum())
    connected = count_components(topology.links, len(layout)) == 1
    lengths = layout.pairs(topology.links).distance[:, 0]
    return {
        "links": float(count),
        "mean_length": float(lengths.mean()) if count else 0.0,
        "link_throughput": total / count if count else 0.0,
        "throughput": total,
        "sustained": total * SLOT_SHARE,
        "antenna_saturation": float(saturated.sum() / max(1, (loads > 0).sum())),
        "node_saturation": float(saturated.any(axis=1).mean()),
        "connected": float(connected),
        "parity": 1.0 - violations / count if count else 1.0,
        # No number of ours overflows; if one ever did, the topology would not count.
        "valid": float(connected and violations == 0 and not saturated.any() and math.isfinite(total)),
    }


def rates(
    topology: Topology | Sequence[Topology],
    fleet: Fleet | Layout | Sequence[Fleet | Layout] | None = None,
    radio: Radio | None = None,
) -> npt.NDArray[np.float64] | list[npt.NDArray[np.float64]]:
    """(m, 2) rates in Mbit/s of each link, first node to second and back; a list of them for a batch.

    - fleet, radio: as for metrics.
    """
    if isinstance(topology, Topology) and (fleet is None or isinstance(fleet, Fleet | Layout)):
        return link_rates(topology.on(fleet, radio).placement, topology.links, topology.parity)
    if isinstance(topology, Topology) or fleet is None or isinstance(fleet, Fleet | Layout):
        raise TopologyError("a batch of rates needs a list of topologies and a list of fleets, one for one")
    if len(topology) != len(fleet):
        raise TopologyError(f"{len(topology)} topologies for {len(fleet)} fleets")
    layouts = [one.on(where, radio) for one, where in zip(topology, fleet, strict=True)]
    return [link_rates(on.placement, one.links, one.parity) for on, one in zip(layouts, topology, strict=True)]


def continuity(before: Topology, after: Topology) -> float:
    """|E ∩ E'| / |E ∪ E'|: how alike two topologies are; 1 where both are empty.

    Nodes are matched by id where both know their fleets, by index where not: a link of a node that left is dropped.
    """
    shared, union = _overlap(before, after)
    return shared / union if union else 1.0


def kept(before: Topology, after: Topology) -> float:
    """|E ∩ E'| / |E|: share of the old links that are still there; 1 where there were none. Nodes as for continuity."""
    shared, _ = _overlap(before, after)
    return shared / len(before.links) if len(before.links) else 1.0


def _overlap(before: Topology, after: Topology) -> tuple[int, int]:
    old, new = (set(map(tuple, links.tolist())) for links in matched_links(before, after))
    return len(old & new), len(old | new)
