"""What the limits of a search cost: links lost to candidates, and T lost to them and to the cut-off of interference.

Each fleet is searched with and without the limits, by equally many moves. 'Links lost' are those of the search without
limits that the limited one could not have proposed; 'T lost' is what the limited search has less, on average over the
fleets; it is a comparison of two random searches, so that small figures of either sign mean none.

    python scripts/enough_candidates.py   # 16 … 256 nodes, the twelve radios of the set 'radios'
    python scripts/enough_candidates.py --nodes 1000 --fleets 1
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import numpy.typing as npt

from manetdiff.cores import usable_cores
from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS
from manetdiff.layout import Layout
from manetdiff.layout.choosing import ENOUGH, UNLIMITED, Limits
from manetdiff.scenarios import AIR, draw
from manetdiff.solvers import solve

NODES = (16, 32, 64, 128, 256)
ANTENNA = (2, 3, 4, 6, 8, 12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="*", default=NODES)
    parser.add_argument("--radios", nargs="*", default=list(BENCHMARK_RADIOS))
    parser.add_argument("--fleets", type=int, default=8, help="of each size and radio")
    parser.add_argument("--moves-a-node", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=usable_cores())
    asked = parser.parse_args()
    print("nodes, radio, sectors, T lost to candidates, to candidates and cut-off, links lost with so many an antenna")
    with ProcessPoolExecutor(asked.workers) as pool:
        for nodes in asked.nodes:
            everywhere = []
            for name in asked.radios:
                tasks = [(name, nodes, seed, asked.moves_a_node * nodes) for seed in range(asked.fleets)]
                rows = list(pool.map(one, tasks))
                everywhere += rows
                report(nodes, name, BENCHMARK_RADIOS[name].radio.sectors, rows)
            report(nodes, "all", 0, everywhere)


def report(nodes: int, name: str, sectors: int, rows: list[tuple[float, float, tuple[float, ...]]]) -> None:
    """One line of the table: rows are of one fleet each."""
    candidates, both = (1 - np.mean([row[k] for row in rows]) for k in range(2))
    lost = np.mean([row[2] for row in rows], axis=0)
    shares = "  ".join(f"{most}: {share:.2%}" for most, share in zip(ANTENNA, lost, strict=True))
    print(f"{nodes:5} {name:19} {sectors or '':>2}  {candidates:+.3%}  {both:+.3%}  {shares}", flush=True)


def one(task: tuple[str, int, int, int]) -> tuple[float, float, tuple[float, ...]]:
    """T with limited candidates, and with both limits, over T without; links lost with some limits."""
    name, nodes, seed, moves = task
    radio, spacing = BENCHMARK_RADIOS[name].radio, BENCHMARK_RADIOS[name].spacing
    metres = None if radio.unit is None else radio.range * radio.unit
    family = AIR[seed % len(AIR)]
    rng = np.random.default_rng((nodes, seed))
    fleet = draw(family, nodes, rng, spacing=spacing, within=metres) if metres else draw(family, nodes, rng)
    layouts = [Layout(fleet, radio, limits) for limits in (UNLIMITED, ENOUGH._replace(near=None), ENOUGH)]
    free, few, both = (solve(layout, moves=moves, seed=seed) for layout in layouts)
    lost = tuple(share_lost(free.links, Layout(fleet, radio, Limits(most, None))) for most in ANTENNA)
    best = free.report.throughput
    return few.report.throughput / best, both.report.throughput / best, lost


def share_lost(links: npt.NDArray[np.int64], layout: Layout) -> float:
    """Of links (m, 2) the share that is no candidate of the layout."""
    n = len(layout)
    known = layout.candidates[:, 0] * n + layout.candidates[:, 1]
    return float(1 - np.isin(links[:, 0] * n + links[:, 1], known).mean())


if __name__ == "__main__":
    main()
