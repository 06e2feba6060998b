"""Rates of a whole topology from scratch: the definition that every faster way must agree with."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder, kernel
from manetdiff.radio.tables import (
    BEAM_START,
    BEAM_STOP,
    FACING,
    FACING_START,
    HEARS,
    HEARS_ALL,
    HEARS_SECTOR,
    LEAST_SNR,
    MEGAHERTZ,
    MOST_STATES,
    SECTOR,
    SECTORS,
    SIGMA2,
    SIGNAL,
    LinkTables,
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def link_rates(tables: LinkTables, links: IntArray, parity: IntArray) -> FloatArray:
    """(m, 2) rates in Mbit/s of links (m, 2) under parity (n,): column 0 from the first node to the second.

    A link inside one parity carries nothing, radiates nothing and occupies no antenna: its rates are 0.
    """
    # Copies, because numba would compile the kernel anew for arrays that are read-only or ordered otherwise.
    rates: FloatArray = rates_kernel(tables, np.array(links, order="C"), np.array(parity))
    return rates


def throughput(tables: LinkTables, links: IntArray, parity: IntArray) -> float:
    """T: the sum of all rates, both directions, in Mbit/s."""
    return float(link_rates(tables, links, parity).sum())


@kernel
def hearing(tables, j, i, k):  # type: ignore[no-untyped-def]
    """How much of what comes from k the node j hears while it listens to i."""
    hears = tables.constants[HEARS]
    if hears == HEARS_SECTOR:
        return 1.0 if tables.ints[SECTOR, j, k] == tables.ints[SECTOR, j, i] else 0.0
    if hears == HEARS_ALL:
        return 1.0
    return tables.gain[j, i, k]


@kernel
def link_rate(tables, i, j, share, noise):  # type: ignore[no-untyped-def]
    """Rate of i→j, in Mbit/s, with that share of the slot under that interference."""
    snr = tables.floats[SIGNAL, i, j] / (tables.constants[SIGMA2] + noise)
    if snr < tables.constants[LEAST_SNR]:
        return 0.0
    return tables.constants[MEGAHERTZ] * share * np.log2(min(1.0 + snr, tables.constants[MOST_STATES]))


@builder
def rates_kernel(tables, links, parity):  # type: ignore[no-untyped-def]
    """(m, 2) rates; see `link_rates`."""
    n = len(parity)
    share = np.zeros(len(links))
    noise = np.zeros((len(links), 2))
    rates = np.zeros((len(links), 2))
    share_airtime(tables, links, parity, np.zeros((n, int(tables.constants[SECTORS])), dtype=np.int64), share)
    gather_noise(tables, links, parity, share, np.zeros((n, n)), noise)
    for m in range(len(links)):
        if share[m] > 0.0:
            for end in range(2):
                rates[m, end] = link_rate(tables, links[m, end], links[m, 1 - end], share[m], noise[m, end])
    return rates


@kernel
def share_airtime(tables, links, parity, load, share):  # type: ignore[no-untyped-def]
    """Fill share (m,), a link's part of the slot, 0 inside one parity: links on one antenna take turns.

    - load: (n, Q) zeros, filled with the number of links on each antenna.
    """
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if parity[i] != parity[j]:
            load[i, tables.ints[SECTOR, i, j]] += 1
            load[j, tables.ints[SECTOR, j, i]] += 1
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if parity[i] != parity[j]:
            share[m] = 1.0 / max(load[i, tables.ints[SECTOR, i, j]], load[j, tables.ints[SECTOR, j, i]])


@kernel
def gather_noise(tables, links, parity, share, stray, noise):  # type: ignore[no-untyped-def]
    """Fill noise (m, 2), the interference on each link, first node to second and back.

    - stray: (n, n) zeros, filled with what each node k sends towards each j while aiming elsewhere, at [j, k].
    """
    for m in range(len(links)):
        if share[m] > 0.0:
            for end in range(2):
                k, aim = links[m, end], links[m, 1 - end]
                for b in range(tables.ints[BEAM_START, k, aim], tables.ints[BEAM_STOP, k, aim]):
                    stray[tables.beam_node[b], k] += share[m] * tables.beam_power[b]
    for m in range(len(links)):
        if share[m] > 0.0:
            for end in range(2):
                noise[m, end] = heard_noise(tables, parity, stray, links[m, end], links[m, 1 - end])


@kernel
def heard_noise(tables, parity, stray, i, j):  # type: ignore[no-untyped-def]
    """Interference on i→j: what the nodes that transmit with i send astray towards j, as far as j hears it."""
    total = 0.0
    if tables.constants[HEARS] == HEARS_SECTOR:
        a = tables.ints[SECTOR, j, i]
        for m in range(tables.ints[FACING_START, j, a], tables.ints[FACING_START, j, a + 1]):
            k = tables.ints[FACING, j, m]
            if k != i and parity[k] == parity[i]:
                total += stray[j, k]
    else:
        for k in range(len(parity)):
            if k != i and parity[k] == parity[i]:
                total += stray[j, k] * hearing(tables, j, i, k)
    return total


@builder
def throughput_kernel(tables, links, parity):  # type: ignore[no-untyped-def]
    """T as one number."""
    return rates_kernel(tables, links, parity).sum()
