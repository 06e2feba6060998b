"""What the local search makes of a start at equal moves: fleets that are in no benchmark set, the radios of `radios`.

Starts, both corrected: MST+greedy; and what a short search finds, some links dropped and nodes turned, which is about
as good as a network's samples. T is over that of a long search, without links that share an antenna; 'kept' is the
share of the start's links that are still there.

    python scripts/local_search.py --nodes 16 --fleets 12 --moves-a-node 20 60 200
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS
from manetdiff.data.layouts import draw_layouts
from manetdiff.data.settings import Settings
from manetdiff.layout import Layout
from manetdiff.radio import throughput
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.heuristics import mst_greedy_links
from manetdiff.solvers.local_search import GENTLE, THOROUGH, search_on
from manetdiff.solvers.reference import search
from manetdiff.solvers.workbench import Workbench

IntArray = npt.NDArray[np.int64]

SEED = 2_718
# Of the start that is like a network's sample: moves a node of its search, how many links are dropped and nodes turned.
SHORT = 400
DROPPED, TURNED = 0.02, 0.003
ANNEALINGS = {"thorough": THOROUGH, "gentle": GENTLE}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[16])
    parser.add_argument("--fleets", type=int, default=12, help="of each size; the radios take turns")
    parser.add_argument("--moves-a-node", type=int, nargs="+", default=[20, 60, 200])
    parser.add_argument("--long", type=int, default=2_000, help="moves a node of the long search")
    parser.add_argument("--radios", nargs="+", choices=list(BENCHMARK_RADIOS), default=list(BENCHMARK_RADIOS))
    parser.add_argument("--each-radio", action="store_true", help="a row for each of them, too")
    asked = parser.parse_args()
    radios = {name: BENCHMARK_RADIOS[name] for name in asked.radios}
    for nodes in asked.nodes:
        settings = Settings(nodes=(nodes,), count=asked.fleets, seed=SEED, radio=radios, moves_a_node=1)
        layouts = [draw_layouts(settings, index)[0] for index in range(asked.fleets)]
        rows = np.array([fleet_rows(one.layout, one.index, asked) for one in layouts])
        told(f"{nodes} nodes", rows, asked)
        for name in radios if asked.each_radio else ():
            told(f"{nodes} nodes, {name}", rows[[one.radio_name == name for one in layouts]], asked)


def told(title: str, rows: npt.NDArray[np.float64], asked: argparse.Namespace) -> None:
    """Print the mean of rows (fleets, starts, annealings, budgets and the start itself, T and kept)."""
    for start, of_start in zip(("MST+greedy", "sample"), rows.mean(axis=0), strict=True):
        for annealing, of_annealing in zip(ANNEALINGS, of_start, strict=True):
            cells = zip([0, *asked.moves_a_node], of_annealing, strict=True)
            line = "; ".join(f"{moves:,}: {share:.2%}, kept {kept:.1%}" for moves, (share, kept) in cells)
            print(f"{title}, {start}, {annealing}: {line}", flush=True)


def fleet_rows(layout: Layout, index: int, asked: argparse.Namespace) -> list[list[list[tuple[float, float]]]]:
    """For both starts and both annealings: T and kept links at the start and after each number of moves a node."""
    n, bench = len(layout), Workbench(layout)
    long, short = (search(layout, Budget(moves=moves * n), moves, crowd=1) for moves in (asked.long, SHORT))
    target, rng = long.throughput, np.random.default_rng((SEED, index))
    turned = np.where(rng.random(n) < TURNED, 1 - short.parity, short.parity)
    sample = short.links[rng.random(len(short.links)) >= DROPPED]
    rows = []
    for links, parity in (mst_greedy_links(layout), (sample, turned)):
        correct_onto(bench, links, parity, flip_parts=True)
        start = bench.links, bench.parity
        rows.append([[(throughput(layout.placement, *start) / target, 1.0)] for _ in ANNEALINGS])
        for row, annealing in zip(rows[-1], ANNEALINGS.values(), strict=True):
            for moves in asked.moves_a_node:
                bench.put(*start)
                search_on(bench, Meter(Budget(moves=moves * n)), index, limit=1, annealing=annealing)
                share = throughput(layout.placement, bench.links, bench.parity) / target
                row.append((share, kept_of(start[0], bench.links, n)))
    return rows


def kept_of(before: IntArray, after: IntArray, n: int) -> float:
    return float(np.isin(before @ [n, 1], after @ [n, 1]).mean())


if __name__ == "__main__":
    main()
