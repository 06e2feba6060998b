"""Reading solved layouts back: one by one, or as arrays for training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from manetdiff.data.columns import LINK_COLUMNS, from_table
from manetdiff.data.folder import read_settings
from manetdiff.data.layouts import SolvedLayout
from manetdiff.data.settings import Settings, first_difference
from manetdiff.data.shards import checksum_name, from_bytes, read_content, read_sealed, shard_name
from manetdiff.errors import DataError
from manetdiff.topology import METRICS


@dataclass(frozen=True)
class LayoutArrays:
    """All layouts of one fleet size n, as arrays over b rows in the order of the set.

    With moves, rows 0, 2, 4, … are the fleets as drawn and rows 1, 3, 5, … the same fleets moved.

    index (b,) int64; step (b,) int8; displacement (b,) float64; family (b,) str.
    positions (b, n, 2) float32 in metres, (b, n, 3) with heights; yaw (b, n) float32 in radians.
    adjacency (b, n, n) bool, symmetric; parity (b, n) uint8.

    - metrics: each (b,) float64, by the names in manetdiff.topology.METRICS.
    """

    index: npt.NDArray[np.int64]
    step: npt.NDArray[np.int8]
    displacement: npt.NDArray[np.float64]
    family: npt.NDArray[np.str_]
    positions: npt.NDArray[np.float32]
    yaw: npt.NDArray[np.float32]
    adjacency: npt.NDArray[np.bool_]
    parity: npt.NDArray[np.uint8]
    metrics: dict[str, npt.NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.index)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Solved layouts in memory, as compact as on disk; iterate over it, or take its arrays by fleet size.

    - table: the rows as an Arrow table, with the columns of manetdiff.data.columns.schema.
    """

    settings: Settings
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[SolvedLayout]:
        return from_table(self.table, self.settings)

    def __repr__(self) -> str:
        return f"Dataset(layouts={len(self)}, nodes={self.nodes})"

    @property
    def nodes(self) -> tuple[int, ...]:
        """The fleet sizes that occur, smallest first."""
        return tuple(sorted(pc.unique(self.table["nodes"]).to_pylist()))

    def arrays(self, nodes: int) -> LayoutArrays:
        """All layouts of this fleet size."""
        if nodes not in self.nodes:
            raise DataError(f"no layouts of {nodes} nodes in this set; it has {', '.join(map(str, self.nodes))}")
        rows = self.table.filter(pc.equal(self.table["nodes"], nodes)).combine_chunks()
        count = rows.num_rows

        def by_node(name: str) -> Any:
            return _flat(rows, name).reshape(count, nodes)

        links = [_flat(rows, name).astype(np.int64) for name in LINK_COLUMNS]
        row_of_link = pc.list_parent_indices(rows[LINK_COLUMNS[0]]).to_numpy()
        adjacency = np.zeros((count, nodes, nodes), dtype=np.bool_)
        adjacency[row_of_link, links[0], links[1]] = True
        adjacency[row_of_link, links[1], links[0]] = True
        return LayoutArrays(
            index=rows["index"].to_numpy(),
            step=rows["step"].to_numpy(),
            displacement=rows["displacement"].to_numpy(),
            family=np.array(rows["family"].to_pylist(), dtype=np.str_),
            positions=np.stack([by_node(axis) for axis in ("x", "y", "z") if axis in rows.column_names], axis=2),
            yaw=by_node("yaw"),
            adjacency=adjacency,
            parity=by_node("parity"),
            metrics={name: rows[f"metric_{name}"].to_numpy() for name in METRICS},
        )


def read_dataset(path: Path | str) -> Dataset:
    """A whole set from its folder; every shard must be there and match its checksum."""
    folder = Path(path)
    if not folder.is_dir():
        raise DataError(f"{folder}: not a folder; give one that 'manetdiff data' has filled")
    settings = read_settings(folder)
    names = [shard_name(shard) for shard in range(settings.shards)]
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise DataError(
            f"{folder}: not finished: {missing[0]} is missing ({len(missing)} of {len(names)} shards); "
            "run the command that made it again"
        )
    tables = []
    for shard, name in enumerate(names):
        table, said = from_bytes(read_sealed(folder / name), str(folder / name))
        difference = first_difference(settings.to_dict(), said.to_dict())
        if difference:
            raise DataError(f"{folder / name}: belongs to another set: its {difference[0]} is {difference[2]!r}")
        expected = np.repeat(np.array(settings.shard_indices(shard), dtype=np.int64), settings.rows_each)
        if not np.array_equal(table["index"].to_numpy(), expected):
            raise DataError(f"{folder / name}: does not hold the layouts {expected[0]} … {expected[-1]} of the set")
        tables.append(table)
    return Dataset(settings, pa.concat_tables(tables))


def read_shard(path: Path | str) -> Dataset:
    """The layouts of one file; where a checksum lies beside it, it must match."""
    file = Path(path)
    content = read_sealed(file) if checksum_name(file).exists() else read_content(file)
    table, settings = from_bytes(content, str(file))
    return Dataset(settings, table)


def _flat(rows: pa.Table, name: str) -> Any:
    """All values of a list column, one row after another."""
    return pc.list_flatten(rows[name]).to_numpy()
