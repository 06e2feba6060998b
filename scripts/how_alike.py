"""How alike two searches of the same layout come out, under each radio of the set `radios`, beside what raw samples of
a network are worth there.

Where two searches choose other links for nearly the same T, there is no one topology for a network to learn.

    python scripts/how_alike.py [--weights netdiff-sparse] [--layouts 10] [--moves-a-node 2000]
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import manetdiff as md
from manetdiff.data import SolvedLayout, load_benchmark
from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS
from manetdiff.errors import DisconnectedWarning
from manetdiff.weights import DEFAULT


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default=DEFAULT)
    parser.add_argument("--layouts", type=int, default=10, help="of each radio")
    parser.add_argument("--moves-a-node", type=int, default=2000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", DisconnectedWarning)
    model, solved = md.load(asked.weights), load_benchmark("radios")
    print("| radio | the other search: T | links in common | raw: T | links in common | connected |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in BENCHMARK_RADIOS:
        some = [one for one in solved if one.radio_name == name][: asked.layouts]
        rows = np.array([_row(model, one, asked.moves_a_node * len(one.fleet)) for one in some])
        cells = [f"{share:.1%}" for share in rows.mean(0)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _row(model: md.Model, solved: SolvedLayout, moves: int) -> list[float]:
    """Of a second search, over the first: T, links in both; the same of a raw sample, and whether it is connected."""
    first, second = (md.solve(solved.fleet, solved.layout.radio, moves=moves, seed=seed) for seed in (1, 2))
    raw = model.generate(solved.layout, seed=solved.index, steps=10, correct=False, polish=False)
    worth = md.metrics(first)["throughput"]
    scored = md.metrics(raw)
    return [
        md.metrics(second)["throughput"] / worth,
        md.continuity(first, second),
        scored["throughput"] / worth,
        md.continuity(first, raw),
        scored["connected"],
    ]


if __name__ == "__main__":
    main()
