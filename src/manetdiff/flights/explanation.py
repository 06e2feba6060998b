"""Why one topology follows from another: each link that changed, and what was left as it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manetdiff.checks import check_at_least_0
from manetdiff.errors import TopologyError
from manetdiff.fleet import Fleet
from manetdiff.flights.changes import Change, Link, all_named
from manetdiff.flights.held_back import held_back_swaps
from manetdiff.flights.reasons import FORCED, NODE_GONE, OUT_OF_RANGE, Comparison
from manetdiff.flights.what_if import WhatIf
from manetdiff.layout import Layout
from manetdiff.runtime.objective import layouts_ahead
from manetdiff.topology import Topology, check_related, continuity


@dataclass(frozen=True)
class Explanation:
    """What has changed from one topology to the next, and why.

    - changes: those that were forced first, then those that are worth the most. held_back: links that would have
      raised T by less than the links are worth that they would have pushed off, the largest gains first.
    - throughput: T of the new topology; before: of the old links as they are, among the present nodes; both in Mbit/s,
      means over the new layout and those ahead.
    - continuity: of the links, as in the metrics.
    """

    changes: tuple[Change, ...]
    held_back: tuple[Change, ...]
    throughput: float
    before: float
    continuity: float

    def lines(self) -> list[str]:
        """A line for each change, then one for each that was held back."""
        return [str(change) for change in (*self.changes, *self.held_back)]

    def to_dict(self) -> dict[str, Any]:
        """All that is said, JSON-ready."""
        return {
            "throughput": self.throughput,
            "before": self.before,
            "continuity": self.continuity,
            "changes": [change.to_dict() for change in self.changes],
            "held_back": [change.to_dict() for change in self.held_back],
        }


def explain(
    old: Topology, new: Topology, *, loyalty: float | None = None, ahead: Sequence[Fleet | Layout] = ()
) -> Explanation:
    """Why the links of `new` are others than those of `old`. Both know their layouts; nodes are matched by id.

    - loyalty: what a link that is kept instead of being exchanged was worth when `new` was made, in bit/s/Hz; by
      default what its report says, and nothing where that says nothing.
    - ahead: where the nodes of `new` will be, if T was to be high there, too: it is then the mean over all of these.

    Reasons why a link was dropped, the first that holds:

    - 'node gone'; 'out of range' (or blocked); 'sector left': a link that was kept now needs the same antenna, which
      it did not before. These were forced.
    - 'parity': its nodes now send at the same time. 'pushed off': an added link holds one of its antennas. 'by choice':
      none of these, so that its interference was worth more than the link.

    Why one was added: 'node joined'; 'takes the place of' links that were dropped and that held one of its antennas, or
    would hold it now; 'joins parts': neither the other links nor those of before would join its nodes; 'sector free':
    no link of before holds its antennas; 'by choice': it shares an antenna with one that was kept.

    A dropped link is put back instead of what holds its antennas to see what dropping it was worth. A node counts as
    turned where its parity differs from before, apart from flips of whole parts of the network, which change nothing.
    Swaps that were held back are found among the layout's candidates, in fleets of more than 64 nodes among the 200 of
    the highest rates.
    """
    told = new.report.loyalty if loyalty is None else loyalty
    worth = 0.0 if loyalty is None and math.isnan(told) else told
    check_at_least_0(TopologyError, "loyalty", worth)
    layouts = [new.on(), *layouts_ahead(ahead, new.on())]
    check_related(old.on().fleet, layouts[0].fleet)
    compared, what_if = Comparison(old, new), WhatIf(new, layouts)
    changes = [
        *(_dropped(link, compared, what_if) for link in compared.dropped),
        *(_added(link, compared, what_if) for link in compared.added),
        *(Change("turned", reason, node=name) for name, reason in compared.turned()),
    ]
    return Explanation(
        changes=tuple(sorted(changes, key=_weight)),
        held_back=tuple(_held_back(compared, what_if, worth * layouts[0].radio.bandwidth / 1e6)),
        throughput=what_if.throughput,
        before=WhatIf(compared.carried, layouts).throughput,
        continuity=continuity(old, new),
    )


def _dropped(link: Link, compared: Comparison, what_if: WhatIf) -> Change:
    reason = compared.why_dropped(link)
    gain = None
    if reason not in (NODE_GONE, OUT_OF_RANGE) and not compared.of_one_parity(link):
        pair = np.array([compared.index[end] for end in link])
        gone = what_if.in_the_way(what_if.antennas_of(pair[None]))
        gain = what_if.throughput - what_if.throughput_of(what_if.swapped(pair, gone))
    return Change("dropped", reason, link, forced=reason in FORCED, gain=gain)


def _added(link: Link, compared: Comparison, what_if: WhatIf) -> Change:
    pair = sorted(compared.index[end] for end in link)
    others = what_if.links[(what_if.links != pair).any(axis=1)]
    return Change("added", compared.why_added(link), link, gain=what_if.throughput - what_if.throughput_of(others))


def _held_back(compared: Comparison, what_if: WhatIf, loyalty: float) -> list[Change]:
    told = []
    for swap in held_back_swaps(what_if, compared.carried.links, loyalty):
        off = all_named(compared.name_of(link) for link in what_if.links[swap.gone])
        told.append(Change("held back", f"would push off {off}", compared.name_of(swap.link), gain=swap.gain))
    return told


def _weight(change: Change) -> tuple[bool, bool, float]:
    return not change.forced, change.gain is None, -abs(change.gain or 0.0)
