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

from manetdiff.compiled import NOBODY, kernel
from manetdiff.errors import SolverError
from manetdiff.fleet import Fleet
from manetdiff.layout import Layout
from manetdiff.radio import LinkTables, Radio
from manetdiff.radio.rates import heard_noise
from manetdiff.radio.tables import CANDIDATE, PINNED, SECTOR, SIGNAL
from manetdiff.solvers.gains import gain_of_dropping, gain_of_free_link
from manetdiff.solvers.state import (
    STRAY,
    SearchState,
    add_link,
    begin,
    read_links,
    remove_link,
    reset,
    settle,
)
from manetdiff.solvers.walks import LOAD, count_parts, joined, label_components
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology

IntArray = npt.NDArray[np.int64]

# What the report counts, phase by phase.
COUNTS = (
    "dropped_range",
    "dropped_parity",
    "dropped_sector",
    "dropped_interference",
    "added",
    "flipped",
    "pruned",
)

# Verdicts on raw links.
_STAYS, _FAR, _INSIDE, _CROWDED = np.arange(4)


def correct(
    topology: Topology,
    fleet: Fleet | Layout | None = None,
    radio: Radio | None = None,
    *,
    tau_interference: float = math.inf,
    slack: float = 0.0,
    flip_parts: bool = False,
) -> Topology:
    """The corrected topology; its report says what each phase changed.

    The result has no link inside one parity, none out of range, at most one link an antenna, and is connected unless
    no admissible link is left between its parts.

    - fleet, radio: as for metrics.
    - tau_interference: most interference power on either direction of a link when the link is looked at (τ_I), as
      printed: links added later can raise it again. By default there is no such limit, and the throughput decides.
    - slack: how much T, in Mbit/s, a pruned link may cost (ε of the printed algorithm).
    - flip_parts: turn whole parts where nothing else connects them (not in the paper).
    """
    layout = topology.on(fleet, radio)
    for name, value in (("tau_interference", tau_interference), ("slack", slack)):
        if not value >= 0:
            raise SolverError(f"{name} must be a number of at least 0, not {value!r}")
    bench = Workbench(layout)
    counts = correct_onto(bench, topology.links, topology.parity, tau_interference, slack, flip_parts)
    return Topology(bench.links, bench.parity, topology.report.replace(correction=counts), layout)


def correct_onto(
    bench: Workbench,
    links: IntArray,
    parity: IntArray,
    tau_interference: float = math.inf,
    slack: float = 0.0,
    flip_parts: bool = False,
) -> dict[str, int]:
    """Correct raw links (m, 2) and leave the result on the bench; what each phase changed."""
    tables, state, label = bench.tables, bench.state, bench.label
    counts = dict.fromkeys(COUNTS, 0)
    kept = _sanitise(bench, links, parity, counts)
    bench.put(kept, parity)
    if math.isfinite(tau_interference):
        counts["dropped_interference"] = _drop_interfered(tables, state, kept, tau_interference)
    counts["added"] = _repair(tables, state, label, tau_interference)
    if flip_parts:
        # Each turn joins two parts, so fewer turns than nodes are needed; a tight τ_I can make them be in vain.
        while counts["flipped"] < tables.nodes and _flip_a_part(tables, state, label):
            counts["flipped"] += 1
            reset(tables, state, read_links(state), state.parity.copy())
            counts["added"] += _repair(tables, state, label, tau_interference)
    if count_parts(state) == 1:
        counts["pruned"] = _prune(tables, state, slack)
    return counts


def _sanitise(bench: Workbench, links: IntArray, parity: IntArray, counts: dict[str, int]) -> IntArray:
    """The links that are in range, of opposite parity and, the best of them, alone on their antennas."""
    i, j = links[:, 0], links[:, 1]
    # Worst first: the weakest signal is the first to go, and what must stay is the last.
    strength = bench.tables.floats[SIGNAL, i, j]
    links = links[np.lexsort((strength, bench.tables.ints[CANDIDATE, i, j] == PINNED))]
    verdict = np.empty(len(links), dtype=np.int64)
    # A copy, because numba would compile the kernel anew for a parity that is read-only.
    _judge(bench.tables, links, np.array(parity), bench.occupied, verdict)
    for name, reason in (("range", _FAR), ("parity", _INSIDE), ("sector", _CROWDED)):
        counts[f"dropped_{name}"] = int((verdict == reason).sum())
    return np.asarray(links[verdict == _STAYS])


@kernel
def _judge(tables, links, parity, load, verdict):  # type: ignore[no-untyped-def]
    """Say of links (m, 2) which stay, and why the others do not; of several on an antenna, the last stays."""
    load[:] = 0
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if tables.ints[CANDIDATE, i, j] == 0:
            verdict[m] = _FAR
        elif parity[i] == parity[j]:
            verdict[m] = _INSIDE
        else:
            verdict[m] = _STAYS
            load[i, tables.ints[SECTOR, i, j]] += 1
            load[j, tables.ints[SECTOR, j, i]] += 1
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        a, b = tables.ints[SECTOR, i, j], tables.ints[SECTOR, j, i]
        if verdict[m] == _STAYS and (load[i, a] > 1 or load[j, b] > 1):
            verdict[m] = _CROWDED
            load[i, a] -= 1
            load[j, b] -= 1


@kernel
def _interference(tables, state, i, j):  # type: ignore[no-untyped-def]
    """The worse of the two directions' interference on a link, there or not."""
    forth = heard_noise(tables, state.parity, state.floats[STRAY], i, j)
    return max(forth, heard_noise(tables, state.parity, state.floats[STRAY], j, i))


@kernel
def _drop_interfered(tables, state, links, tau):  # type: ignore[no-untyped-def]
    """Remove links (m, 2), from the first on, under more interference than tau; how many."""
    dropped = 0
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if _interference(tables, state, i, j) > tau and tables.ints[CANDIDATE, i, j] != PINNED:
            remove_link(tables, state, i, j)
            settle(tables, state)
            begin(state)
            dropped += 1
    return dropped


@kernel
def _could_join(tables, state, label, i, j):  # type: ignore[no-untyped-def]
    """Whether i and j, in different parts, are within range of each other and have both antennas free."""
    return (
        label[i] != label[j]
        and tables.ints[CANDIDATE, i, j] > 0
        and state.ints[LOAD, i, tables.ints[SECTOR, i, j]] == 0
        and state.ints[LOAD, j, tables.ints[SECTOR, j, i]] == 0
    )


@kernel
def _repair(tables, state, label, tau):  # type: ignore[no-untyped-def]
    """Join the parts by admissible links, the one that raises T most first; the number of links added."""
    n = len(state.parity)
    added = 0
    while label_components(state, label) > 1:
        best_gain, best_i, best_j = -np.inf, NOBODY, NOBODY
        for i in range(n):
            for j in range(i + 1, n):
                if (
                    state.parity[i] != state.parity[j]
                    and _could_join(tables, state, label, i, j)
                    and _interference(tables, state, i, j) <= tau
                ):
                    gain = gain_of_free_link(tables, state, i, j)
                    if gain > best_gain:
                        best_gain, best_i, best_j = gain, np.int64(i), np.int64(j)
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
    strongest, turned = 0.0, NOBODY
    for i in range(n):
        for j in range(i + 1, n):
            if (
                state.parity[i] == state.parity[j]
                and tables.floats[SIGNAL, i, j] > strongest
                and _could_join(tables, state, label, i, j)
            ):
                strongest = tables.floats[SIGNAL, i, j]
                # The part that does not hold node 0, so that the rest keeps its parity.
                turned = label[j] if label[i] == 0 else label[i]
    if turned < 0:
        return False
    for k in range(n):
        if label[k] == turned:
            state.parity[k] = 1 - state.parity[k]
    return True


def _prune(tables: LinkTables, state: SearchState, slack: float) -> int:
    """Drop links, the least useful first, that connectivity does not need and whose loss costs T no more than slack."""
    links = read_links(state)
    gain = np.empty(len(links))
    _gains_of_dropping(tables, state, links, gain)
    return int(_drop_needless(tables, state, links[np.argsort(-gain, kind="stable")], float(slack)))


@kernel
def _gains_of_dropping(tables, state, links, gain):  # type: ignore[no-untyped-def]
    for m in range(len(links)):
        gain[m] = gain_of_dropping(tables, state, links[m, 0], links[m, 1])


@kernel
def _drop_needless(tables, state, links, slack):  # type: ignore[no-untyped-def]
    dropped = 0
    for m in range(len(links)):
        i, j = links[m, 0], links[m, 1]
        if gain_of_dropping(tables, state, i, j) >= -slack and tables.ints[CANDIDATE, i, j] != PINNED:
            remove_link(tables, state, i, j)
            if joined(state, i, j):
                dropped += 1
            else:
                add_link(tables, state, i, j)
            settle(tables, state)
            begin(state)
    return dropped
