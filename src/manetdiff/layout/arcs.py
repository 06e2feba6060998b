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
from manetdiff.radio import Placement, Radio
from manetdiff.radio.patterns import STEERED, half_power_width

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
ARC_FEATURE_COUNT = len(ARC_FEATURES)
# Of `feature_numbers`.
NOISE, WIDTH, MOST_STATES, MOST_SENT, OF_RADIO = range(5)
# Multiples of a bearing whose cosines and sines are told: sums of their products say how far apart two bearings are.
HARMONICS = (1, 2, 4, 8)

# Rows of what `listed_arcs` gives, of floats after those of the tables.
ARC_OWNER, ARC_PEER, ARC_REVERSE, ARC_ANTENNA, ARC_LINK, ARC_RANK = range(6)
ARC_SPILLED, ARC_SHORTEST, ARC_TO_NEAREST = 5, 6, 7

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
    ints, floats, features, forward = listed_arcs(tables, place.forward, feature_numbers(place.radio))
    owner, antenna = (ints[row].astype(np.int64) for row in (ARC_OWNER, ARC_ANTENNA))
    of_node, node_there = _filled_up(owner, len(place))
    of_antenna, antenna_there = _filled_up(antenna, int(antenna[-1]) + 1 if len(antenna) else 0)
    peer = ints[ARC_PEER].astype(np.int64)
    angle = np.outer(floats[BEARING], HARMONICS)
    return Arcs(
        links=np.stack([owner[forward], peer[forward]], axis=1),
        owner=owner,
        reverse=ints[ARC_REVERSE].astype(np.int64),
        antenna=antenna,
        link=ints[ARC_LINK].astype(np.int64),
        forward=forward.astype(np.int64),
        arcs_of_node=of_node,
        node_there=node_there,
        arcs_of_antenna=of_antenna,
        antenna_there=antenna_there,
        features=features,
        bearings=np.concatenate([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32),
    )


def _filled_up(group: IntArray, groups: int) -> tuple[IntArray, FloatArray]:
    """Members of each group as rows of equal length, and where they are members; group: of each, rising."""
    count = np.bincount(group, minlength=groups)
    begin = np.cumsum(count) - count
    place = np.arange(max(1, count.max(initial=0)))
    there = place < count[:, None]
    return np.where(there, begin[:, None] + place, 0), there.astype(np.float32)


def feature_numbers(radio: Radio) -> npt.NDArray[np.float64]:
    """(11,) what features take from a radio: NOISE … MOST_SENT, then those features that are the radio's own."""
    steers = radio.pattern in STEERED
    width = 2 * math.pi / radio.sectors
    beam = half_power_width(radio) / 2 if steers else radio.theta_max
    return np.array(
        [
            radio.sigma2,
            width,
            radio.most_states,
            radio.p_max,
            math.log2(radio.sectors) / LOG_SCALE,
            math.log(2 * beam / width),
            float(steers),
            radio.floor_db / DECIBEL_SCALE if steers else 0.0,
            float(radio.reception == "omni"),
            0.0 if radio.ceiling is None else BITS_SCALE / (BITS_SCALE + radio.ceiling),
            math.log1p(radio.least_snr),
        ]
    )


@builder
def arc_features(ints, floats, ahead, numbers):  # type: ignore[no-untyped-def]
    """(p, 15) features, see `Arcs`, of what `listed_arcs` gives. ahead, numbers: as there."""
    noise, width = numbers[NOISE], numbers[WIDTH]
    features = np.empty((ints.shape[1], ARC_FEATURE_COUNT), dtype=np.float32)
    for at in range(len(features)):
        own, snr = features[at], floats[SIGNAL, at] / noise
        turn = (floats[BEARING, at] - ahead[ints[ARC_OWNER, at]] + width / 2) % width
        own[0] = math.log2(min(1.0 + snr, numbers[MOST_STATES]))
        own[1] = math.log(max(snr, LEAST)) / LOG_SCALE
        own[2] = math.log(floats[DISTANCE, at] / floats[ARC_SHORTEST, at])
        own[3] = abs(2 * turn / width - 1.0)
        own[4] = math.log1p(ints[ARC_RANK, at])
        own[5] = math.log1p(floats[ARC_SPILLED, at] / noise)
        own[6] = math.log(max(floats[SENT, at] / numbers[MOST_SENT], LEAST)) / LOG_SCALE
        own[7] = math.log1p(floats[ARC_TO_NEAREST, at] * floats[FADE, at] / noise)
        own[8:] = numbers[OF_RADIO:]
    return features


@builder
def listed_arcs(tables, ahead, numbers):  # type: ignore[no-untyped-def]
    """The arcs of one layout's tables: ints (6, p), floats (8, p), features (p, 15), see `Arcs`, and forward (c,), the
    arc from i of each link.

    - ints, rows ARC_*: owner and peer; the reverse arc; antenna, counted over those in use; link, in the order of
      its nodes; rank among the antenna's, the nearest first. floats: the rows of the tables, then what the owner's beam
      at the peer spills, the length of the owner's shortest arc, and the power that this is sent with.
    - ahead: (n,) bearing in which each node's sector 0 looks. numbers: see `feature_numbers`.
    """
    slots = tables.lists[BY_ANTENNA]
    p = len(slots)
    ints, floats = np.zeros((6, p), dtype=np.int32), np.empty((8, p))
    floats[ARC_SPILLED] = _spilled(slots, tables.ints, tables.floats, tables.starts, tables.fan_fade, tables.gain)
    place_of = np.empty(tables.ints.shape[1], dtype=np.int64)
    for at in range(p):
        place_of[slots[at]] = at
    forward = np.empty(p // 2, dtype=np.int32)
    size, begin = 0, 0
    for at in range(p):
        slot = slots[at]
        i, j = tables.ints[OWNER, slot], tables.ints[PEER, slot]
        ints[ARC_OWNER, at], ints[ARC_PEER, at] = i, j
        ints[ARC_REVERSE, at] = place_of[tables.ints[REVERSE, slot]]
        if at > 0:
            same = tables.ints[ANTENNA, slot] == tables.ints[ANTENNA, slots[at - 1]]
            ints[ARC_ANTENNA, at] = ints[ARC_ANTENNA, at - 1] + (0 if same else 1)
            ints[ARC_RANK, at] = ints[ARC_RANK, at - 1] + 1 if same else 0
            if i != ints[ARC_OWNER, at - 1]:
                begin = size
        for row in range(len(tables.floats)):
            floats[row, at] = tables.floats[row, slot]
        nearest = tables.lists[BY_DISTANCE, tables.starts[NEAREST, i]]
        floats[ARC_SHORTEST, at] = tables.floats[DISTANCE, nearest]
        floats[ARC_TO_NEAREST, at] = tables.floats[SENT, nearest]
        if i < j:
            # Links in the order of their nodes, whatever the order of the arcs.
            to = size
            while to > begin and ints[ARC_PEER, forward[to - 1]] > j:
                forward[to] = forward[to - 1]
                to -= 1
            forward[to] = at
            size += 1
    for m in range(size):
        ints[ARC_LINK, forward[m]] = m
        ints[ARC_LINK, ints[ARC_REVERSE, forward[m]]] = m
    return ints, floats, arc_features(ints, floats, ahead, numbers), forward


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
