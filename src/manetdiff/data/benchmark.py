"""The packaged benchmark sets: the same layouts for every method, and never part of any training set."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS, IN_METRES, SPACING
from manetdiff.data.columns import metadata
from manetdiff.data.dataset import Dataset, read_dataset
from manetdiff.data.folder import Progress, generate, remove_dataset
from manetdiff.data.layouts import SolvedLayout
from manetdiff.data.radios import Radios
from manetdiff.data.settings import BENCHMARK, Settings, first_difference
from manetdiff.data.shards import from_bytes, read_content, to_bytes
from manetdiff.engine import Engine
from manetdiff.errors import DataError
from manetdiff.files import write_whole
from manetdiff.radio import Radio

PARTS = ".parts"


@dataclass(frozen=True)
class Benchmark:
    """How a set is made: so many layouts of these fleet sizes, the families in turn, and the radios if they have names.

    - search_moves, moves_a_node: one of them is the search's budget. radio, spacing: as in the settings.
    - part: layouts that are made and kept together; what is made alone is not lost with others when a run is stopped.
    """

    nodes: tuple[int, ...]
    count: int
    seed: int
    search_moves: int | None = None
    moves_a_node: int | None = None
    radio: Radios = field(default_factory=Radio)
    spacing: float | None = None
    part: int = 50

    def settings(self, search_moves: int | None = None) -> Settings:
        """What to make; search_moves replaces the set's own search budget."""
        return Settings(
            nodes=self.nodes,
            count=self.count,
            seed=self.seed,
            search_moves=self.search_moves if search_moves is None else search_moves,
            moves_a_node=self.moves_a_node if search_moves is None else None,
            shard_size=self.part,
            domain=BENCHMARK,
            families_in_turn=True,
            radio=self.radio,
            spacing=self.spacing,
        )


def dense_as_16(nodes: int, count: int, search_moves: int, part: int) -> Benchmark:
    """Larger fleets that are as dense as those of bench16, whatever their size, under the same radio in metres."""
    return Benchmark((nodes,), count, nodes, search_moves, radio=IN_METRES, spacing=SPACING, part=part)


def default_radio(nodes: int) -> dict[str, Any]:
    """Settings of fleets of a size under the default radio: as in bench16 and bench32 up to 32 nodes, and beyond in
    metres and as dense as these."""
    return {"radio": Radio()} if nodes <= 32 else {"radio": IN_METRES, "spacing": SPACING}


BENCHMARKS = {
    "bench16": Benchmark(nodes=(16,), count=1000, seed=16, search_moves=800_000),
    "bench32": Benchmark(nodes=(32,), count=500, seed=32, search_moves=2_000_000),
    "bench64": dense_as_16(64, 200, search_moves=4_096_000, part=8),
    "bench256": dense_as_16(256, 40, search_moves=16_384_000, part=1),
    "bench1000": dense_as_16(1000, 8, search_moves=16_000_000, part=1),
    "radios": Benchmark(
        nodes=tuple(range(12, 33)), count=480, seed=12, moves_a_node=16_000, radio=BENCHMARK_RADIOS, part=24
    ),
}
# Those of the default radio, which every method of the paper takes: what is scored unless others are asked for.
DEFAULT_SETS = ("bench16", "bench32")


def load_benchmark(name: str) -> list[SolvedLayout]:
    """The layouts of a packaged set, with the reference's topologies."""
    return list(benchmark_dataset(name))


def benchmark_dataset(name: str) -> Dataset:
    """The same as a Dataset, which also has the settings and the arrays."""
    known = _known(name)
    packaged = resources.files("manetdiff.data") / "sets" / f"{name}.parquet"
    if not packaged.is_file():
        raise DataError(
            f"the benchmark set {name!r} is not in this installation: make it with 'manetdiff data --benchmark {name}'"
        )
    table, settings = from_bytes(packaged.read_bytes(), str(packaged))
    # A search that has changed since is no reason not to compare with what it found then.
    expected = dataclasses.replace(
        known.settings(),
        search_moves=settings.search_moves,
        moves_a_node=settings.moves_a_node,
        solver=settings.solver,
    )
    _check_same(settings, expected, str(packaged))
    return Dataset(settings, table)


def make_benchmark(
    name: str,
    out: Path,
    *,
    search_moves: int | None = None,
    workers: int = 1,
    engine: Engine | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Dataset:
    """Make the set as one Parquet file. Its parts lie in `out`.parts until all are made, so a stopped run goes on."""
    settings = _known(name).settings(search_moves)
    return make_joined(settings, out, workers=workers, engine=engine, report=report)


def make_joined(
    settings: Settings,
    out: Path,
    *,
    workers: int = 1,
    engine: Engine | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Dataset:
    """Any set as one Parquet file."""
    if out.is_dir():
        raise DataError(f"{out}: a folder; a benchmark set is one file, such as bench16.parquet")
    parts = out.with_name(out.name + PARTS)
    if out.exists():
        # Only a finished run puts the file there: what is left to do is at most to clear up after it.
        table, said = from_bytes(read_content(out), str(out))
        _check_same(said, settings, str(out))
        remove_dataset(parts)
        return Dataset(said, table)
    generate(settings, parts, workers=workers, engine=engine, report=report)
    joined = read_dataset(parts)
    content = to_bytes(joined.table.replace_schema_metadata(metadata(settings)))
    write_whole(out, content)
    remove_dataset(parts)
    return joined


def _known(name: str) -> Benchmark:
    if name not in BENCHMARKS:
        raise DataError(f"unknown benchmark set {name!r}; known are {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]


def _check_same(there: Settings, wanted: Settings, name: str) -> None:
    difference = first_difference(there.to_dict(), wanted.to_dict())
    if difference:
        field, old, new = difference
        raise DataError(f"{name}: holds a set with {field} = {old!r}, not {new!r}: remove it or give another file")
