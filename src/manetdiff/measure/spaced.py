"""Fleets of any size at the spacing of the benchmark sets: the packaged sets where there are any, and between them sets
that are drawn and solved in the same way when they are first looked at."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from manetdiff.data import BENCHMARKS, Settings, SolvedLayout, make_layouts, read_shard
from manetdiff.data.benchmark import default_radio, dense_as_16
from manetdiff.data.layouts import draw_layouts
from manetdiff.data.shards import is_done, write_shard
from manetdiff.files import made_folder
from manetdiff.layout import Layout
from manetdiff.measure.digests import content_digest
from manetdiff.measure.sets import LayoutSet, benchmark_set

# Of the search for a target, as in the packaged sets: moves a node, up to so many moves for a whole fleet.
MOVES_A_NODE, MOST_MOVES = 64_000, 16_384_000
COUNT = 200


def spaced_set(nodes: int, folder: Path | None = None) -> LayoutSet:
    """All layouts of a size.

    - folder: where solved layouts are kept, because their searches are long; None: nowhere. Packaged ones need none.
    """
    packaged = f"bench{nodes}"
    if packaged in BENCHMARKS:
        return benchmark_set(packaged)
    moves = min(MOVES_A_NODE * nodes, MOST_MOVES)
    settings = dense_as_16(nodes, COUNT, moves, part=1).settings()

    @cache
    def layout(index: int) -> SolvedLayout:
        return _kept(settings, index, folder)

    key = {"spaced": settings.to_dict()}
    recipe = (spaced_set, (nodes, folder))
    return LayoutSet(f"{nodes:,} nodes, drawn", nodes, tuple(range(COUNT)), layout, key, (__name__,), recipe)


def drawn_layout(nodes: int) -> Layout:
    """One of a size, not solved: as in bench16 and bench32 up to 32 nodes, as dense as these beyond."""
    settings = Settings(nodes=(nodes,), count=1, seed=nodes, moves_a_node=1, **default_radio(nodes))
    return draw_layouts(settings, 0)[0].layout


def _kept(settings: Settings, index: int, folder: Path | None) -> SolvedLayout:
    """The layout of an index: read, if it lies there whole and is of these very settings, or else made, and kept."""
    if folder is None:
        return make_layouts(settings, index)[0]
    name = content_digest(repr(settings.to_dict()).encode())
    path = folder / f"{name}-{index:05d}.parquet"
    if not is_done(path, settings, range(index, index + 1)):
        made_folder(folder)
        write_shard(path, make_layouts(settings, index), settings)
    (solved,) = read_shard(path)
    return solved
