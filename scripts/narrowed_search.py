"""What the network's word on candidates is worth to the local search: from the same samples, among all candidates and
among those that it does not rule out, at equal moves a node. Fleets are in no benchmark set; T is over that of a long
search without links that share an antenna.

    python scripts/narrowed_search.py --nodes 64 --fleets 32 --moves-a-node 30 100 300 1000
    python scripts/narrowed_search.py --nodes 20 --fleets 80 --radios random
    python scripts/narrowed_search.py --targets bench16 bench32 bench64 radios --fleets 100

The last one only counts which links of benchmark targets are ruled out, for each way to start.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

from manetdiff.data import BENCHMARKS, SolvedLayout, load_benchmark
from manetdiff.data.benchmark import default_radio
from manetdiff.data.layouts import draw_layouts
from manetdiff.data.radios import RANDOM
from manetdiff.data.settings import Settings
from manetdiff.layout import Layout
from manetdiff.runtime.bundle import find_bundle
from manetdiff.runtime.chain import Chain
from manetdiff.runtime.effort import Effort
from manetdiff.runtime.samples import constructed, draw_samples
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.reference import search
from manetdiff.solvers.rehearsal import rehearse
from manetdiff.solvers.workbench import Workbench
from manetdiff.weights import DEFAULT

SEED, LONG = 4_711, 3_000
ALL, NARROWED = "all candidates", "narrowed"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default=DEFAULT)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--fleets", type=int, default=32)
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--noise", action="store_true", help="samples start from noise instead of the spanning forest")
    parser.add_argument("--moves-a-node", type=int, nargs="+", default=[30, 100, 300])
    parser.add_argument("--radios", choices=("default", "random"), default="default")
    parser.add_argument("--targets", nargs="+", choices=list(BENCHMARKS), default=[])
    asked = parser.parse_args()
    rehearse()
    chain = Chain(find_bundle(asked.weights))
    for name in asked.targets:
        layouts = load_benchmark(name)[: asked.fleets]
        for steps, grown in ((1, True), (2, True), (1, False)):
            ruled_out = sum(targets_lost(chain, one, steps, grown=grown) for one in layouts)
            links = sum(len(one.topology.links) for one in layouts)
            told = f"{name}, {len(layouts)} layouts, {steps} steps from {'the forest' if grown else 'noise'}"
            print(f"{told}: {ruled_out} of {links:,} links ({ruled_out / links:.2%}) are ruled out", flush=True)
    if asked.targets:
        return
    radios = default_radio(asked.nodes) if asked.radios == "default" else {"radio": RANDOM}
    settings = Settings(
        nodes=(asked.nodes,), count=asked.fleets, seed=SEED, families_in_turn=True, moves_a_node=1, **radios
    )
    rows = [fleet_row(chain, draw_layouts(settings, k)[0].layout, k, asked) for k in range(asked.fleets)]
    kept, lost = np.mean([row.kept for row in rows]), np.mean([row.lost for row in rows])
    print(f"{kept:.1%} of the candidates are left; {lost:.2%} of the links of the long search are lost")
    for way in (ALL, NARROWED):
        cells = []
        for moves in asked.moves_a_node:
            share, seconds = np.mean([row.found[way, moves] for row in rows], axis=0)
            cells.append(f"{moves:,}: {share:.2%}, {1e3 * seconds:.1f} ms")
        print(f"{way}: {'; '.join(cells)}")


def targets_lost(chain: Chain, one: SolvedLayout, steps: int, *, grown: bool) -> int:
    """Links of a target that are candidates and that one sample's network rules out."""
    layout, n = one.layout, len(one.fleet)
    embedded = chain.embed(layout)
    forest = constructed(layout, greedy=False) if grown else None
    plausible = draw_samples(chain, embedded, Effort(steps, forest=grown), one.index, forest=forest).plausible
    if plausible is None:
        raise SystemExit(f"{chain.name} does not say what it rules out")
    links, candidates, left = (pairs @ [n, 1] for pairs in (one.topology.links, embedded.pairs, plausible))
    return int((np.isin(links, candidates) & ~np.isin(links, left)).sum())


class Row(NamedTuple):
    """Of a fleet. kept: share of the candidates that are left. lost: share of the long search's links that are not
    among them. found: by way and moves a node, T over the long search's, and seconds of the search."""

    kept: float
    lost: float
    found: dict[tuple[str, int], tuple[float, float]]


def fleet_row(chain: Chain, layout: Layout, seed: int, asked: argparse.Namespace) -> Row:
    """One sample, searched from in both ways."""
    n, bench = len(layout), Workbench(layout)
    long = search(layout, Budget(moves=LONG * n), seed, crowd=1)
    embedded, forest = chain.embed(layout), None if asked.noise else constructed(layout, greedy=False)
    effort = Effort(asked.steps, forest=not asked.noise)
    (sample,), plausible = draw_samples(chain, embedded, effort, seed, forest=forest)
    if plausible is None:
        raise SystemExit(f"{chain.name} does not say what it rules out")
    correct_onto(bench, *sample, flip_parts=True)
    start = bench.links, bench.parity
    lost = float(1 - np.isin(long.links @ [n, 1], plausible @ [n, 1]).mean())
    row = Row(len(plausible) / len(embedded.pairs), lost, {})
    for way in (ALL, NARROWED):
        if way == NARROWED:
            bench.propose_only(np.concatenate([plausible, start[0]]))
        for moves in asked.moves_a_node:
            bench.put(*start)
            began = time.process_time()
            search_on(bench, Meter(Budget(moves=moves * n)), seed, limit=1, annealing=THOROUGH)
            row.found[way, moves] = bench.throughput / long.throughput, time.process_time() - began
    return row


if __name__ == "__main__":
    main()
