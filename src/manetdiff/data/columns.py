"""Solved layouts as a table, one row a layout, and back.

Standard Parquet types only, so that any reader of Parquet can use the files. Metrics carry the prefix `metric_`: one of
them is called parity, as the nodes' parity is.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from manetdiff.data.layouts import SolvedLayout
from manetdiff.data.radios import RANDOM
from manetdiff.data.settings import FORMAT_NAME, FORMATS, READABLE, SMALL_FLEET, Settings
from manetdiff.errors import DataError
from manetdiff.fleet import Fleet
from manetdiff.json_settings import parsed_json
from manetdiff.layout import Layout
from manetdiff.messages import brief
from manetdiff.radio import Radio
from manetdiff.scenarios import AIR, AIR_MOTIONS, FAMILIES, MOTIONS
from manetdiff.topology import METRICS, Report, Topology

NODE_COLUMNS = ("x", "y", "z", "yaw", "parity")
LINK_COLUMNS = ("link_source", "link_target")
ARC_COLUMNS = ("blocked_node", "blocked_start", "blocked_stop")

FORMAT_KEY, SETTINGS_KEY = b"manetdiff.format", b"manetdiff.settings"


def _list_of(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", kind, nullable=False))


def _metric(name: str) -> Callable[[SolvedLayout], float]:
    return lambda layout: layout.metrics[name]


def _arcs(part: Callable[[int, tuple[float, float]], float]) -> Callable[[SolvedLayout], list[float]]:
    """What of each blocked range of azimuths of each node, all in one list."""
    return lambda layout: [part(node, arc) for node, arcs in enumerate(layout.fleet.blocked or ()) for arc in arcs]


WORD = pa.dictionary(pa.int32(), pa.string())
PLACES, SMALL, LARGE = _list_of(pa.float32()), _list_of(pa.uint8()), _list_of(pa.uint16())

# What a column holds, and what it is of a layout.
Columns = dict[str, tuple[pa.DataType, Callable[[SolvedLayout], Any]]]


def columns(settings: Settings) -> Columns:
    """The columns of a set. Those that not every set needs are only where they say something."""
    nodes, integer = (SMALL, np.uint8) if max(settings.nodes) <= SMALL_FLEET else (LARGE, np.uint16)
    heights: Columns = {"z": (PLACES, lambda layout: layout.fleet.heights.astype(np.float32))}
    blocked: Columns = {
        "blocked_node": (nodes, _arcs(lambda node, arc: node)),
        "blocked_start": (PLACES, _arcs(lambda node, arc: arc[0])),
        "blocked_stop": (PLACES, _arcs(lambda node, arc: arc[1])),
    }
    drawn_radio: Columns = {"radio": (pa.string(), lambda layout: json.dumps(layout.layout.radio.to_dict()))}
    named_radio: Columns = {"radio_name": (WORD, lambda layout: layout.radio_name)}
    return {
        "index": (pa.int64(), lambda layout: layout.index),
        "step": (pa.int8(), lambda layout: layout.step),
        "displacement": (pa.float64(), lambda layout: layout.displacement),
        "motion": (WORD, lambda layout: layout.motion),
        "nodes": (pa.int16(), lambda layout: len(layout.fleet)),
        "family": (WORD, lambda layout: layout.family),
        **({} if isinstance(settings.radio, Radio) else drawn_radio if settings.radio == RANDOM else named_radio),
        "x": (PLACES, lambda layout: layout.fleet.positions[:, 0].astype(np.float32)),
        "y": (PLACES, lambda layout: layout.fleet.positions[:, 1].astype(np.float32)),
        **({} if settings.heights is None else heights),
        "yaw": (PLACES, lambda layout: layout.fleet.yaw.astype(np.float32)),
        **(blocked if settings.blocked else {}),
        "link_source": (nodes, lambda layout: layout.topology.links[:, 0].astype(integer)),
        "link_target": (nodes, lambda layout: layout.topology.links[:, 1].astype(integer)),
        "parity": (SMALL, lambda layout: layout.topology.parity.astype(np.uint8)),
        **{f"metric_{name}": (pa.float64(), _metric(name)) for name in METRICS},
        "method": (pa.string(), lambda layout: layout.topology.report.method),
        "search_moves": (pa.int64(), lambda layout: layout.topology.report.moves),
        "restarts": (pa.int32(), lambda layout: layout.topology.report.restarts),
        "solver_seed": (pa.int64(), lambda layout: layout.topology.report.seed),
        "fallback": (pa.bool_(), lambda layout: layout.topology.report.fallback),
    }


def schema(settings: Settings) -> pa.Schema:
    """The types of the columns of a set."""
    return pa.schema([pa.field(name, kind, nullable=name == "motion") for name, (kind, _) in columns(settings).items()])


def _words(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Fixed lists of words, so that the bytes do not depend on which one comes first, nor on families elsewhere."""
    of_air = set(settings.families) <= set(AIR)
    families, motions = (AIR, AIR_MOTIONS) if of_air else (FAMILIES, MOTIONS)
    radios = settings.radio if isinstance(settings.radio, Mapping) else ()
    return {"motion": motions, "family": families, "radio_name": tuple(radios)}


def to_table(layouts: Sequence[SolvedLayout], settings: Settings) -> pa.Table:
    """One row a layout, with the format and the settings in the table's metadata."""
    arrays = []
    for name, (kind, of) in columns(settings).items():
        column = pa.array([of(layout) for layout in layouts], pa.string() if kind == WORD else kind)
        if kind == WORD:
            words = pa.array(_words(settings)[name], pa.string())
            column = pa.DictionaryArray.from_arrays(pc.index_in(column, words), words)
        arrays.append(column)
    return pa.Table.from_arrays(arrays, schema=schema(settings).with_metadata(metadata(settings)))


def metadata(settings: Settings) -> dict[bytes, bytes]:
    """What every file says about itself: the format's name and version, and all settings of the set."""
    return {
        FORMAT_KEY: f"{FORMAT_NAME} {settings.format}".encode(),
        SETTINGS_KEY: json.dumps(settings.to_dict()).encode(),
    }


def from_table(table: pa.Table, settings: Settings) -> Iterator[SolvedLayout]:
    """The layouts of a checked table, row by row, each with the radio that it was solved for."""
    for batch in table.to_batches(max_chunksize=256):
        for row in batch.to_pylist():
            fleet = _fleet(row)
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
                radio_name=row.get("radio_name"),
                fleet=fleet,
                topology=Topology(links, row["parity"], report, Layout(fleet, _radio(row, settings))),
                metrics={name: row[f"metric_{name}"] for name in METRICS},
            )


def _fleet(row: Mapping[str, Any]) -> Fleet:
    positions = np.stack([row[axis] for axis in ("x", "y", "z") if axis in row], axis=1)
    if "blocked_node" not in row:
        return Fleet(positions, row["yaw"])
    blocked: list[list[tuple[float, float]]] = [[] for _ in positions]
    for node, *arc in zip(*(row[name] for name in ARC_COLUMNS), strict=True):
        blocked[node].append((arc[0], arc[1]))
    return Fleet(positions, row["yaw"], blocked=blocked)


def _radio(row: Mapping[str, Any], settings: Settings) -> Radio:
    radios = settings.radio
    if isinstance(radios, Radio):
        return radios
    if isinstance(radios, Mapping):
        return radios[row["radio_name"]].radio
    try:
        return Radio.from_dict(parsed_json(row["radio"]))
    except ValueError as error:
        raise DataError(f"layout {row['index']}: its radio {error}") from None


def settings_of(found: pa.Schema, name: str) -> Settings:
    """The settings in a file's metadata; a file of another kind, version or shape is refused by name."""
    said = (found.metadata or {}).get(FORMAT_KEY)
    if said is None or not said.decode(errors="replace").startswith(f"{FORMAT_NAME} "):
        raise DataError(f"{name}: a Parquet file, but not one of solved layouts made by 'manetdiff data'")
    version = said.decode(errors="replace").split(" ", 1)[1]
    if version not in map(str, FORMATS):
        raise DataError(f"{name}: layouts of format {version}; this version of manetdiff reads {READABLE}")
    try:
        settings = Settings.from_dict(parsed_json(found.metadata[SETTINGS_KEY]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{name}: its settings cannot be read: {error}") from None
    for field in schema(settings):
        if field.name not in found.names:
            raise DataError(f"{name}: the column {field.name!r} is missing")
        if found.field(field.name).type != field.type:
            raise DataError(f"{name}: the column {field.name!r} holds {found.field(field.name).type}, not {field.type}")
    return settings


def check_rows(table: pa.Table, settings: Settings, name: str) -> None:
    """Raise unless every row has as many values as it has nodes, links and arcs, and these are of nodes that it has."""
    nodes, there = table["nodes"], set(table.column_names)
    sound = not any(table[column].null_count for column in there - {"motion"})
    for column in there & set(NODE_COLUMNS):
        sound = sound and _all(pc.equal(pc.list_value_length(table[column]), nodes))
    for one, other in itertools.chain(*map(itertools.pairwise, (LINK_COLUMNS, ARC_COLUMNS))):
        if {one, other} <= there:
            sound = sound and _all(pc.equal(pc.list_value_length(table[one]), pc.list_value_length(table[other])))
    if sound:
        source, target = (pc.list_flatten(table[column]) for column in LINK_COLUMNS)
        sound = _all(pc.less(source, target)) and _of_nodes(table, "link_target")
    if sound and "blocked_node" in there:
        sound = _of_nodes(table, "blocked_node")
    if not sound:
        raise DataError(f"{name}: holds rows whose nodes and links do not fit together; make the file again")
    if isinstance(settings.radio, Mapping):
        unknown = set(pc.unique(table["radio_name"]).to_pylist()) - set(settings.radio)
        if unknown:
            raise DataError(f"{name}: has no radio {brief(unknown.pop())} that a layout of it names")


def _of_nodes(table: pa.Table, column: str) -> bool:
    """Whether all of these are indices of nodes of their row."""
    of_row = pc.take(table["nodes"], pc.list_parent_indices(table[column]))
    return _all(pc.less(pc.list_flatten(table[column]), of_row))


def _all(mask: Any) -> bool:
    # None where there are no values at all
    return pc.all(mask).as_py() is not False
