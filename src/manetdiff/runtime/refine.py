"""From sampled graphs to one topology: each sample is corrected and polished, and the best of them is kept.

What is judged, and what correction and local search raise, is the objective (runtime/objective.py). In an update the
previous links are a sample like any other, so nothing comes out that is worth less than they are, corrected.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.layout import Layout
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.objective import Objective
from manetdiff.runtime.samples import Sample
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import polish, search_on
from manetdiff.solvers.reference import search
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import PolishReport, Report, Topology, metrics

IntArray = npt.NDArray[np.int64]

# Of the search that takes over where no sample could be connected.
FALLBACK_MOVES_A_NODE = 300
# Before its first move that search takes up to so many times as long as the correction did: without the time for it,
# the local search, which joins parts as well, is better.
UNTIL_FALLBACK = 3
PLAIN = Objective()


class Refined(NamedTuple):
    """A sample on its way, or at its end. throughput: T now. worth: by the objective. report: what was done to it; its
    `kept` says which one it was, -1 for the previous links."""

    sample: Sample
    components: int
    throughput: float
    worth: float
    report: Report


def best_of(
    samples: Sequence[Sample],
    layout: Layout,
    effort: Effort,
    seed: int,
    deadline: float = math.inf,
    objective: Objective = PLAIN,
    plausible: IntArray | None = None,
) -> Refined:
    """The best sample after refinement: fewest components first, then worth. Its report has the stages' seconds.

    - deadline: by time.perf_counter; at least one sample is corrected, whatever the clock says.
    - objective: what is not to be corrected has nothing to do with it.
    - plausible: (m, 2) pairs that the local search is to choose from, beside links that are there; None: candidates.
    """
    began = time.perf_counter()
    if not effort.correct:
        best = max((_uncorrected(sample, layout, effort, seed, k) for k, sample in enumerate(samples)), key=_merit)
        return best._replace(report=best.report.replace(stages=_stages(began, began)))
    bench = Workbench(layout)
    if objective.loyalty is not None:
        bench.be_loyal(objective.loyalty)
    before = objective.before
    given = [(k, sample) for k, sample in enumerate(samples)]
    if before is not None:
        given.insert(0, (-1, before.sample))
    corrected: list[Refined] = []
    for k, sample in given:
        if not corrected or time.perf_counter() < deadline:
            corrected.append(_corrected(bench, sample, k))
    if not objective.plain:
        first = corrected[0]
        objective.set_on(bench, bench.worth_of_a_link(first.throughput, len(first.sample.links)))
        corrected = [_judged(bench, one) for one in corrected]
    done = time.perf_counter()
    chosen = _finalists(corrected, effort)
    pinned = len(layout.keep) > 0
    # Where time is short, joining the parts comes before raising T.
    parts = min(one.components for one in chosen)
    possible = deadline < math.inf and deadline - done > UNTIL_FALLBACK * (done - began)
    in_parts = parts > 1 and not pinned and possible and parts > _fewest_parts(layout)
    if effort.polish and not in_parts:
        if plausible is not None:
            there = [one.sample.links for one in corrected]
            bench.propose_only(np.concatenate([plausible, *there, *([before.sample.links] if before else [])]))
        # Each has an equal share of what is left of the time.
        chosen = [
            _searched(bench, one, effort, seed, _share(deadline, len(chosen) - k)) for k, one in enumerate(chosen)
        ]
    best = max(chosen, key=_merit)
    stages = _stages(began, done)
    whole = best.components == 1
    # Corrected links are of opposite parity, within range and alone on their antennas.
    best = best._replace(report=best.report.replace(connected=whole, valid=whole, stages=stages))
    if whole or pinned or time.perf_counter() >= deadline:
        return best
    return joined_by_search(best, layout, seed, deadline)


def joined_by_search(best: Refined, layout: Layout, seed: int, deadline: float) -> Refined:
    """What a search from scratch finds, if it is in fewer parts: where correction, which may not turn single nodes,
    leaves a network in parts, there is often a whole one. Not where the range allows no fewer parts."""
    if best.components <= _fewest_parts(layout):
        return best
    budget = Budget(moves=FALLBACK_MOVES_A_NODE * len(layout), deadline=None if deadline == math.inf else deadline)
    bench, told = Workbench(layout), best.report.replace(fallback=True)
    made = best
    # Best without links that share an antenna; if they must, as the search leaves them.
    for crowd in (1, None):
        if crowd is None and time.perf_counter() >= deadline:
            break
        found = search(layout, budget, int(seed), crowd=crowd)
        correct_onto(bench, found.links, found.parity, flip_parts=True)
        if bench.parts <= found.components and bench.parts < best.components:
            pruned = scored(Sample(bench.links, bench.parity), layout, told)
            return pruned._replace(components=bench.parts)
        if found.components < made.components:
            as_found = scored(Sample(found.links, found.parity), layout, told)
            made = as_found._replace(components=found.components)
    return made


def _judged(bench: Workbench, one: Refined) -> Refined:
    bench.put(*one.sample)
    return one._replace(worth=bench.worth)


def _stages(began: float, corrected: float) -> dict[str, float]:
    return {"correction": corrected - began, "polish": time.perf_counter() - corrected}


def _merit(one: Refined) -> tuple[int, float, int]:
    """Fewest components first, then worth; of equals, the first one."""
    return -one.components, one.worth, -one.report.kept


def _corrected(bench: Workbench, sample: Sample, place: int) -> Refined:
    counts = correct_onto(bench, sample.links, sample.parity, flip_parts=True)
    if bench.prices is not None:
        bench.look_afar()  # T without prices
    made = Sample(bench.links, bench.parity)
    throughput = bench.throughput
    return Refined(made, bench.parts, throughput, throughput, Report(kept=place, correction=counts))


def _finalists(corrected: Sequence[Refined], effort: Effort) -> Sequence[Refined]:
    return sorted(corrected, key=_merit, reverse=True)[: effort.finalists] if effort.finalists else corrected


def _share(deadline: float, among: int) -> float | None:
    """When to stop the first of so many; None: when it is done."""
    if deadline == math.inf:
        return None
    now = time.perf_counter()
    return now + (deadline - now) / among


def _searched(bench: Workbench, one: Refined, effort: Effort, seed: int, deadline: float | None) -> Refined:
    bench.put(*one.sample)
    meter = Meter(Budget(moves=effort.polish, deadline=deadline))
    search_on(bench, meter, _seed(seed, one.report.kept), limit=1, annealing=effort.annealing)
    gain = bench.throughput - one.throughput
    made = effort.polish if deadline is None else meter.moves
    told = one.report.replace(polish=PolishReport(made, gain, improved=bench.worth > one.worth))
    if deadline is not None:
        told = told.replace(cut_short=made < effort.polish)
    return Refined(Sample(bench.links, bench.parity), bench.parts, bench.throughput, bench.worth, told)


def _fewest_parts(layout: Layout) -> int:
    """That the range allows."""
    return len(layout) - len(layout.choice.tree)


def _uncorrected(sample: Sample, layout: Layout, effort: Effort, seed: int, place: int) -> Refined:
    """A raw sample, which may hold what no search state can: links inside one parity or out of range."""
    topology = Topology(*sample, Report(kept=place))
    if effort.polish:
        topology = polish(topology, layout, moves=effort.polish, seed=_seed(seed, place))
    return scored(Sample(topology.links, topology.parity), layout, topology.report)


def scored(sample: Sample, layout: Layout, report: Report) -> Refined:
    """A topology as it is, with what its report says about it."""
    scores = metrics(Topology(*sample), layout)
    whole, valid = bool(scores["connected"]), bool(scores["valid"])
    told, throughput = report.replace(connected=whole, valid=valid), scores["throughput"]
    # A raw sample in parts counts as such, whatever their number.
    return Refined(sample, 1 if whole else 2, throughput, throughput, told)


def _seed(seed: int, k: int) -> int:
    """Of the search on sample k."""
    return (int(seed) + k) % 2**63
