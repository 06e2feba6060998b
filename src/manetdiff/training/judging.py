"""T of sampled graphs after correction and a short local search, on many cores: what a network is rewarded for. Knows
nothing of PyTorch, so that a process starts in a second."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.data import Dataset, read_dataset
from manetdiff.solvers.budget import Budget, Meter
from manetdiff.solvers.correction import correct_onto
from manetdiff.solvers.local_search import THOROUGH, search_on
from manetdiff.solvers.workbench import Workbench
from manetdiff.training.solved_rows import candidates_of, some

# A network in parts is worth so much of its T for each part beyond the first.
PART = 0.8


class Sampled(NamedTuple):
    """Graphs sampled on one layout: row of the table of a dataset; links (s, c) and parity (s, n) of 0 and 1.

    - search: moves a node of the local search after the correction.
    """

    folder: Path
    row: int
    links: npt.NDArray[np.uint8]
    parity: npt.NDArray[np.uint8]
    search: int = 0


@contextmanager
def judges(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that judge."""
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def judged(pool: ProcessPoolExecutor, sampled: Sequence[Sampled]) -> list[npt.NDArray[np.float64]]:
    """(s,) for each layout: T of its graphs after correction and search, as a share of the solution's."""
    return list(pool.map(_judge, sampled, chunksize=max(1, len(sampled) // 64)))


@lru_cache(maxsize=64)
def _dataset(folder: Path) -> Dataset:
    return read_dataset(folder)


def _judge(sampled: Sampled) -> npt.NDArray[np.float64]:
    (solved,) = some(_dataset(sampled.folder), np.array([sampled.row]))
    layout = candidates_of(solved)
    bench, pairs, worth = Workbench(layout), layout.arcs.links, np.zeros(len(sampled.links))
    best = solved.metrics["throughput"]
    if not best > 0:  # interference lets nothing through: all graphs are worth the same
        return worth
    for k, (links, parity) in enumerate(zip(sampled.links, sampled.parity, strict=True)):
        correct_onto(bench, pairs[links > 0], parity.astype(np.int64), flip_parts=True)
        if sampled.search:
            meter = Meter(Budget(moves=sampled.search * len(layout)))
            search_on(bench, meter, k, limit=1, annealing=THOROUGH)
        worth[k] = bench.throughput * PART ** (bench.parts - 1) / best
    return worth
