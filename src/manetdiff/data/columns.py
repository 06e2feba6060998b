"""Solved layouts as a table, one row a layout, and back.

Standard Parquet types only, so that any reader of Parquet can use the files. Metrics carry the prefix `metric_`: one of
them is called parity, as the nodes' parity is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from manetdiff.data.layouts import SolvedLayout
from manetdiff.data.settings import FORMAT, FORMAT_NAME, Settings
from manetdiff.errors import DataError
from manetdiff.fleet import Fleet
from manetdiff.json_settings import parsed_json
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.scenarios import FAMILIES, MOTIONS
from manetdiff.topology import METRICS, Report, Topology

NODE_COLUMNS = ("x", "y", "yaw", "parity")
LINK_COLUMNS = ("link_source", "link_target")

FORMAT_KEY, SETTINGS_KEY = b"manetdiff.format", b"manetdiff.settings"


def _list_of(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", kind, nullable=False))


def _metric(name: str) -> Callable[[SolvedLayout], float]:
    return lambda layout: layout.metrics[name]


WORD = pa.dictionary(pa.int32(), pa.string())
PLACES, SMALL = _list_of(pa.float32()), _list_of(pa.uint8())

# What each column holds, and what it is of a layout.
COLUMNS: dict[str, tuple[pa.DataType, Callable[[SolvedLayout], Any]]] = {
    "index": (pa.int64(), lambda layout: layout.index),
    "step": (pa.int8(), lambda layout: layout.step),
    "displacement": (pa.float64(), lambda layout: layout.displacement),
    "motion": (WORD, lambda layout: layout.motion),
    "nodes": (pa.int16(), lambda layout: len(layout.fleet)),
    "family": (WORD, lambda layout: layout.family),
    "x": (PLACES, lambda layout: layout.fleet.positions[:, 0].astype(np.float32)),
    "y": (PLACES, lambda layout: layout.fleet.positions[:, 1].astype(np.float32)),
    "yaw": (PLACES, lambda layout: layout.fleet.yaw.astype(np.float32)),
    "link_source": (SMALL, lambda layout: layout.topology.links[:, 0].astype(np.uint8)),
    "link_target": (SMALL, lambda layout: layout.topology.links[:, 1].astype(np.uint8)),
    "parity": (SMALL, lambda layout: layout.topology.parity.astype(np.uint8)),
    **{f"metric_{name}": (pa.float64(), _metric(name)) for name in METRICS},
    "method": (pa.string(), lambda layout: layout.topology.report.method),
    "search_moves": (pa.int64(), lambda layout: layout.topology.report.moves),
    "restarts": (pa.int32(), lambda layout: layout.topology.report.restarts),
    "solver_seed": (pa.int64(), lambda layout: layout.topology.report.seed),
    "fallback": (pa.bool_(), lambda layout: layout.topology.report.fallback),
}
SCHEMA = pa.schema([pa.field(name, kind, nullable=name == "motion") for name, (kind, _) in COLUMNS.items()])
# Fixed lists of words, so that the bytes do not depend on which one comes first.
WORDS = {"motion": MOTIONS, "family": FAMILIES}


def to_table(layouts: Sequence[SolvedLayout], settings: Settings) -> pa.Table:
    """One row a layout, with the format and the settings in the table's metadata."""
    arrays = []
    for name, (kind, of) in COLUMNS.items():
        column = pa.array([of(layout) for layout in layouts], pa.string() if kind == WORD else kind)
        if kind == WORD:
            words = pa.array(WORDS[name], pa.string())
            column = pa.DictionaryArray.from_arrays(pc.index_in(column, words), words)
        arrays.append(column)
    return pa.Table.from_arrays(arrays, schema=SCHEMA.with_metadata(metadata(settings)))


def metadata(settings: Settings) -> dict[bytes, bytes]:
    """What every file says about itself: the format's name and version, and all settings of the set."""
    return {FORMAT_KEY: f"{FORMAT_NAME} {FORMAT}".encode(), SETTINGS_KEY: json.dumps(settings.to_dict()).encode()}


def from_table(table: pa.Table, radio: Radio) -> Iterator[SolvedLayout]:
    """The layouts of a checked table, row by row, and the radio that they were solved for."""
    for batch in table.to_batches(max_chunksize=256):
        for row in batch.to_pylist():
            fleet = Fleet(np.stack([row["x"], row["y"]], axis=1), row["yaw"])
            links = np.stack([row["link_source"], row["link_target"]], axis=1).astype(np.int64)
            report = Report(
                method=row["method"],
                seed=row["solver_seed"],
                moves=row["search_moves"],
                restarts=row["restarts"],
                fallback=row["fallback"],
            )
            yield SolvedLayout(
                index=row["index"],
                step=row["step"],
                displacement=row["displacement"],
                motion=row["motion"],
                family=row["family"],
                fleet=fleet,
                topology=Topology(links, row["parity"], report, Layout(fleet, radio)),
                metrics={name: row[f"metric_{name}"] for name in METRICS},
            )


def settings_of(schema: pa.Schema, name: str) -> Settings:
    """The settings in a file's metadata; a file of another kind, version or shape is refused by name."""
    said = (schema.metadata or {}).get(FORMAT_KEY)
    if said is None or not said.decode(errors="replace").startswith(f"{FORMAT_NAME} "):
        raise DataError(f"{name}: a Parquet file, but not one of solved layouts made by 'manetdiff data'")
    if said != f"{FORMAT_NAME} {FORMAT}".encode():
        version = said.decode(errors="replace").split(" ", 1)[1]
        raise DataError(f"{name}: layouts of format {version}; this version of manetdiff reads format {FORMAT}")
    for field in SCHEMA:
        if field.name not in schema.names:
            raise DataError(f"{name}: the column {field.name!r} is missing")
        if schema.field(field.name).type != field.type:
            raise DataError(
                f"{name}: the column {field.name!r} holds {schema.field(field.name).type}, not {field.type}"
            )
    try:
        return Settings.from_dict(parsed_json(schema.metadata[SETTINGS_KEY]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{name}: its settings cannot be read: {error}") from None


def check_rows(table: pa.Table, name: str) -> None:
    """Raise unless every row has as many values as it has nodes and links, and links join nodes that it has."""
    nodes = table["nodes"]
    sound = not any(table[column].null_count for column in table.column_names if column != "motion")
    for column in NODE_COLUMNS:
        sound = sound and _all(pc.equal(pc.list_value_length(table[column]), nodes))
    source, target = (table[column] for column in LINK_COLUMNS)
    sound = sound and _all(pc.equal(pc.list_value_length(source), pc.list_value_length(target)))
    if sound:
        of_row = pc.take(nodes, pc.list_parent_indices(target))
        ends = pc.list_flatten(source), pc.list_flatten(target)
        sound = _all(pc.less(ends[0], ends[1])) and _all(pc.less(ends[1], of_row))
    if not sound:
        raise DataError(f"{name}: holds rows whose nodes and links do not fit together; make the file again")


def _all(mask: Any) -> bool:
    # None where there are no values at all
    return pc.all(mask).as_py() is not False
