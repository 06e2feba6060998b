"""Topologies a second from positions to links, for one core and more: by worker processes, and by threads beside them.

python scripts/batch_cores.py                                   # up to as many workers as there are cores
python scripts/batch_cores.py --workers 1 2 4 8 16 --out docs/results/cores.md
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np

import manetdiff as md
from manetdiff.cores import processor_name, usable_cores
from manetdiff.errors import DisconnectedWarning
from manetdiff.scenarios import draw

NODES, PRESETS = (16, 32, 128), ("instant", "balanced")
# Seconds that one worker takes for a batch, so that starts and ends do not count.
BATCH_S = 2.0
HEAD = """# Batches on several cores

Topologies a second of a list of fleets, and how many times one core's that is. By `python scripts/batch_cores.py
--workers {workers} --out docs/results/cores.md`, on {cores} cores of {processor}. Workers are processes
(`md.load(workers=…)`); beside the most of them, for comparison, as many threads of one process. *These cores*: so much
of linear is left of small matrix products, and a little Python, in as many processes that share nothing: what the
machine has to give.

| nodes | preset | workers | topologies a second | times one | of linear | these cores | threads: times one |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""
# Seconds of the products, and of the start of their processes.
ALONE_S, START_S = 1.2, 2.0


class Case(NamedTuple):
    """What is measured: one worker does so many a second."""

    nodes: int
    preset: str
    fleets: list[md.Fleet]
    alone: float

    def repeated(self, count: int) -> list[md.Fleet]:
        """Enough of the fleets for so many workers."""
        enough = max(len(self.fleets), int(BATCH_S * self.alone * count))
        return [self.fleets[k % len(self.fleets)] for k in range(enough)]


def main() -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = usable_cores()
    parser.add_argument("--workers", type=int, nargs="+", default=[one for one in (1, 2, 4, 8, 16) if one <= cores])
    parser.add_argument("--nodes", type=int, nargs="+", default=list(NODES))
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", DisconnectedWarning)
    cases = [case(nodes, preset) for nodes in asked.nodes for preset in PRESETS]
    products = {count: by_cores(count) for count in asked.workers}
    # Workers are started once for all cases.
    speeds = {count: by_workers(count, cases) for count in asked.workers}
    most = max(asked.workers)
    threads = by_threads(most, cases)
    lines = []
    for k, one in enumerate(cases):
        first = speeds[asked.workers[0]][k] / asked.workers[0]
        for count in asked.workers:
            speed = speeds[count][k]
            cells = [str(one.nodes), one.preset, str(count), f"{speed:,.0f}", f"{speed / first:.2f}"]
            cells += [f"{speed / first / count:.2f}", f"{products[count] / products[asked.workers[0]]:.2f}"]
            cells += [f"{threads[k] / first:.2f}" if count == most else ""]
            lines.append("| " + " | ".join(cells) + " |")
    head = HEAD.format(workers=" ".join(map(str, asked.workers)), cores=cores, processor=processor_name())
    print(head + "\n".join(lines))
    if asked.out is not None:
        asked.out.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def case(nodes: int, preset: str) -> Case:
    """Fleets to be repeated, and the pace of one core."""
    rng = np.random.default_rng(0)
    model = md.load()
    some = [draw("mixed", nodes, rng) for _ in range(8)]
    model.generate(some[:2], preset=preset)
    return Case(nodes, preset, some, _speed(partial(model.generate, preset=preset), some))


def by_cores(count: int) -> float:
    """Products a second of each of so many processes that share nothing."""
    begin = time.time() + START_S
    context = get_context("spawn")
    with ProcessPoolExecutor(count, mp_context=context) as pool:
        return sum(pool.map(_products, [begin] * count)) / count


def _products(begin: float) -> float:
    values = np.random.default_rng(0).normal(size=(200, 32)).astype(np.float32)
    made, began = 0, time.perf_counter()
    while time.time() < begin + ALONE_S:
        if time.time() < begin:
            began = time.perf_counter()
            continue
        for _ in range(50):
            np.tanh(values @ values[:32]).sum()
            sum(range(100))
        made += 1
    return made / (time.perf_counter() - began)


def by_workers(count: int, cases: Sequence[Case]) -> list[float]:
    """Topologies a second of each case."""
    model = md.load(workers=count)
    for one in cases:
        model.generate(one.fleets[:2] * count, preset=one.preset)  # they are started, and have loaded the network
    speeds = [_speed(partial(model.generate, preset=one.preset), one.repeated(count)) for one in cases]
    model.close()
    return speeds


def by_threads(count: int, cases: Sequence[Case]) -> list[float]:
    """The same of threads of this process."""
    model = md.load()
    with ThreadPoolExecutor(count) as threads:

        def work(preset: str, batch: list[md.Fleet]) -> object:
            return list(threads.map(partial(model.generate, preset=preset), batch))

        # They gain little: enough for two is enough for all.
        return [_speed(partial(work, one.preset), one.repeated(2)) for one in cases]


def _speed(work: Callable[[list[md.Fleet]], object], fleets: list[md.Fleet]) -> float:
    began = time.perf_counter()
    work(fleets)
    return len(fleets) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
