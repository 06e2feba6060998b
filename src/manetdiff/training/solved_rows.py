"""Solved layouts as long rows of numbers, read by many processes at once; knows nothing of PyTorch, so that a process
starts in a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manetdiff.data import Dataset, SolvedLayout, read_dataset
from manetdiff.engine import LocalEngine
from manetdiff.layout import HARMONICS, Layout
from manetdiff.solvers.spanning import spanning_forest

TASK = 200  # layouts that a process reads at a time


class SolvedRows(NamedTuple):
    """Some layouts one after the other, each numbered from 0 within itself; see `packed.Rows`. counts: (g, 4) arcs,
    nodes, links and antennas of each."""

    features: npt.NDArray[np.float16]
    bearing: npt.NDArray[np.float32]
    owner: npt.NDArray[np.int32]
    reverse: npt.NDArray[np.int32]
    antenna: npt.NDArray[np.int32]
    link: npt.NDArray[np.int32]
    forward: npt.NDArray[np.int32]
    linked: npt.NDArray[np.uint8]
    in_forest: npt.NDArray[np.uint8]
    parity: npt.NDArray[np.uint8]
    forest_parity: npt.NDArray[np.uint8]
    arcs_of_node: npt.NDArray[np.int32]
    arcs_of_antenna: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]


class Chosen(NamedTuple):
    """Rows of a dataset's table. layouts: how many it has, so that one that has grown is read again."""

    folder: Path
    layouts: int
    rows: npt.NDArray[np.int64]


def solved_rows(chosen: Sequence[Chosen], workers: int) -> Iterator[SolvedRows]:
    """Parts of what is chosen, in its order."""
    tasks = [
        one._replace(rows=one.rows[start : start + TASK]) for one in chosen for start in range(0, len(one.rows), TASK)
    ]
    return LocalEngine(max(1, min(workers, len(tasks)))).in_order(_read, tasks)


def some(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Dataset:
    """A dataset of some of the rows."""
    return Dataset(dataset.settings, dataset.table.take(rows))


@lru_cache(maxsize=1)
def _dataset(folder: Path, layouts: int) -> Dataset:
    """Read once by each process, and again when it has grown."""
    return read_dataset(folder)


def _read(task: Chosen) -> SolvedRows:
    made = [_numbers(one) for one in some(_dataset(task.folder, task.layouts), task.rows)]
    return SolvedRows._make(np.concatenate(parts) for parts in zip(*made, strict=True))


def candidates_of(solved: SolvedLayout) -> Layout:
    """The layout with what the search chose among its candidates, even if it looked at more."""
    return Layout(solved.layout.fleet, solved.layout.radio, extra=solved.topology.links)


def linked_in(candidates: npt.NDArray[np.int64], links: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.uint8]:
    """(c,) which candidates (c, 2) are among the links (m, 2) of n nodes."""
    return np.isin(candidates @ [n, 1], links @ [n, 1]).astype(np.uint8)


def _numbers(solved: SolvedLayout) -> SolvedRows:
    links, parity = solved.topology.links, solved.topology.parity
    layout = candidates_of(solved)
    arcs, n = layout.arcs, len(layout)
    forest, of_forest = spanning_forest(layout)
    # Flipping all of it is the same forest: of the two, the one that is more like the solution.
    of_forest = of_forest ^ int(2 * np.count_nonzero(of_forest != parity) > n)
    counts = [[len(arcs.owner), n, len(arcs.links), len(arcs.arcs_of_antenna)]]
    return SolvedRows(
        features=arcs.features.astype(np.float16),
        bearing=np.arctan2(arcs.bearings[:, len(HARMONICS)], arcs.bearings[:, 0]),
        owner=arcs.owner.astype(np.int32),
        reverse=arcs.reverse.astype(np.int32),
        antenna=arcs.antenna.astype(np.int32),
        link=arcs.link.astype(np.int32),
        forward=arcs.forward.astype(np.int32),
        linked=linked_in(arcs.links, links, n),
        in_forest=linked_in(arcs.links, forest, n),
        parity=parity.astype(np.uint8),
        forest_parity=of_forest.astype(np.uint8),
        arcs_of_node=arcs.node_there.sum(1).astype(np.int32),
        arcs_of_antenna=arcs.antenna_there.sum(1).astype(np.int32),
        counts=np.array(counts, dtype=np.int64),
    )
