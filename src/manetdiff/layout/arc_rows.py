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
    ARC_LINK,
    ARC_OWNER,
    ARC_PEER,
    ARC_REVERSE,
    HARMONICS,
    Arcs,
    arc_features,
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
    ints, floats, forward, counts, of_antenna = _stacked_arcs(stack.arrays)
    arcs, nodes, links, _ = counts.T
    # Of each arc the node in the row of all nodes, and of each link the arc in the row of all arcs.
    node = ints[ARC_OWNER] + np.repeat(np.cumsum(nodes) - nodes, arcs)
    arc = forward + np.repeat(np.cumsum(arcs) - arcs, links)
    return ArcRows(
        features=arc_features(stack.radio, ints, floats, stack.forward.ravel()[node]),
        bearing=floats[BEARING].astype(np.float32),
        owner=ints[ARC_OWNER],
        reverse=ints[ARC_REVERSE],
        antenna=ints[ARC_ANTENNA],
        link=ints[ARC_LINK],
        forward=forward,
        links=np.stack([ints[ARC_OWNER, arc], ints[ARC_PEER, arc]], axis=1).astype(np.int64),
        arcs_of_node=np.bincount(node, minlength=int(nodes.sum())).astype(np.int32),
        arcs_of_antenna=of_antenna,
        counts=counts,
    )


@builder
def _stacked_arcs(arrays):  # type: ignore[no-untyped-def]
    """What `listed_arcs` gives, of all layouts of a stack in a row; counts (b, 4); arcs of each antenna."""
    layouts, n = arrays.positions.shape[0], arrays.positions.shape[1]
    most = layouts * n * (n - 1)
    ints, floats = np.empty((6, most), dtype=np.int32), np.empty((8, most))
    forward, of_antenna = np.empty(most // 2, dtype=np.int32), np.zeros(most, dtype=np.int32)
    counts = np.empty((layouts, 4), dtype=np.int64)
    arcs, links, antennas = 0, 0, 0
    for b in range(layouts):
        mine, numbers, outward = listed_arcs(stacked_tables(arrays, b))
        p, c = mine.shape[1], len(outward)
        ints[:, arcs : arcs + p] = mine
        floats[:, arcs : arcs + p] = numbers
        forward[links : links + c] = outward
        in_use = 0
        for at in range(p):
            of_antenna[antennas + mine[ARC_ANTENNA, at]] += 1
            in_use = mine[ARC_ANTENNA, at] + 1
        counts[b, 0], counts[b, 1], counts[b, 2], counts[b, 3] = p, n, c, in_use
        arcs, links, antennas = arcs + p, links + c, antennas + in_use
    return (
        ints[:, :arcs].copy(), floats[:, :arcs].copy(), forward[:links].copy(), counts, of_antenna[:antennas].copy()
    )  # fmt: skip
