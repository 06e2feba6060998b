"""Rows of a sweep as a table of standard Parquet types, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from manetdiff.data.shards import read_content, read_sealed, to_bytes
from manetdiff.errors import DataError
from manetdiff.json_settings import parsed_json
from manetdiff.sweeps.grid import Grid, Place, Way
from manetdiff.sweeps.rows import STAGES, Row
from manetdiff.topology import METRICS

KEY = b"manetdiff.sweep"
MEASURED = (*METRICS, "sustained", "reference", "ratio")
TIMES = ("milliseconds", "processor_milliseconds", *(f"{stage}_milliseconds" for stage in STAGES))

Cell = tuple[Place, Way]


def schema(grid: Grid) -> pa.Schema:
    """The columns. What is null: metrics of a row that failed, reference and ratio where none was asked for, and stages
    that a way does not have; error where nothing went wrong."""
    words = [pa.field(name, pa.string(), nullable=False) for name in ("family", "radio", "kind", "way")]
    family, radio, kind, way = words
    return pa.schema(
        [
            family,
            pa.field("nodes", pa.int32(), nullable=False),
            *(radio, kind, way),
            pa.field("seed", pa.int64(), nullable=False),
            pa.field("index", pa.int64(), nullable=False),
            *(pa.field(name, pa.float64()) for name in MEASURED),
            *(pa.field(name, pa.float64()) for name in (TIMES if grid.times else ())),
            pa.field("error", pa.string()),
        ]
    )


def table_of(grid: Grid, rows: Iterable[tuple[Cell, Row | str]]) -> pa.Table:
    """A line for each; a text is what it failed by."""
    lines: list[dict[str, Any]] = []
    for (place, way), row in rows:
        values = {"error": row} if isinstance(row, str) else {**row, "error": None}
        lines.append({**asdict(place), "kind": way.kind, "way": way.name, "seed": grid.seed, **values})
    return pa.Table.from_pylist(lines, schema(grid))


def cells_of(table: pa.Table) -> list[Cell]:
    """What each line is of."""
    names = ("family", "nodes", "radio", "index", "kind", "way")
    return [
        (Place(family, nodes, radio, index), Way(kind, way))
        for family, nodes, radio, index, kind, way in zip(*(table[name].to_pylist() for name in names), strict=True)
    ]


def sweep_bytes(table: pa.Table, described: Mapping[str, Any]) -> bytes:
    """The finished table as a file. described: which sweep it is."""
    said = json.dumps(described, separators=(",", ":")).encode()
    return to_bytes(table.combine_chunks().replace_schema_metadata({KEY: said}))


def part_bytes(table: pa.Table) -> bytes:
    """Some of its rows as a file."""
    return to_bytes(table.combine_chunks())


def read_part(path: Path, grid: Grid) -> pa.Table:
    """The rows that lie there; none where the file is not whole, or not of such a table."""
    try:
        table = pq.read_table(pa.BufferReader(read_sealed(path)))
    except (DataError, pa.ArrowException, OSError):
        return schema(grid).empty_table()
    return table if table.schema.equals(schema(grid)) else schema(grid).empty_table()


def read_sweep(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """A finished table, and which sweep it is of."""
    try:
        table = pq.read_table(pa.BufferReader(read_content(path)))
        described = parsed_json((table.schema.metadata or {})[KEY].decode())
    except (pa.ArrowException, OSError, KeyError, ValueError):
        raise DataError(f"{path}: not a table made by 'manetdiff sweep': remove it or give another file") from None
    return table, described
