"""Swaps that would raise T, but that loyalty to the links there were has held back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.flights.what_if import WhatIf
from manetdiff.layout import ARC_FEATURES, Layout
from manetdiff.radio.pairs import EVERY_PAIR
from manetdiff.topology import count_components

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# How many are told.
MOST_TOLD = 10
# In fleets of more than EVERY_PAIR nodes, how many are scored.
MOST_SCORED = 200
# Of T, what counts as a gain: more than rounding.
LEAST_GAIN = 1e-9


class Swap(NamedTuple):
    """A link (2,) that is not there, which of the links that are it would push off, (m,), and what T gains by it."""

    link: IntArray
    gone: BoolArray
    gain: float


def held_back_swaps(what_if: WhatIf, were: IntArray, loyalty: float) -> list[Swap]:
    """Links that would raise T, the largest gains first.

    Each would push off what holds its two antennas: more links that were kept than loyalty lets go for its gain. What
    gains more than those are worth is not among them: nothing held it back, though a search may not have found it.

    - were: (k, 2) links that there were before, i < j. loyalty: what one that is kept instead of being exchanged is
      worth, in Mbit/s: half of it for every link that comes or goes.
    """
    if loyalty == 0:
        return []
    n = len(what_if.parity)
    parts = count_components(what_if.links, n)
    found = []
    for link, antennas, changes in zip(*_proposed(what_if, were), strict=True):
        gone = what_if.in_the_way(antennas)
        links = what_if.swapped(link, gone)
        if count_components(links, n) > parts:
            continue
        gain = what_if.throughput_of(links) - what_if.throughput
        if LEAST_GAIN * what_if.throughput < gain < loyalty * changes / 2:
            found.append(Swap(link, gone, gain))
    return sorted(found, key=lambda swap: -swap.gain)[:MOST_TOLD]


def _proposed(what_if: WhatIf, were: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Candidates (c, 2) that could take the place of links that were kept; their antennas (c, 2); how many (c,) more
    links would have come or gone. In large fleets only those that would carry the most if they were alone."""
    layout = what_if.layouts[0]
    links, rate = _candidates(layout)
    opposite = what_if.parity[links[:, 0]] != what_if.parity[links[:, 1]]
    possible = opposite & ~_among(links, what_if.links, len(layout))
    antennas = what_if.antennas_of(links)
    # A link that is not there shares no more than one antenna with any that is: none is counted twice.
    kept, held = (_held(what_if, some)[antennas].sum(axis=1) for some in (were, what_if.links))
    # What was kept goes, what had come is gone again, and the link itself comes, or comes back.
    changes = kept - (held - kept) + np.where(_among(links, were, len(layout)), -1, 1)
    possible &= (kept > 0) & (changes > 0) & ~_held(what_if, layout.keep)[antennas].any(axis=1)
    chosen = np.flatnonzero(possible)
    if len(layout) > EVERY_PAIR:
        chosen = chosen[np.argsort(-rate[chosen], kind="stable")[:MOST_SCORED]]
    return links[chosen], antennas[chosen], changes[chosen]


def _candidates(layout: Layout) -> tuple[IntArray, npt.NDArray[np.float32]]:
    """(c, 2) with i < j, and the rate (c,) that each would have alone, the same both ways."""
    arcs = layout.arcs
    return arcs.links, arcs.features[arcs.forward, ARC_FEATURES.index("rate")]


def _held(what_if: WhatIf, links: IntArray) -> IntArray:
    """(n · Q,) how many of the topology's links that are also among these each antenna holds."""
    n = len(what_if.parity)
    both = _among(what_if.links, links, n)
    return np.bincount(what_if.antennas[both].ravel(), minlength=n * what_if.layouts[0].radio.sectors)


def _among(links: IntArray, others: IntArray, n: int) -> BoolArray:
    """(m,) which of the links (m, 2) are among others (k, 2), in either direction."""
    own, known = (np.sort(pairs, axis=1) @ np.array([n, 1]) for pairs in (links, others))
    return np.isin(own, known)
