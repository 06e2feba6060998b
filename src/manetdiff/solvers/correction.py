"""The paper's Algorithm 2: turn any raw links and parity into a topology that keeps the hard constraints.

1. Sanitise: drop links out of range, inside one parity, on overloaded antennas, or under too much interference.
2. Repair: while the network is in parts, add the admissible link between two parts that raises T most.
3. Prune: drop links that T does not need and connectivity does not either.

Read closely, the printed algorithm leaves the order of the first loop open: here the worst link goes first, so that an
overloaded antenna keeps its best. The parity is never changed, as printed; `flip_parts` goes beyond the paper: where
no admissible link is left between the parts, one of them turns its parity as a whole, which keeps its own links valid.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from manetdiff.compiled import builder, kernel
from manetdiff.fleet import Fleet
from manetdiff.radio import LinkTables, Radio, link_tables
from manetdiff.radio.rates import heard_noise
from manetdiff.radio.tables import CANDIDATE, SECTOR, SIGNAL
from manetdiff.solvers.state import (
    LOAD,
    STRAY,
    add_link,
    begin,
    gain_of_dropping,
    gain_of_free_link,
    joined,
    label_components,
    linked,
    new_state,
    read_links,
    remove_link,
    reset,
    settle,
)
from manetdiff.topology import Topology

IntArray = npt.NDArray[np.int64]


def correct(
    topology: Topology,
    fleet: Fleet,
    radio: Radio | None = None,
    *,
    tau_interference: float = math.inf,
    slack: float = 0.0,
    flip_parts: bool = False,
) -> Topology:
    """The corrected topology; its report says what each phase changed.

    The result has no link inside one parity, none out of range, at most one link an antenna, and is connected unless
    no admissible link is left between its parts.

    tau_interference: most interference power on either direction of a link (τ_I); by default the throughput decides.
    slack: how much T, in Mbit/s, a pruned link may cost (ε of the printed algorithm).
    flip_parts: turn whole parts where nothing else connects them (not in the paper).
    """
    return correct_from_tables(
        topology,
        link_tables(fleet, radio or Radio()),
        tau_interference=tau_interference,
        slack=slack,
        flip_parts=flip_parts,
    )


def correct_from_tables(
    topology: Topology,
    tables: LinkTables,
    *,
    tau_interference: float = math.inf,
    slack: float = 0.0,
    flip_parts: bool = False,
) -> Topology:
    """The same where the layout's tables are at hand."""
    topology.check_fits(tables.nodes)
    # Worst first: the weakest signal is the first to go.
    signal = tables.signal[topology.links[:, 0], topology.links[:, 1]]
    order = np.argsort(signal, kind="stable")
    links, parity, counts = _correct(
        tables, topology.links[order], topology.parity, float(tau_interference), float(slack), bool(flip_parts)
    )
    names = ("dropped_range", "dropped_parity", "dropped_sector", "dropped_interference", "added", "pruned", "flipped")
    report = dict(zip(names, counts.tolist(), strict=True))
    return Topology(links, parity, {**topology.report, "correction": report})


@builder
def _correct(tables, links, parity, tau, slack, flip_parts):  # type: ignore[no-untyped-def]
    counts = np.zeros(7, dtype=np.int64)
    kept = _sanitise(tables, links, parity, counts)
    state = new_state(tables, kept, parity)
    if np.isfinite(tau):
        _drop_interfered(tables, state, kept, tau, counts)
    label = np.empty(len(parity), dtype=np.int64)
    counts[4] += _repair(tables, state, label, tau)
    if flip_parts:
        # Each turn joins two parts, so fewer turns than nodes are needed; a tight τ_I can make them be in vain.
        while counts[6] < len(parity) and _flip_a_part(tables, state, label):
            counts[6] += 1
            reset(tables, state, read_links(state), state.parity.copy())
            counts[4] += _repair(tables, state, label, tau)
    if label_components(state, label) == 1:
        counts[5] += _prune(tables, state, slack)
    return read_links(state), state.parity.copy(), counts


@builder
def _sanitise(tables, links, parity, counts):  # type: ignore[no-untyped-def]
    """The links that are in range, of opposite parity and, best first, alone on their antennas."""
    n = len(parity)
    load = np.zeros((n, n + 64), dtype=np.int64)
    stays = np.zeros(len(links), dtype=np.bool_)
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if tables.wholes[CANDIDATE, i, j] == 0:
            counts[0] += 1
        elif parity[i] == parity[j]:
            counts[1] += 1
        else:
            stays[m] = True
            load[i, tables.wholes[SECTOR, i, j]] += 1
            load[j, tables.wholes[SECTOR, j, i]] += 1
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        a, b = tables.wholes[SECTOR, i, j], tables.wholes[SECTOR, j, i]
        if stays[m] and (load[i, a] > 1 or load[j, b] > 1):
            stays[m] = False
            load[i, a] -= 1
            load[j, b] -= 1
            counts[2] += 1
    return links[stays]


@kernel
def _interference(tables, state, i, j):  # type: ignore[no-untyped-def]
    """The worse of the two directions' interference on a link, there or not."""
    forth = heard_noise(tables, state.parity, state.reals[STRAY], i, j)
    return max(forth, heard_noise(tables, state.parity, state.reals[STRAY], j, i))


@kernel
def _drop_interfered(tables, state, links, tau, counts):  # type: ignore[no-untyped-def]
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if _interference(tables, state, i, j) > tau:
            remove_link(tables, state, i, j)
            settle(tables, state)
            begin(state)
            counts[3] += 1


@kernel
def _repair(tables, state, label, tau):  # type: ignore[no-untyped-def]
    """Join the parts by admissible links, the one that raises T most first; the number of links added."""
    n = len(state.parity)
    added = 0
    while label_components(state, label) > 1:
        best_gain, best_i, best_j = -np.inf, -1, -1
        for i in range(n):
            for j in range(i + 1, n):
                if (
                    label[i] != label[j]
                    and state.parity[i] != state.parity[j]
                    and tables.wholes[CANDIDATE, i, j] == 1
                    and state.wholes[LOAD, i, tables.wholes[SECTOR, i, j]] == 0
                    and state.wholes[LOAD, j, tables.wholes[SECTOR, j, i]] == 0
                    and _interference(tables, state, i, j) <= tau
                ):
                    gain = gain_of_free_link(tables, state, i, j)
                    if gain > best_gain:
                        best_gain, best_i, best_j = gain, i, j
        if best_i < 0:
            break
        add_link(tables, state, best_i, best_j)
        settle(tables, state)
        begin(state)
        added += 1
    return added


@kernel
def _flip_a_part(tables, state, label):  # type: ignore[no-untyped-def]
    """Turn the parity of one part so that its best free pair with another part becomes admissible; whether one was."""
    n = len(state.parity)
    strongest, turned = 0.0, -1
    for i in range(n):
        for j in range(i + 1, n):
            if (
                label[i] != label[j]
                and state.parity[i] == state.parity[j]
                and tables.wholes[CANDIDATE, i, j] == 1
                and state.wholes[LOAD, i, tables.wholes[SECTOR, i, j]] == 0
                and state.wholes[LOAD, j, tables.wholes[SECTOR, j, i]] == 0
                and tables.reals[SIGNAL, i, j] > strongest
            ):
                strongest = tables.reals[SIGNAL, i, j]
                # The part that does not hold node 0, so that the rest keeps its parity.
                turned = label[j] if label[i] == 0 else label[i]
    if turned < 0:
        return False
    for k in range(n):
        if label[k] == turned:
            state.parity[k] = 1 - state.parity[k]
    return True


@builder
def _prune(tables, state, slack):  # type: ignore[no-untyped-def]
    """Drop links, the least useful first, that connectivity does not need and whose loss costs T no more than slack."""
    links = read_links(state)
    loss = np.empty(len(links))
    for m in range(len(links)):
        loss[m] = -gain_of_dropping(tables, state, links[m, 0], links[m, 1])
    pruned = 0
    for m in np.argsort(loss, kind="mergesort"):
        i, j = links[m, 0], links[m, 1]
        if linked(state, i, j) and gain_of_dropping(tables, state, i, j) >= -slack:
            remove_link(tables, state, i, j)
            if joined(state, i, j):
                pruned += 1
            else:
                add_link(tables, state, i, j)
            settle(tables, state)
            begin(state)
    return pruned
