"""Arcs of many layouts in long rows, of any sizes, each layout numbered from 0 within itself: what a batch of a network
on sparse graphs is packed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder
from manetdiff.layout.arcs import (
    ARC_ANTENNA,
    ARC_FEATURE_COUNT,
    ARC_LINK,
    ARC_OWNER,
    ARC_PEER,
    ARC_REVERSE,
    HARMONICS,
    Arcs,
    feature_numbers,
    listed_arcs,
)
from manetdiff.layout.stack import LayoutStack, stacked_tables
from manetdiff.layout.tables import BEARING

Int32 = npt.NDArray[np.int32]
Float32 = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]


class ArcRows(NamedTuple):
    """g layouts one after the other; see `Arcs`.

    - Of arcs: features (p, 15); bearing, owner, reverse, antenna, link (p,). Of links: forward (c,); links (c, 2).
      Of nodes and of antennas: arcs_of_node, arcs_of_antenna, their number of arcs.
    - counts: (g, 4) arcs, nodes, links and antennas of each layout.
    """

    features: Float32
    bearing: Float32
    owner: Int32
    reverse: Int32
    antenna: Int32
    link: Int32
    forward: Int32
    links: IntArray
    arcs_of_node: Int32
    arcs_of_antenna: Int32
    counts: IntArray


def joined_rows(parts: Sequence[ArcRows]) -> ArcRows:
    """One after the other."""
    return parts[0] if len(parts) == 1 else ArcRows._make(np.concatenate(some) for some in zip(*parts, strict=True))


def rows_of(arcs: Arcs) -> ArcRows:
    """Those of one layout."""
    counts = [len(arcs.owner), len(arcs.arcs_of_node), len(arcs.links), len(arcs.arcs_of_antenna)]
    owner, reverse, antenna, link, forward = (
        part.astype(np.int32) for part in (arcs.owner, arcs.reverse, arcs.antenna, arcs.link, arcs.forward)
    )
    return ArcRows(
        features=arcs.features,
        bearing=np.arctan2(arcs.bearings[:, len(HARMONICS)], arcs.bearings[:, 0]),
        owner=owner,
        reverse=reverse,
        antenna=antenna,
        link=link,
        forward=forward,
        links=arcs.links,
        arcs_of_node=arcs.node_there.sum(1).astype(np.int32),
        arcs_of_antenna=arcs.antenna_there.sum(1).astype(np.int32),
        counts=np.array([counts], dtype=np.int64),
    )


def stacked_rows(stack: LayoutStack) -> ArcRows:
    """Those of all layouts of a stack, by one compiled call."""
    made: ArcRows = _stacked_arcs(stack.arrays, feature_numbers(stack.radio))
    return made


@builder
def _stacked_arcs(arrays, numbers):  # type: ignore[no-untyped-def]
    layouts, n = arrays.positions.shape[0], arrays.positions.shape[1]
    most = layouts * n * (n - 1)
    features, bearing = np.empty((most, ARC_FEATURE_COUNT), dtype=np.float32), np.empty(most, dtype=np.float32)
    ints = np.empty((4, most), dtype=np.int32)  # owner, reverse, antenna, link
    forward, pairs = np.empty(most // 2, dtype=np.int32), np.empty((most // 2, 2), dtype=np.int64)
    of_node, of_antenna = np.zeros(layouts * n, dtype=np.int32), np.zeros(most, dtype=np.int32)
    counts = np.empty((layouts, 4), dtype=np.int64)
    arcs, links, antennas = 0, 0, 0
    for b in range(layouts):
        mine, floats, own, outward = listed_arcs(stacked_tables(arrays, b), arrays.forward[b], numbers)
        p, c = mine.shape[1], len(outward)
        features[arcs : arcs + p] = own
        forward[links : links + c] = outward
        in_use = 0
        for at in range(p):
            bearing[arcs + at] = floats[BEARING, at]
            ints[0, arcs + at], ints[1, arcs + at] = mine[ARC_OWNER, at], mine[ARC_REVERSE, at]
            ints[2, arcs + at], ints[3, arcs + at] = mine[ARC_ANTENNA, at], mine[ARC_LINK, at]
            of_node[b * n + mine[ARC_OWNER, at]] += 1
            of_antenna[antennas + mine[ARC_ANTENNA, at]] += 1
            in_use = mine[ARC_ANTENNA, at] + 1
        for m in range(c):
            pairs[links + m, 0], pairs[links + m, 1] = mine[ARC_OWNER, outward[m]], mine[ARC_PEER, outward[m]]
        counts[b, 0], counts[b, 1], counts[b, 2], counts[b, 3] = p, n, c, in_use
        arcs, links, antennas = arcs + p, links + c, antennas + in_use
    return ArcRows(
        features[:arcs].copy(), bearing[:arcs].copy(), ints[0, :arcs].copy(), ints[1, :arcs].copy(),
        ints[2, :arcs].copy(), ints[3, :arcs].copy(), forward[:links].copy(), pairs[:links].copy(), of_node,
        of_antenna[:antennas].copy(), counts,
    )  # fmt: skip
