"""Topologies a second from positions to links, for one core and more: by worker processes, and by threads beside them.

python scripts/batch_cores.py                                   # up to as many workers as there are cores
python scripts/batch_cores.py --workers 1 2 4 8 16 --out docs/results/cores.md
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import manetdiff as md
from manetdiff.cores import usable_cores
from manetdiff.errors import DisconnectedWarning
from manetdiff.scenarios import draw

PRESETS = ("instant", "balanced")
# Seconds that one worker takes for a batch, so that starts and ends do not count.
BATCH_S = 3.0
HEAD = """# Batches on several cores

Topologies a second of a list of fleets, and how many times one core's that is. By `python scripts/batch_cores.py
--workers {workers} --out docs/results/cores.md`, on {cores} cores. Workers are processes (`md.load(workers=…)`); beside
them, for comparison, threads of one process.

| nodes | preset | workers | topologies a second | times one | threads: times one |
| ---: | --- | ---: | ---: | ---: | ---: |
"""


def main() -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = usable_cores()
    parser.add_argument("--workers", type=int, nargs="+", default=[one for one in (1, 2, 4, 8, 16) if one <= cores])
    parser.add_argument("--nodes", type=int, nargs="+", default=[16, 32, 128])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", DisconnectedWarning)
    lines = []
    for nodes in asked.nodes:
        for preset in PRESETS:
            for row in rows(nodes, preset, asked.workers):
                lines.append("| " + " | ".join(row) + " |")
                print(lines[-1], flush=True)
    if asked.out is not None:
        head = HEAD.format(workers=" ".join(map(str, asked.workers)), cores=cores)
        asked.out.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def rows(nodes: int, preset: str, workers: Sequence[int]) -> list[list[str]]:
    """Of the table, for one size and preset."""
    rng = np.random.default_rng(0)
    model = md.load()
    some = [draw("mixed", nodes, rng) for _ in range(16)]
    model.generate(some[:2], preset=preset)
    alone = _speed(lambda fleets: model.generate(fleets, preset=preset), some)
    speeds = []
    for count in workers:
        fleets = [some[k % len(some)] for k in range(max(len(some), int(BATCH_S * alone * count)))]
        speeds.append((_by_workers(count, preset, some, fleets), _by_threads(model, count, preset, fleets)))
    one = speeds[0][0]
    return [
        [str(nodes), preset, str(count), f"{processes:,.0f}", f"{processes / one:.2f}", f"{threads / one:.2f}"]
        for count, (processes, threads) in zip(workers, speeds, strict=True)
    ]


def _by_workers(count: int, preset: str, some: list[md.Fleet], fleets: list[md.Fleet]) -> float:
    model = md.load(workers=count)
    model.generate(some * count, preset=preset)  # they are started, and have loaded the network
    speed = _speed(lambda batch: model.generate(batch, preset=preset), fleets)
    model.close()
    return speed


def _by_threads(model: md.Model, count: int, preset: str, fleets: list[md.Fleet]) -> float:
    with ThreadPoolExecutor(count) as threads:
        return _speed(lambda batch: list(threads.map(lambda one: model.generate(one, preset=preset), batch)), fleets)


def _speed(work: Callable[[list[md.Fleet]], object], fleets: list[md.Fleet]) -> float:
    began = time.perf_counter()
    work(fleets)
    return len(fleets) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
