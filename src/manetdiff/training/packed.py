"""Solved layouts of any size and radio for sparse networks, held on the training device as long rows.

A batch is packed there: from the numbers of its layouts to tensors of one fixed shape, so that a step can be captured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from manetdiff.cores import usable_cores
from manetdiff.data import SolvedLayout
from manetdiff.errors import DataError, TrainingError
from manetdiff.model.arc_tensors import ArcGraphs, ArcLayouts
from manetdiff.model.packing import ARCS, NODES, ArcTensorRows, Room, packed_layouts
from manetdiff.radio import Radio
from manetdiff.training.corpus import read_datasets, source
from manetdiff.training.solved_rows import Chosen, SolvedRows, solved_rows, some

# Room for nodes, links and antennas, for each arc: a little more than fleets have.
ROOM = {"nodes": 0.12, "links": 0.5, "antennas": 0.4, "graphs": 0.008}
# Room beyond the mean of what layouts drawn at random need, in standard deviations.
SPARE = 2.0


class Rows(NamedTuple):
    """Solved layouts one after the other, each numbered from 0 within itself.

    - Of arcs: features, float16; bearing; owner, reverse, antenna, link, int32. Of links: forward, int32; linked, by
      the solution; in_forest, the shortest spanning one. Of nodes: parity; forest_parity; arcs_of_node, their number.
      Of antennas: arcs_of_antenna, their number.
    - begins: (4, g + 1) where the arcs, nodes, links and antennas of each layout begin.
    """

    features: Tensor
    bearing: Tensor
    owner: Tensor
    reverse: Tensor
    antenna: Tensor
    link: Tensor
    forward: Tensor
    linked: Tensor
    in_forest: Tensor
    parity: Tensor
    forest_parity: Tensor
    arcs_of_node: Tensor
    arcs_of_antenna: Tensor
    begins: Tensor

    @property
    def layouts(self) -> ArcTensorRows:
        """The layouts without their solutions."""
        return ArcTensorRows(*(getattr(self, name) for name in ArcTensorRows._fields))


@dataclass(frozen=True)
class PackedCorpus:
    """What a run of a sparse network learns from.

    - held_out: layouts that are not among the rows, to validate on. sources: the settings of each dataset.
    - origins: where the rows come from, in their order.
    - radio: the one that users have who name none.
    """

    rows: Rows
    held_out: list[SolvedLayout]
    origins: list[Chosen]
    sources: list[dict[str, object]]
    radio: Radio

    @property
    def mean_degree(self) -> float:
        """Links of a node, on average."""
        return 2 * float(self.rows.linked.sum(dtype=torch.int64)) / len(self.rows.parity)

    def __len__(self) -> int:
        return self.rows.begins.shape[1] - 1

    def to(self, device: torch.device | str) -> PackedCorpus:
        """The same on a device."""
        return replace(self, rows=Rows(*(part.to(device) for part in self.rows)))

    def room(self, arcs: int) -> Room:
        """Of batches with so many arcs."""
        begins = self.rows.begins
        most = begins.diff().amax(1).tolist()
        if most[ARCS] >= arcs:
            raise TrainingError(f"a batch of {arcs} arcs has no room for a layout of {most[ARCS]}: give a larger one")
        kinds = zip(("nodes", "links", "antennas"), most[1:], strict=True)
        nodes, links, antennas = (1 + max(math.ceil(ROOM[name] * arcs), 2 * least) for name, least in kinds)
        longest = int(self.rows.arcs_of_node.max()), int(self.rows.arcs_of_antenna.max()), most[NODES]
        return Room(arcs, nodes, links, antennas, 2 + math.ceil(ROOM["graphs"] * arcs), longest)


def read_packed(
    folders: Sequence[Path], *, held_out: int = 0, leave_out: Sequence[str] = (), workers: int | None = None
) -> PackedCorpus:
    """Read datasets of any radios.

    - held_out: so many layouts of each dataset are kept apart, the last, but at most a fifth of it.
    - leave_out: families of layouts that the run must not see.
    """
    datasets = read_datasets(folders, leave_out, apart=held_out > 0)
    chosen, apart = [], []
    for folder, dataset in zip(folders, datasets, strict=True):
        seen = np.flatnonzero(~np.isin(dataset.table["family"].to_pylist(), list(leave_out)))
        if len(seen) == 0:
            raise DataError(f"{folder}: nothing is left without the families {', '.join(leave_out)}")
        count = min(held_out, len(seen) // 5)
        if dataset.settings.displacement is not None:
            count -= count % 2  # a fleet and the same one moved stay together
        taught = len(seen) - count
        apart += list(some(dataset, seen[taught:]))
        chosen.append(Chosen(folder, len(dataset), seen[:taught]))
    parts = list(solved_rows(chosen, workers or usable_cores()))
    sources = [source(dataset, leave_out) for dataset in datasets]
    return PackedCorpus(_joined(parts), apart, chosen, sources, Radio())


def _joined(parts: Sequence[SolvedRows]) -> Rows:
    *columns, counts = (torch.from_numpy(np.concatenate(some)) for some in zip(*parts, strict=True))
    begins = torch.cat([torch.zeros(counts.shape[1], 1, dtype=torch.int64), counts.T.cumsum(1)], dim=1)
    return Rows._make([*columns, begins])


def chosen_layouts(begins: npt.NDArray[np.int64], room: Room, seed: Sequence[int]) -> npt.NDArray[np.int64]:
    """(graphs,) numbers of layouts drawn at random for one batch, as many as there is room for; -1 fills it up."""
    counts = np.diff(begins)
    drawn = np.random.default_rng(list(seed)).integers(counts.shape[1], size=room.graphs - 1)
    fits = fitting(room, counts[:, drawn])
    return np.concatenate([drawn[:fits], np.full(room.graphs - fits, -1)])


def fitting(room: Room, counts: npt.NDArray[np.int64]) -> int:
    """How many of these layouts, by their counts (4, g), a batch has room for, with one node, link and antenna left for
    what fills it up."""
    most = np.array([room.arcs, room.nodes - 1, room.links - 1, room.antennas - 1])
    return int((counts.cumsum(1) <= most[:, None]).all(0).sum())  # sums only grow


def room_for(corpus: PackedCorpus, among: npt.NDArray[np.int64], layouts: int, samples: int) -> Room:
    """Room for so many layouts drawn among these, each so many times: enough for most draws."""
    counts = corpus.rows.begins.diff().cpu().numpy()[:, among]
    usual = layouts * counts.mean(1) + SPARE * layouts**0.5 * counts.std(1)
    sizes = samples * np.ceil(np.maximum(usual, counts.max(1))).astype(int) + 1
    arcs, nodes, links, antennas = sizes.tolist()
    most = int(corpus.rows.arcs_of_node.max()), int(corpus.rows.arcs_of_antenna.max()), int(counts[NODES].max())
    return Room(arcs, nodes, links, antennas, layouts * samples + 1, most)


class Batch(NamedTuple):
    """Layouts, the solutions of them, and their shortest spanning forests."""

    layouts: ArcLayouts
    clean: ArcGraphs
    forest: ArcGraphs


def packed(rows: Rows, chosen: Tensor, room: Room) -> Batch:
    """The layouts with these numbers, -1 for none, in a batch of fixed shape."""
    layouts, nodes, links = packed_layouts(rows.layouts, chosen, room)
    clean, forest = (
        ArcGraphs(linked[links.row].float() * links.used, parity[nodes.row].float() * nodes.used)
        for linked, parity in ((rows.linked, rows.parity), (rows.in_forest, rows.forest_parity))
    )
    return Batch(layouts, clean, forest)
