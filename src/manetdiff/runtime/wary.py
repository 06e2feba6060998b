"""Where it is not quite known where nodes are: layouts in which a link must hold, too."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from manetdiff.layout import Layout
from manetdiff.layout.tables import BY_DISTANCE, DISTANCE, NEAREST

# Where places are uncertain, every node is also taken to be turned either way by so many standard deviations of the
# bearing of its near peers, and a link that then shares an antenna costs so much of what a link carries. On 80 layouts
# of 16 nodes, with noise of 0.01 and 0.03 spreads: one deviation more leaves 2 to 3 more topologies of 100 valid, and
# costs 1 to 2 % of T; from twice the price on little changes.
TURNED_BY, CROWDING_SHARE = 1.5, 0.6
NEAR_PEERS = 3


def wary_layouts(layout: Layout, uncertainty: float) -> tuple[Layout, ...]:
    """The layout with every node turned to the left and to the right by what its bearings are uncertain by, and with a
    range that is shorter by what distances are.

    A node that looks out of place by some metres looks to its peers as if it had turned: what lies near the edge of a
    sector may be on its other side. Turning all nodes finds all such links at once, and costs two more states instead
    of a search over many guesses.
    """
    fleet, radio, tables = layout.fleet, layout.radio, layout.tables
    error = TURNED_BY * math.sqrt(2) * uncertainty / layout.placement.unit
    near = np.empty(len(layout))
    for i in range(len(layout)):
        begin, end = tables.starts[NEAREST, i], tables.starts[NEAREST, i + 1]
        slots = tables.lists[BY_DISTANCE, begin : min(end, begin + NEAR_PEERS)]
        near[i] = np.median(tables.floats[DISTANCE, slots]) if len(slots) else np.inf
    angle = np.minimum(error / near, math.pi / radio.sectors / 2)
    shorter = replace(radio, range=max(radio.range - error, radio.range / 2))
    return tuple(Layout(fleet.replace(yaw=fleet.yaw + side * angle), shorter) for side in (1, -1))
