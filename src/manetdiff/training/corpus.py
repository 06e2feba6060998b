"""Solved layouts as tensors, one bucket for each fleet size, ready to be held on the training device."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from manetdiff.cores import usable_cores
from manetdiff.data import Dataset, LayoutArrays, SolvedLayout, read_dataset
from manetdiff.data.settings import first_difference
from manetdiff.engine import LocalEngine
from manetdiff.errors import DataError, FormatError
from manetdiff.files import write_whole
from manetdiff.fleet import Fleet
from manetdiff.layout import FEATURES_VERSION, Layout
from manetdiff.model.tensors import Graphs, Layouts
from manetdiff.radio import Radio
from manetdiff.scenarios import FAMILIES

TASK = 500  # layouts that a process makes the features of at a time
TASKS_A_WORKER = 20  # fewer are made sooner than another process is started


@dataclass(frozen=True)
class Bucket:
    """All layouts of n nodes, with the reference's topologies.

    - node: (b, n, 4) float32; pair: (b, n, n, 7) float16; sector: (b, n, n) uint8; edges: (b, n, n) uint8;
    - parity: (b, n) uint8.
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

    def part(self, rows: Tensor | slice) -> Bucket:
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

    - buckets: by fleet size. held_out: layouts that are not in them, to validate on.
    - radio: that the layouts are solved for. sources: the settings of each dataset.
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
    folders: Sequence[Path],
    radio: Radio | None = None,
    *,
    held_out: int = 0,
    leave_out: Sequence[str] = (),
    workers: int | None = None,
) -> Corpus:
    """Read datasets that were solved for one radio. radio: the one asked for; by default that of the first dataset.

    - held_out: so many layouts of each size are kept apart, the last of each dataset, but at most a fifth of it.
    - leave_out: families of layouts that the run must not see. The features are kept in each folder for the next run.
    """
    datasets = read_datasets(folders, leave_out, apart=held_out > 0)
    solved_for = [_one_radio(folder, dataset) for folder, dataset in zip(folders, datasets, strict=True)]
    asked = radio or solved_for[0]
    for folder, one in zip(folders, solved_for, strict=True):
        difference = first_difference(one.to_dict(), asked.to_dict())
        if difference:
            name, there, wanted = difference
            raise DataError(f"{folder}: solved with the radio's {name} = {there!r}, not {wanted!r} as asked for")
    pieces = [(dataset, n, folder) for folder, dataset in zip(folders, datasets, strict=True) for n in dataset.nodes]
    buckets = _kept_buckets(pieces, asked, workers or usable_cores())
    parts: dict[int, list[Bucket]] = {}
    apart = []
    for (dataset, n, folder), whole in zip(pieces, buckets, strict=True):
        rows = dataset.table.filter(pc.equal(dataset.table["nodes"], n))
        seen = ~np.isin(rows["family"].to_pylist(), list(leave_out))
        if not seen.any():
            raise DataError(f"{folder}: nothing is left without the families {', '.join(leave_out)}")
        bucket = whole if seen.all() else whole.part(torch.from_numpy(np.flatnonzero(seen)))
        count = min(held_out, len(bucket) // 5)
        parts.setdefault(n, []).append(bucket.part(slice(0, len(bucket) - count)))
        apart += _last_layouts(Dataset(dataset.settings, rows.filter(pa.array(seen))), count)
    sources = [source(dataset, leave_out) for dataset in datasets]
    return Corpus({n: _joined(some) for n, some in sorted(parts.items())}, apart, asked, sources)


def read_datasets(folders: Sequence[Path], leave_out: Sequence[str], *, apart: bool) -> list[Dataset]:
    """Datasets to learn from. apart: whether some layouts of each will be held out."""
    if not folders:
        raise DataError("give at least one folder of solved layouts")
    if unknown := set(leave_out) - set(FAMILIES):
        raise DataError(f"no family {', '.join(sorted(unknown))} to leave out; there are {', '.join(FAMILIES)}")
    datasets = [read_dataset(folder) for folder in folders]
    if apart:
        _refuse_shared_layouts(folders, datasets)
    return datasets


def _one_radio(folder: Path, dataset: Dataset) -> Radio:
    """The radio that a network would learn for, of a set that it can learn from."""
    if dataset.settings.blocked:
        raise DataError(f"{folder}: has nodes with blocked antennas, which the network does not see")
    if not isinstance(dataset.settings.radio, Radio):
        raise DataError(f"{folder}: its layouts have radios of their own; the network learns for one radio")
    return dataset.settings.radio


def _refuse_shared_layouts(folders: Sequence[Path], datasets: Sequence[Dataset]) -> None:
    """What one dataset holds out, another with the same layouts would teach."""
    seen: dict[str, Path] = {}
    for folder, dataset in zip(folders, datasets, strict=True):
        settings = dataset.settings.to_dict()
        # With these changed, the layouts are still the same.
        free = ("count", "search_moves", "moves_a_node", "shard_size", "solver")
        key = json.dumps({name: value for name, value in settings.items() if name not in free}, sort_keys=True)
        if key in seen:
            raise DataError(f"{folder}: has the layouts of {seen[key]}: give each once, or make them with another seed")
        seen[key] = folder


def buckets_of(layouts: Sequence[LayoutArrays], radio: Radio, *, workers: int = 1) -> list[Bucket]:
    """A bucket for each of these, their features made by so many processes together."""
    tasks = [
        (arrays.positions[start : start + TASK], arrays.yaw[start : start + TASK], radio)
        for arrays in layouts
        for start in range(0, len(arrays), TASK)
    ]
    if len(tasks) > 1:
        _features((tasks[0][0][:1], tasks[0][1][:1], radio))  # compiled once, before the processes need it
    made = LocalEngine(max(1, min(workers, len(tasks) // TASKS_A_WORKER))).in_order(_features, tasks)
    buckets = []
    for arrays in layouts:
        count = -(-len(arrays) // TASK)
        features = [np.concatenate(parts) for parts in zip(*itertools.islice(made, count), strict=True)]
        buckets.append(_bucket(arrays, *map(torch.from_numpy, features)))
    return buckets


def _bucket(arrays: LayoutArrays, node: Tensor, pair: Tensor, sector: Tensor) -> Bucket:
    edges, parity = arrays.adjacency.astype(np.uint8), arrays.parity.astype(np.uint8)
    return Bucket(node, pair, sector, torch.from_numpy(edges), torch.from_numpy(parity))


def _features(task: tuple[np.ndarray, np.ndarray, Radio]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    positions, yaw, radio = task
    made = [Layout(Fleet(*layout), radio).features for layout in zip(positions, yaw, strict=True)]
    return (
        np.stack([features.node for features in made]),
        np.stack([features.pair for features in made]).astype(np.float16),
        np.stack([features.sector for features in made]),
    )


def _kept_buckets(pieces: Sequence[tuple[Dataset, int, Path]], radio: Radio, workers: int) -> list[Bucket]:
    """Buckets with the features that an earlier run left in each folder; what is missing is made and left there."""
    layouts = [dataset.arrays(n) for dataset, n, _ in pieces]
    paths = [folder / _features_name(dataset, n) for dataset, n, folder in pieces]
    kept = [_kept(path, len(arrays)) for path, arrays in zip(paths, layouts, strict=True)]
    missing = [place for place, features in enumerate(kept) if features is None]
    made = dict(zip(missing, buckets_of([layouts[place] for place in missing], radio, workers=workers), strict=True))
    for place, bucket in made.items():
        features = {"node": bucket.node.numpy(), "pair": bucket.pair.numpy(), "sector": bucket.sector.numpy()}
        _keep(paths[place], features)
    return [
        made[place] if features is None else _bucket(layouts[place], **features) for place, features in enumerate(kept)
    ]


def _features_name(dataset: Dataset, n: int) -> str:
    content = json.dumps([FEATURES_VERSION, dataset.settings.to_dict()], sort_keys=True)
    return f"features-{n}-{hashlib.sha256(content.encode()).hexdigest()[:12]}.npz"


def _kept(path: Path, layouts: int) -> dict[str, Tensor] | None:
    """Features that an earlier run left, if they are whole."""
    try:
        with np.load(path, allow_pickle=False) as file:
            tensors = {name: torch.from_numpy(file[name]) for name in ("node", "pair", "sector")}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return tensors if all(len(tensor) == layouts for tensor in tensors.values()) else None


def _keep(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Leave features for the next run. Several runs may do so at once; where nobody may write, there is no harm."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    with suppress(FormatError):
        write_whole(path, buffer.getvalue())


def _last_layouts(dataset: Dataset, count: int) -> list[SolvedLayout]:
    return list(Dataset(dataset.settings, dataset.table.slice(dataset.table.num_rows - count)))


def source(dataset: Dataset, leave_out: Sequence[str]) -> dict[str, object]:
    """The settings of a dataset, and what of it is left out."""
    settings: dict[str, object] = dataset.settings.to_dict()
    left_out = sorted(set(leave_out) & set(dataset.settings.families))
    return {**settings, "left_out": left_out} if left_out else settings


def _joined(buckets: list[Bucket]) -> Bucket:
    if len(buckets) == 1:
        return buckets[0]
    return Bucket(*(torch.cat(tensors) for tensors in zip(*(bucket._tensors() for bucket in buckets), strict=True)))
