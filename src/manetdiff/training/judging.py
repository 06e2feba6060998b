"""What sampled graphs are worth, on many cores, and what a short local search makes of them: what a network is rewarded
for, and what it is taught by its own samples. Knows nothing of PyTorch, so that a process starts in a second."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.data import Dataset, read_dataset
from manetdiff.layout import Layout
from manetdiff.radio import throughput
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.workbench import Workbench
from manetdiff.topology import Topology, antenna_loads, count_components
from manetdiff.training.solved_rows import candidates_of, linked_in, some

# A network in parts is worth so much of its T for each part beyond the first.
PART = 0.8
# Of the layouts of a step, each judged by one process.
PIECES = 32


class Sampled(NamedTuple):
    """Graphs sampled on one layout: row of the table of a dataset; links (s, c) and parity (s, n) of 0 and 1.

    - as_it_is: whether they count uncorrected. search: moves a node of the local search after the correction.
    """

    folder: Path
    row: int
    links: npt.NDArray[np.uint8]
    parity: npt.NDArray[np.uint8]
    search: int = 0
    as_it_is: bool = False


class Judgement(NamedTuple):
    """worth: (s,) T of the graphs of a layout, as a share of the solution's. links (s, c), parity (s, n): what
    correction and search made of them."""

    worth: npt.NDArray[np.float64]
    links: npt.NDArray[np.uint8]
    parity: npt.NDArray[np.uint8]


@contextmanager
def judges(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that judge."""
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def judged(pool: Executor, sampled: Sequence[Sampled]) -> Iterator[Judgement]:
    """Of each layout, in their order; begun at once, waited for when it is asked for."""
    # Few pieces: each is handed over by a thread that waits for the one which keeps the device busy.
    return pool.map(_judge, sampled, chunksize=max(1, len(sampled) // PIECES))


@lru_cache(maxsize=64)
def _dataset(folder: Path) -> Dataset:
    return read_dataset(folder)


def _judge(sampled: Sampled) -> Judgement:
    (solved,) = some(_dataset(sampled.folder), np.array([sampled.row]))
    layout = candidates_of(solved)
    best = solved.metrics["throughput"]
    # Where interference lets nothing through all graphs are worth the same.
    whole, price = (best, 1 / len(solved.topology.links)) if best > 0 else (np.inf, 0.0)
    bench, pairs = Workbench(layout), layout.arcs.links
    judgement = Judgement(np.empty(len(sampled.links)), np.empty_like(sampled.links), np.empty_like(sampled.parity))
    for k, (linked, of_nodes) in enumerate(zip(sampled.links, sampled.parity, strict=True)):
        links, parity = pairs[linked > 0], of_nodes.astype(np.int64)
        correct_onto(bench, links, parity, flip_parts=True)
        if sampled.search:
            moves = sampled.search * len(layout)
            search_on(bench, Meter(Budget(moves=moves)), k, limit=1, annealing=THOROUGH)
        if sampled.as_it_is:
            judgement.worth[k] = _as_it_is(Topology(links, parity, layout=layout), layout, whole, price)
        else:
            judgement.worth[k] = bench.throughput / whole * PART ** (bench.parts - 1)
        judgement.links[k] = linked_in(pairs, bench.links, len(layout))
        judgement.parity[k] = bench.parity
    return judgement


def _as_it_is(topology: Topology, layout: Layout, whole: float, price: float) -> float:
    """What a graph is worth uncorrected, less a price for each link but one of an antenna, and for each within a
    parity, which carries nothing and joins nothing either."""
    links, parity = topology.links, topology.parity
    alike = parity[links[:, 0]] == parity[links[:, 1]]
    broken = int((antenna_loads(topology, layout) - 1).clip(0).sum() + alike.sum())
    parts = count_components(links[~alike], len(layout))
    return throughput(layout.placement, links, parity) / whole * PART ** (parts - 1) - price * broken
