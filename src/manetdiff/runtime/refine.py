"""From sampled graphs to one topology: each sample is corrected and polished, and the best of them is kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.radio import LinkTables
from manetdiff.radio.tables import PINS
from manetdiff.runtime.chain import States
from manetdiff.runtime.pins import CheckedPins
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.polish import GENTLE, Heat, polish_from_tables, search_on
from manetdiff.solvers.reference import search
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology
from manetdiff.topology.metrics import metrics_from_tables

IntArray = npt.NDArray[np.int64]

# Of the search that takes over where no sample could be connected.
FALLBACK_MOVES_A_NODE = 300


class Sample(NamedTuple):
    """A sampled graph: links (m, 2) and parity (n,)."""

    links: IntArray
    parity: IntArray


@dataclass(frozen=True)
class Refinement:
    """correct: whether the paper's correction runs. polish: moves of the local search on each sample, 0 for none; heat:
    how far it strays."""

    correct: bool
    polish: int
    heat: Heat = GENTLE


class Refined(NamedTuple):
    """The best of the samples. place: which one it was; report: what correction and polish did to it."""

    sample: Sample
    place: int
    connected: bool
    valid: bool
    throughput: float
    report: dict[str, Any]


@dataclass
class Stages:
    """Seconds spent on correction and on polish."""

    correction: float = 0.0
    polish: float = 0.0


def samples_of(states: States, pins: CheckedPins | None) -> list[Sample]:
    """Sampled graphs that keep to the pins."""
    made = []
    for edges, parity in zip(states.edges > 0.5, states.parity > 0.5, strict=True):
        i, j = np.nonzero(edges)
        above = i < j
        whole = parity.astype(np.int64)
        made.append(Sample(np.column_stack([i[above], j[above]]), whole if pins is None else pins.aligned(whole)))
    return made


def best_of(samples: Sequence[Sample], tables: LinkTables, how: Refinement, seed: int, stages: Stages) -> Refined:
    """The best sample after refinement: fewest parts first, then T."""
    if not how.correct:
        return _best_uncorrected(samples, tables, how, seed, stages)
    bench = Workbench(tables)
    best: Refined | None = None
    fewest = tables.nodes + 1
    for k, sample in enumerate(samples):
        began = time.perf_counter()
        counts = correct_onto(bench, sample.links, sample.parity, flip_parts=True)
        corrected = time.perf_counter()
        before, report = bench.throughput, dict[str, Any]({"correction": counts})
        if how.polish:
            search_on(bench, Meter(Budget(moves=how.polish)), _seed(seed, k), limit=1, heat=how.heat)
            report["polish"] = {"moves": how.polish, "gain": bench.throughput - before}
        stages.correction += corrected - began
        stages.polish += time.perf_counter() - corrected
        parts, throughput = bench.parts, bench.throughput
        if best is None or (-parts, throughput) > (-fewest, best.throughput):
            # Corrected links are of opposite parity, within range and alone on their antennas.
            whole = parts == 1
            best = Refined(Sample(bench.links, bench.parity), k, whole, whole, throughput, report)
            fewest = parts
    assert best is not None
    return best if best.connected or tables.constants[PINS] > 0 else _by_search(best, fewest, tables, seed)


def _by_search(best: Refined, parts: int, tables: LinkTables, seed: int) -> Refined:
    """What a search from scratch finds, if it is in fewer parts: where correction, which may not turn single nodes,
    leaves a network in parts, there is often a whole one."""
    found = search(tables, Budget(moves=FALLBACK_MOVES_A_NODE * tables.nodes), int(seed))
    if found.components >= parts:
        return best
    scores = metrics_from_tables(Topology(found.links, found.parity), tables)
    made = Sample(found.links, found.parity)
    whole, valid = bool(scores["connected"]), bool(scores["valid"])
    return Refined(made, best.place, whole, valid, found.throughput, {**best.report, "fallback": True})


def _best_uncorrected(
    samples: Sequence[Sample], tables: LinkTables, how: Refinement, seed: int, stages: Stages
) -> Refined:
    """The same for raw samples, which may hold what no search state can: links inside one parity or out of range."""
    best: Refined | None = None
    for k, sample in enumerate(samples):
        topology, began = Topology(*sample), time.perf_counter()
        if how.polish:
            topology = polish_from_tables(topology, tables, Meter(Budget(moves=how.polish)), _seed(seed, k))
            stages.polish += time.perf_counter() - began
        scores = metrics_from_tables(topology, tables)
        whole, throughput = bool(scores["connected"]), float(scores["throughput"])
        if best is None or (whole, throughput) > (best.connected, best.throughput):
            made = Sample(topology.links, topology.parity)
            best = Refined(made, k, whole, bool(scores["valid"]), throughput, dict(topology.report))
    assert best is not None
    return best


def _seed(seed: int, k: int) -> int:
    """Of the search on sample k."""
    return (int(seed) + k) % 2**63
