"""Solved layouts as tensors, one bucket for each fleet size, ready to be held on the training device."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import torch
from torch import Tensor

from manetdiff.data import Dataset, LayoutArrays, SolvedLayout, read_dataset, usable_cores
from manetdiff.data.files import write_whole
from manetdiff.data.settings import first_difference
from manetdiff.data.workers import in_order
from manetdiff.errors import DataError
from manetdiff.features import layout_features
from manetdiff.fleet import Fleet
from manetdiff.model.graphs import Graphs, Layouts
from manetdiff.radio import Radio

# Raised when the features change: features kept from before are then made again.
FEATURES_VERSION = 1
TASK = 500


@dataclass(frozen=True)
class Bucket:
    """All layouts of n nodes, with the reference's topologies.

    node: (b, n, 4) float32; pair: (b, n, n, 7) float16; sector: (b, n, n) uint8; edges: (b, n, n) uint8;
    parity: (b, n) uint8.
    """

    node: Tensor
    pair: Tensor
    sector: Tensor
    edges: Tensor
    parity: Tensor

    @property
    def nodes(self) -> int:
        """n."""
        return self.node.shape[1]

    def __len__(self) -> int:
        return self.node.shape[0]

    def rows(self, rows: Tensor | slice) -> tuple[Layouts, Graphs]:
        """Some of the layouts, and the clean graphs on them."""
        node = self.node[rows]
        mask = torch.ones(node.shape[:2], dtype=torch.bool, device=node.device)
        layouts = Layouts(node, self.pair[rows].to(node.dtype), self.sector[rows], mask)
        return layouts, Graphs(self.edges[rows].to(node.dtype), self.parity[rows].to(node.dtype))

    def part(self, rows: slice) -> Bucket:
        """A bucket of some of the layouts."""
        return Bucket(*(tensor[rows] for tensor in self._tensors()))

    def to(self, device: torch.device | str) -> Bucket:
        """The same on a device."""
        return Bucket(*(tensor.to(device) for tensor in self._tensors()))

    def _tensors(self) -> tuple[Tensor, ...]:
        return self.node, self.pair, self.sector, self.edges, self.parity


@dataclass(frozen=True)
class Corpus:
    """What a run learns from.

    buckets: by fleet size. held_out: layouts that are not in them, to validate on.
    radio: that the layouts are solved for. sources: the settings of each dataset.
    """

    buckets: dict[int, Bucket]
    held_out: list[SolvedLayout]
    radio: Radio
    sources: list[dict[str, object]]

    @property
    def mean_degree(self) -> float:
        """Links of a node, on average."""
        ends = sum(float(bucket.edges.sum(dtype=torch.int64)) for bucket in self.buckets.values())
        return ends / sum(len(bucket) * n for n, bucket in self.buckets.items())

    def __len__(self) -> int:
        return sum(map(len, self.buckets.values()))

    def to(self, device: torch.device | str) -> Corpus:
        """The same on a device."""
        buckets = {n: bucket.to(device) for n, bucket in self.buckets.items()}
        return Corpus(buckets, self.held_out, self.radio, self.sources)


def read_corpus(
    folders: Sequence[Path], radio: Radio | None = None, *, held_out: int = 0, workers: int | None = None
) -> Corpus:
    """Read datasets that were solved for one radio. radio: the one asked for; by default that of the first dataset.

    held_out: so many layouts of each size are kept apart, the last of each dataset, but at most a fifth of it.
    The features are kept in each folder for the next run.
    """
    if not folders:
        raise DataError("give at least one folder of solved layouts")
    parts: dict[int, list[Bucket]] = {}
    sources, apart = [], []
    for folder in folders:
        dataset = read_dataset(folder)
        radio = radio or dataset.settings.radio
        difference = first_difference(dataset.settings.radio.to_dict(), radio.to_dict())
        if difference:
            name, solved, asked = difference
            raise DataError(f"{folder}: solved with the radio's {name} = {solved!r}, not {asked!r} as asked for")
        for n in dataset.nodes:
            bucket = _kept_bucket(dataset, n, folder, workers)
            count = min(held_out, len(bucket) // 5)
            parts.setdefault(n, []).append(bucket.part(slice(0, len(bucket) - count)))
            apart += _last_layouts(dataset, n, count)
        sources.append(dataset.settings.to_dict())
    assert radio is not None
    return Corpus({n: _joined(buckets) for n, buckets in sorted(parts.items())}, apart, radio, sources)


def bucket_of(arrays: LayoutArrays, radio: Radio, *, workers: int = 1) -> Bucket:
    """The bucket of layouts at hand."""
    tasks = [
        (arrays.positions[start : start + TASK], arrays.yaw[start : start + TASK], radio)
        for start in range(0, len(arrays), TASK)
    ]
    node, pair, sector = (
        np.concatenate(parts) for parts in zip(*in_order(_features, tasks, min(workers, len(tasks))), strict=True)
    )
    return Bucket(
        torch.from_numpy(node),
        torch.from_numpy(pair),
        torch.from_numpy(sector),
        torch.from_numpy(arrays.adjacency.astype(np.uint8)),
        torch.from_numpy(arrays.parity.astype(np.uint8)),
    )


def _features(task: tuple[np.ndarray, np.ndarray, Radio]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    positions, yaw, radio = task
    made = [layout_features(Fleet(*layout), radio) for layout in zip(positions, yaw, strict=True)]
    return (
        np.stack([features.node for features in made]),
        np.stack([features.pair for features in made]).astype(np.float16),
        np.stack([features.sector for features in made]),
    )


def _kept_bucket(dataset: Dataset, n: int, folder: Path, workers: int | None) -> Bucket:
    """The bucket from the file that an earlier run left, or made and left there now."""
    arrays = dataset.arrays(n)
    content = json.dumps([FEATURES_VERSION, dataset.settings.to_dict()], sort_keys=True)
    path = folder / f"features-{n}-{hashlib.sha256(content.encode()).hexdigest()[:12]}.npz"
    if path.exists():
        with np.load(path, allow_pickle=False) as kept:
            tensors = {name: torch.from_numpy(kept[name]) for name in ("node", "pair", "sector")}
        if len(tensors["node"]) == len(arrays):
            return Bucket(
                **tensors,
                edges=torch.from_numpy(arrays.adjacency.astype(np.uint8)),
                parity=torch.from_numpy(arrays.parity.astype(np.uint8)),
            )
    bucket = bucket_of(arrays, dataset.settings.radio, workers=workers or usable_cores())
    buffer = io.BytesIO()
    np.savez(buffer, node=bucket.node.numpy(), pair=bucket.pair.numpy(), sector=bucket.sector.numpy())
    write_whole(path, buffer.getvalue())
    return bucket


def _last_layouts(dataset: Dataset, n: int, count: int) -> list[SolvedLayout]:
    rows = dataset.table.filter(pc.equal(dataset.table["nodes"], n))
    return list(Dataset(dataset.settings, rows.slice(rows.num_rows - count)))


def _joined(buckets: list[Bucket]) -> Bucket:
    if len(buckets) == 1:
        return buckets[0]
    return Bucket(*(torch.cat(tensors) for tensors in zip(*(bucket._tensors() for bucket in buckets), strict=True)))
