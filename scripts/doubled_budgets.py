"""Whether a benchmark set is solved: what twice the search budget gains, on some of its layouts.

python scripts/doubled_budgets.py bench64 --moves-a-node 15000 30000 60000 --layouts 32
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from manetdiff.cores import usable_cores
from manetdiff.data.benchmark import BENCHMARKS
from manetdiff.data.layouts import draw_layouts
from manetdiff.solvers import solve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", choices=list(BENCHMARKS))
    parser.add_argument("--moves-a-node", type=int, nargs="+", default=(5_000, 10_000, 20_000))
    parser.add_argument("--layouts", type=int, default=32, help="spread over the set")
    parser.add_argument("--workers", type=int, default=usable_cores())
    asked = parser.parse_args()
    count = BENCHMARKS[asked.set].count
    indices = np.linspace(0, count - 1, min(count, asked.layouts)).astype(int).tolist()
    with ProcessPoolExecutor(asked.workers) as pool:
        before = None
        for moves in asked.moves_a_node:
            tasks = [(asked.set, index, moves) for index in indices]
            now = np.array(list(pool.map(throughput, tasks)))
            told = "" if before is None else f"; over the budget before {np.mean(now / before) - 1:+.3%}"
            print(f"{asked.set}: {moves} moves a node, mean T {now.mean():.3f}{told}", flush=True)
            before = now


def throughput(task: tuple[str, int, int]) -> float:
    """T that the reference finds for a layout of a set with so many moves a node."""
    name, index, moves = task
    layout = draw_layouts(BENCHMARKS[name].settings(), index)[0].layout
    return float(solve(layout, moves=moves * len(layout), seed=2 * index).report.throughput)


if __name__ == "__main__":
    main()
