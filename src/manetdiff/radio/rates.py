"""Rates of a whole topology from scratch: the definition that every faster way must agree with.

Every transmitter is counted at every receiver, in any fleet. Up to `EVERY_PAIR` nodes what is known of their pairs is
kept; in larger fleets the transmitters are taken in blocks, so that memory grows with n and not with n².
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder, kernel
from manetdiff.radio.pairs import (
    EVERY_PAIR,
    HEARS,
    HEARS_ALL,
    HEARS_SECTOR,
    LEAST_SNR,
    MEGAHERTZ,
    MOST_STATES,
    SECTORS,
    SIGMA2,
    THETA_MAX,
    Directions,
    PairValues,
    Placement,
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def link_rates(place: Placement, links: IntArray, parity: IntArray) -> FloatArray:
    """(m, 2) rates in Mbit/s of links (m, 2) under parity (n,): column 0 from the first node to the second.

    A link inside one parity carries nothing, radiates nothing and occupies no antenna: its rates are 0.
    """
    # Copies, because numba would compile the kernel anew for arrays that are read-only or ordered otherwise.
    links, parity = np.array(links, order="C"), np.array(parity)
    if len(place) <= EVERY_PAIR:
        rates: FloatArray = rates_kernel(place.every_pair, place.every_gain, place.constants, links, parity)
        return rates
    return _rates_in_blocks(place, links, parity)


def throughput(place: Placement, links: IntArray, parity: IntArray) -> float:
    """T: the sum of all rates, both directions, in Mbit/s."""
    return float(link_rates(place, links, parity).sum())


def link_interference(place: Placement, links: IntArray, parity: IntArray) -> FloatArray:
    """(m, 2) interference power on links (m, 2) under parity (n,), as the rates are made of: first to second, back."""
    return _interference_in_blocks(place, np.array(links, order="C"), np.array(parity))[2]


def _rates_in_blocks(place: Placement, links: IntArray, parity: IntArray) -> FloatArray:
    of_links, share, noise = _interference_in_blocks(place, links, parity)
    rates = np.zeros((len(links), 2))
    _fill_rates(share, noise, of_links.signal, place.constants, rates)
    return rates


def _interference_in_blocks(
    place: Placement, links: IntArray, parity: IntArray
) -> tuple[PairValues, FloatArray, FloatArray]:
    """Of links: what the physics says of them, both ways; share (m,) of the slot; interference (m, 2)."""
    of_links = place.pairs(links, links[:, ::-1])
    share, noise = np.zeros(len(links)), np.zeros((len(links), 2))
    share_airtime(links, parity, of_links.sector, np.zeros((len(place), place.radio.sectors), dtype=np.int64), share)
    active = np.unique(links[share > 0.0])
    column = np.zeros(len(place), dtype=np.int64)
    column[active] = np.arange(len(active))
    gain = np.empty((0, 2, 0))
    if place.steers:
        aims = Directions(of_links.offset[:, :, None], of_links.bearing[:, :, None])
        gain = np.ascontiguousarray(place.gain(aims, place.directions(links[:, :, None], active))[:, :, 0])
    for side in range(2):
        transmitters, receivers = active[parity[active] == side], active[parity[active] != side]
        for block in np.split(transmitters, range(EVERY_PAIR, len(transmitters), EVERY_PAIR)):
            there = place.pairs(block[:, None], receivers)
            facing = place.sectors(receivers, place.directions(receivers, block[:, None]).bearing)
            add_interference(
                block, receivers, there.fade, there.bearing, facing, links, parity, share, of_links.sector,
                of_links.sent, of_links.bearing, gain, column, place.constants, np.empty(len(place)),
                np.empty(len(place), dtype=np.int64), noise,
            )  # fmt: skip
    return of_links, share, noise


@builder
def rates_kernel(every, every_gain, constants, links, parity):  # type: ignore[no-untyped-def]
    """(m, 2) rates by what is known of every pair; see `link_rates`."""
    n, count = len(parity), len(links)
    sector = np.empty((count, 2), dtype=np.int64)
    sent, signal, bearing = np.empty((count, 2)), np.empty((count, 2)), np.empty((count, 2))
    steers = every_gain.shape[0] > 0
    gain = np.empty((count if steers else 0, 2, n))
    for m in range(count):
        for end in range(2):
            i, j = links[m, end], links[m, 1 - end]
            sector[m, end], bearing[m, end] = every.sector[i, j], every.bearing[i, j]
            sent[m, end], signal[m, end] = every.sent[i, j], every.signal[i, j]
            if steers:
                gain[m, end] = every_gain[i, j]
    share = np.zeros(count)
    noise = np.zeros((count, 2))
    share_airtime(links, parity, sector, np.zeros((n, int(constants[SECTORS])), dtype=np.int64), share)
    nodes = np.arange(n)
    add_interference(
        nodes, nodes, every.fade, every.bearing, every.sector.T.copy(), links, parity, share, sector, sent, bearing,
        gain, nodes, constants, np.empty(n), np.empty(n, dtype=np.int64), noise,
    )  # fmt: skip
    rates = np.zeros((count, 2))
    _fill_rates(share, noise, signal, constants, rates)
    return rates


@builder
def throughput_kernel(every, every_gain, constants, links, parity):  # type: ignore[no-untyped-def]
    """T as one number."""
    return rates_kernel(every, every_gain, constants, links, parity).sum()


@kernel
def link_rate(constants, signal, share, noise):  # type: ignore[no-untyped-def]
    """Rate, in Mbit/s, of a signal of that power with that share of the slot under that interference."""
    return constants[MEGAHERTZ] * share * np.log2(rate_factor(constants, signal, noise))


@kernel
def rate_factor(constants, signal, noise):  # type: ignore[no-untyped-def]
    """What the logarithm of a rate is taken of: 1 + SINR, no more than the modem makes of it, or 1 below its least."""
    snr = signal / (constants[SIGMA2] + noise)
    return min(1.0 + snr, constants[MOST_STATES]) if snr >= constants[LEAST_SNR] else 1.0


@kernel
def share_airtime(links, parity, sector, load, share):  # type: ignore[no-untyped-def]
    """Fill share (m,), a link's part of the slot, 0 inside one parity: links on one antenna take turns.

    - sector: (m, 2) antennas. load: (n, Q) zeros, filled with the number of links on each antenna.
    """
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if parity[i] != parity[j]:
            load[i, sector[m, 0]] += 1
            load[j, sector[m, 1]] += 1
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if parity[i] != parity[j]:
            share[m] = 1.0 / max(load[i, sector[m, 0]], load[j, sector[m, 1]])


@kernel
def within_cone(first, second, theta_max):  # type: ignore[no-untyped-def]
    """Whether two bearings are no more than half a beam's opening apart."""
    apart = abs(first - second)
    if apart > math.pi:
        apart = 2 * math.pi - apart
    return apart <= theta_max


@kernel
def add_interference(  # type: ignore[no-untyped-def]
    transmitters, receivers, fade, bearing, facing, links, parity, share, link_sector, link_sent, link_bearing, gain,
    column, constants, stray, looks, noise,
):  # fmt: skip
    """Add to noise (m, 2), first node to second and back, what some transmitters cause at some receivers.

    - fade, bearing, facing: (b, r) from each transmitter to each receiver; facing: the sector that looks back at it.
    - share: (m,). link_*: (m, 2). gain: (m, 2, c) of the beam at either end of a link towards the nodes of each column;
      empty for cones. column: (n,).
    - stray, looks: (n,) room: what one transmitter sends towards each node while aiming elsewhere, and the sector in
      which that hears it.
    """
    steers = gain.shape[0] > 0
    hears = constants[HEARS]
    for b in range(len(transmitters)):
        k = transmitters[b]
        silent = True
        for m in range(len(links)):
            if share[m] > 0.0 and (links[m, 0] == k or links[m, 1] == k):
                if silent:
                    stray[:] = 0.0
                    silent = False
                end = 0 if links[m, 0] == k else 1
                aim = links[m, 1 - end]
                for r in range(len(receivers)):
                    j = receivers[r]
                    if j != k and j != aim:
                        if steers:
                            stray[j] += share[m] * (gain[m, end, column[j]] * link_sent[m, end] * fade[b, r])
                        elif within_cone(link_bearing[m, end], bearing[b, r], constants[THETA_MAX]):
                            stray[j] += share[m] * (link_sent[m, end] * fade[b, r])
        if silent:
            continue
        for r in range(len(receivers)):
            looks[receivers[r]] = facing[b, r]
        for m in range(len(links)):
            if share[m] > 0.0:
                for end in range(2):
                    i, j = links[m, end], links[m, 1 - end]
                    if k != i and parity[k] == parity[i] and stray[j] > 0.0:
                        if hears == HEARS_SECTOR:
                            if looks[j] == link_sector[m, 1 - end]:
                                noise[m, end] += stray[j]
                        elif hears == HEARS_ALL:
                            noise[m, end] += stray[j]
                        else:
                            noise[m, end] += stray[j] * gain[m, 1 - end, column[k]]


@kernel
def _fill_rates(share, noise, signal, constants, rates):  # type: ignore[no-untyped-def]
    for m in range(len(share)):
        if share[m] > 0.0:
            for end in range(2):
                rates[m, end] = link_rate(constants, signal[m, end], share[m], noise[m, end])
