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
    how far it strays; finalists: how many of the corrected samples get it, the best ones, 0 for all."""

    correct: bool
    polish: int
    heat: Heat = GENTLE
    finalists: int = 0


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
    began = time.perf_counter()
    corrected = [_corrected(bench, sample, k) for k, sample in enumerate(samples)]
    done = time.perf_counter()
    searched = [_searched(bench, one, how, seed) for one in _finalists(corrected, how)] if how.polish else corrected
    stages.correction += done - began
    stages.polish += time.perf_counter() - done
    best = max(searched, key=_merit)
    # Corrected links are of opposite parity, within range and alone on their antennas.
    whole = best.parts == 1
    refined = Refined(best.sample, best.place, whole, whole, best.throughput, best.report)
    return refined if whole or tables.constants[PINS] > 0 else _by_search(refined, best.parts, tables, seed)


class _Candidate(NamedTuple):
    """A sample on its way. place: which one it was."""

    sample: Sample
    place: int
    parts: int
    throughput: float
    report: dict[str, Any]


def _merit(one: _Candidate) -> tuple[int, float, int]:
    """Fewest parts first, then T; of equals, the first one."""
    return -one.parts, one.throughput, -one.place


def _corrected(bench: Workbench, sample: Sample, place: int) -> _Candidate:
    counts = correct_onto(bench, sample.links, sample.parity, flip_parts=True)
    made = Sample(bench.links, bench.parity)
    return _Candidate(made, place, bench.parts, bench.throughput, {"correction": counts})


def _finalists(corrected: Sequence[_Candidate], how: Refinement) -> Sequence[_Candidate]:
    return sorted(corrected, key=_merit, reverse=True)[: how.finalists] if how.finalists else corrected


def _searched(bench: Workbench, one: _Candidate, how: Refinement, seed: int) -> _Candidate:
    bench.put(*one.sample)
    search_on(bench, Meter(Budget(moves=how.polish)), _seed(seed, one.place), limit=1, heat=how.heat)
    told = {"moves": how.polish, "gain": bench.throughput - one.throughput}
    made = Sample(bench.links, bench.parity)
    return _Candidate(made, one.place, bench.parts, bench.throughput, {**one.report, "polish": told})


def _by_search(best: Refined, parts: int, tables: LinkTables, seed: int) -> Refined:
    """What a search from scratch finds, if it is in fewer parts: where correction, which may not turn single nodes,
    leaves a network in parts, there is often a whole one."""
    found = search(tables, Budget(moves=FALLBACK_MOVES_A_NODE * tables.nodes), int(seed))
    if found.components >= parts:
        return best
    # The search may leave two links on an antenna; pruning them must not take the network apart again.
    bench = Workbench(tables)
    correct_onto(bench, found.links, found.parity, flip_parts=True)
    pruned = bench.parts <= found.components
    made = Sample(bench.links, bench.parity) if pruned else Sample(found.links, found.parity)
    scores = metrics_from_tables(Topology(*made), tables)
    whole, valid = bool(scores["connected"]), bool(scores["valid"])
    return Refined(made, best.place, whole, valid, float(scores["throughput"]), {**best.report, "fallback": True})


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
