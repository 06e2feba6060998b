"""Filling a folder with solved layouts, shard by shard; an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manetdiff.checks import check_whole
from manetdiff.data.layouts import SolvedLayout, draw_layouts, make_layouts
from manetdiff.data.parts import Kind, filling, refuse_other, remove_parts
from manetdiff.data.settings import FORMAT_NAME, FORMATS, READABLE, Settings
from manetdiff.data.shards import is_done, shard_name, write_shard
from manetdiff.engine import Engine, LocalEngine
from manetdiff.errors import DataError
from manetdiff.json_settings import parsed_json

DATASET = "dataset.json"
# Layouts that a worker makes at a time, and moves of their searches: few, so that all are busy to the end.
TASK, TASK_MOVES = 8, 1_000_000
KIND = Kind("a set", DATASET, r"dataset\.json|shard-\d{5}\.parquet(\.sha256)?")


@dataclass(frozen=True)
class Progress:
    """How far a run is. done, total: layouts; shard: the file just finished, if one was."""

    done: int
    total: int
    shard: str | None = None


def generate(
    settings: Settings,
    folder: Path,
    *,
    workers: int = 1,
    engine: Engine | None = None,
    report: Callable[[Progress], None] | None = None,
) -> int:
    """Make every shard of the set that is not there yet, whole and unaltered; returns how many were made.

    - workers: processes that share the work. engine: where it is done instead, such as a cluster.

    The bytes depend on the settings alone: not on who did the work, on time, or on how often a run or a worker was
    stopped.
    """
    check_whole(DataError, "workers", workers, 1)
    refuse_other(folder, KIND, settings.to_dict(), _described)
    # Settings that cannot be drawn at all are refused before anything is written.
    draw_layouts(settings, 0)
    with filling(folder, KIND, settings.to_dict(), content=_dataset_json(settings), read=_described):
        return _fill(settings, folder, engine or LocalEngine(workers), report or (lambda progress: None))


def remove_dataset(folder: Path) -> None:
    """Delete the files of a set, and the folder if nothing else is in it."""
    remove_parts(folder, KIND)


def read_settings(folder: Path) -> Settings:
    """The settings in a folder's dataset.json."""
    path = folder / DATASET
    values = _read_dataset_json(path)
    try:
        return Settings.from_dict(values["settings"])
    except DataError as error:
        raise DataError(f"{path}: {error}") from None


def _fill(settings: Settings, folder: Path, engine: Engine, report: Callable[[Progress], None]) -> int:
    missing = [
        shard
        for shard in range(settings.shards)
        if not is_done(folder / shard_name(shard), settings, settings.shard_indices(shard))
    ]
    done = settings.count - sum(len(settings.shard_indices(shard)) for shard in missing)
    report(Progress(done, settings.count))
    parts = {shard: tasks_of(settings, settings.shard_indices(shard)) for shard in missing}
    tasks = ((settings, part) for shard in missing for part in parts[shard])
    with closing(engine.in_order(_make, tasks)) as results:
        for shard in missing:
            layouts: list[SolvedLayout] = []
            for part in parts[shard]:
                layouts += next(results)
                done += len(part)
                report(Progress(done, settings.count))
            write_shard(folder / shard_name(shard), layouts, settings)
            report(Progress(done, settings.count, shard_name(shard)))
    return len(missing)


def tasks_of(settings: Settings, indices: range) -> list[range]:
    """The layouts of these indices, in parts that a worker makes at a time."""
    largest = max(settings.nodes)
    # To draw a large fleet takes about as long as so many moves.
    moves = max(settings.moves_for(largest), largest**2)
    size = max(1, min(TASK, TASK_MOVES // moves))
    return [indices[start : start + size] for start in range(0, len(indices), size)]


def _make(task: tuple[Settings, range]) -> list[SolvedLayout]:
    settings, indices = task
    return [layout for index in indices for layout in make_layouts(settings, index)]


def _dataset_json(settings: Settings) -> bytes:
    content = {"format": FORMAT_NAME, "version": settings.format, "settings": settings.to_dict()}
    return (json.dumps(content, indent=2) + "\n").encode()


def _read_dataset_json(path: Path) -> dict[str, Any]:
    try:
        values = parsed_json(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"{path.parent}: not a dataset folder: it has no {DATASET}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{path}: {error}; restore it or start in another folder") from None
    if (
        not isinstance(values, dict)
        or values.get("format") != FORMAT_NAME
        or not isinstance(values.get("settings"), dict)
    ):
        raise DataError(f"{path}: not the description of a dataset made by 'manetdiff data'")
    if values.get("version") not in FORMATS:
        raise DataError(f"{path}: a dataset of format {values.get('version')!r}; this version reads {READABLE}")
    return values


def _described(folder: Path) -> dict[str, Any]:
    """The settings as they would be written now: what was left out there has its default."""
    return read_settings(folder).to_dict()
