"""Candidate links as directed arcs, and what a network reads of them: features that know no frame and no size.

A candidate link between two nodes is two arcs, one as each of them sees it. Nothing here depends on where the fleet is,
how it is turned, how its nodes are numbered or how many there are; in a mirror only the bearings change their sign. An
antenna shows only in which arcs belong together, so any number of sectors will do.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder
from manetdiff.layout.tables import (
    ANTENNA,
    BEAM_FROM,
    BEAM_TO,
    BEARING,
    BY_ANTENNA,
    BY_DISTANCE,
    DISTANCE,
    FADE,
    GAIN_AT,
    NEAREST,
    OWNER,
    PEER,
    REVERSE,
    SENT,
    SIGNAL,
    SLOTS,
    LinkTables,
)
from manetdiff.radio import Placement
from manetdiff.radio.patterns import half_power_width

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]

# Raised when the meaning of a feature changes: weights trained on others are refused.
ARCS_VERSION = 1

ARC_FEATURES = (
    # Of the arc.
    "rate",
    "snr",
    "distance",
    "off_boresight",
    "nearer",
    "spilled",
    "sent",
    "nuisance",
    # Of the radio, the same for all arcs.
    "sectors",
    "beam",
    "steered",
    "side_lobes",
    "hears_all",
    "ceiling",
    "least_snr",
)
# Multiples of a bearing whose cosines and sines are told: sums of their products say how far apart two bearings are.
HARMONICS = (1, 2, 4, 8)

# Of ratios whose logarithm is taken: less is nothing.
LEAST = 1e-6
# Brings logarithms of powers and angles to about 1.
LOG_SCALE, DECIBEL_SCALE, BITS_SCALE = 4.0, 30.0, 10.0


class Arcs(NamedTuple):
    """c candidate links of n nodes as p = 2 c arcs, ordered by owner, then by its antenna, the nearest first.

    - links: (c, 2) with i < j. owner, reverse, antenna, link: (p,) of each arc its node; the same link as the peer sees
      it; which of the a antennas in use it leaves from; which link it is. forward: (c,) the arc from i of each link.
    - arcs_of_node: (n, k) and arcs_of_antenna: (a, s), filled up with arc 0; node_there, antenna_there: 1 where an arc
      is one of them, else 0.
    - features: (p, 15), see ARC_FEATURES: the rate that the link would have alone, in bit/s/Hz; logarithm of its SNR;
      of its length over that of the owner's shortest; how far off the middle of the sector the peer is, 0 … 1; how many
      candidates its antenna has that are nearer, as log(1 + count); power that a beam at the peer spills on others,
      over the noise, as log(1 + ratio); logarithm of the power sent, over the most; what the owner's beam at its
      nearest would spill on the peer. Of the radio: logarithm of the sectors; of a beam's half width over half a
      sector; whether beams are steered, and their side lobes; whether receivers hear all around; the most and the least
      that a link carries.
    - bearings: (p, 8) cosines, then sines, of the HARMONICS of the bearing.
    """

    links: IntArray
    owner: IntArray
    reverse: IntArray
    antenna: IntArray
    link: IntArray
    forward: IntArray
    arcs_of_node: IntArray
    node_there: FloatArray
    arcs_of_antenna: IntArray
    antenna_there: FloatArray
    features: FloatArray
    bearings: FloatArray


def layout_arcs(place: Placement, tables: LinkTables) -> Arcs:
    """The candidates of a layout's tables as arcs."""
    slots = tables.lists[BY_ANTENNA]
    ints, floats = tables.ints[:, slots], tables.floats[:, slots]
    owner, peer = ints[OWNER].astype(np.int64), ints[PEER].astype(np.int64)
    place_of = np.empty(tables.slots, dtype=np.int64)
    place_of[slots] = np.arange(len(slots))
    reverse = place_of[ints[REVERSE]]
    # Links in the order of their nodes, whatever the order of the arcs.
    outward = np.flatnonzero(owner < peer)
    forward = outward[np.lexsort((peer[outward], owner[outward]))]
    link = np.empty(len(slots), dtype=np.int64)
    link[forward] = link[reverse[forward]] = np.arange(len(forward))
    antenna = np.cumsum(np.diff(ints[ANTENNA], prepend=-1) != 0) - 1
    of_node, node_there = _filled_up(owner, len(place))
    of_antenna, antenna_there = _filled_up(antenna, int(antenna[-1]) + 1 if len(slots) else 0)
    rank = np.arange(len(slots)) - of_antenna[antenna, 0] if len(slots) else np.empty(0)
    spilled = _spilled(slots, tables.ints, tables.floats, tables.starts, tables.fan_fade, tables.gain)
    angle = np.outer(floats[BEARING], HARMONICS)
    return Arcs(
        links=np.stack([owner[forward], peer[forward]], axis=1),
        owner=owner,
        reverse=reverse,
        antenna=antenna,
        link=link,
        forward=forward,
        arcs_of_node=of_node,
        node_there=node_there,
        arcs_of_antenna=of_antenna,
        antenna_there=antenna_there,
        features=_features(place, tables, slots, rank, spilled),
        bearings=np.concatenate([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32),
    )


def _filled_up(group: IntArray, groups: int) -> tuple[IntArray, FloatArray]:
    """Members of each group as rows of equal length, and where they are members; group: of each, rising."""
    count = np.bincount(group, minlength=groups)
    begin = np.cumsum(count) - count
    place = np.arange(max(1, count.max(initial=0)))
    there = place < count[:, None]
    return np.where(there, begin[:, None] + place, 0), there.astype(np.float32)


def _features(
    place: Placement,
    tables: LinkTables,
    slots: IntArray,
    rank: npt.NDArray[np.float64],
    spilled: npt.NDArray[np.float64],
) -> FloatArray:
    if len(slots) == 0:
        return np.empty((0, len(ARC_FEATURES)), dtype=np.float32)
    radio, noise = place.radio, place.radio.sigma2
    owner = tables.ints[OWNER, slots]
    floats = tables.floats[:, slots]
    snr = floats[SIGNAL] / noise
    width = 2 * math.pi / radio.sectors
    ahead = np.mod(floats[BEARING] - place.forward[owner] + width / 2, width)
    shortest = np.full(len(place), np.inf)
    np.minimum.at(shortest, owner, floats[DISTANCE])
    # A node without candidates would begin where the next one does, or after all of them: it owns no arc.
    begin = np.minimum(tables.starts[NEAREST, : len(place)], len(slots) - 1)
    to_nearest = tables.floats[SENT, tables.lists[BY_DISTANCE, begin]]
    beam = half_power_width(radio) / 2 if place.steers else radio.theta_max
    of_radio = (
        math.log2(radio.sectors) / LOG_SCALE,
        math.log(2 * beam / width),
        float(place.steers),
        radio.floor_db / DECIBEL_SCALE if place.steers else 0.0,
        float(radio.reception == "omni"),
        0.0 if radio.ceiling is None else BITS_SCALE / (BITS_SCALE + radio.ceiling),
        math.log1p(radio.least_snr),
    )
    columns = (
        np.log2(np.minimum(1.0 + snr, radio.most_states)),
        np.log(np.maximum(snr, LEAST)) / LOG_SCALE,
        np.log(floats[DISTANCE] / shortest[owner]),
        np.abs(2 * ahead / width - 1.0),
        np.log1p(rank),
        np.log1p(spilled / noise),
        np.log(np.maximum(floats[SENT] / radio.p_max, LEAST)) / LOG_SCALE,
        np.log1p(to_nearest[owner] * floats[FADE] / noise),
        *(np.full(len(slots), value) for value in of_radio),
    )
    return np.stack(columns, axis=1).astype(np.float32)


@builder
def _spilled(slots, ints, floats, starts, fan_fade, gain):  # type: ignore[no-untyped-def]
    """(p,) power that the owner's beam at the peer spills on those others that the tables follow."""
    spilled = np.zeros(len(slots))
    for at in range(len(slots)):
        slot = slots[at]
        total = -floats[FADE, slot]
        if len(gain) == 0:
            for place in range(ints[BEAM_FROM, slot], ints[BEAM_TO, slot]):
                total += fan_fade[place]
        else:
            begin, end = starts[SLOTS, ints[OWNER, slot]], starts[SLOTS, ints[OWNER, slot] + 1]
            for place in range(begin, end):
                total += gain[ints[GAIN_AT, slot] + place - begin] * floats[FADE, place]
        spilled[at] = max(0.0, total) * floats[SENT, slot]
    return spilled
