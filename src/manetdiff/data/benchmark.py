"""The packaged benchmark sets: the same layouts for every method, and never part of any training set."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from manetdiff.data.columns import metadata
from manetdiff.data.dataset import Dataset, read_dataset
from manetdiff.data.folder import Progress, generate, remove_dataset
from manetdiff.data.layouts import SolvedLayout
from manetdiff.data.settings import BENCHMARK, Settings, first_difference
from manetdiff.data.shards import from_bytes, read_content, to_bytes
from manetdiff.errors import DataError
from manetdiff.files import write_whole

PARTS = ".parts"
PART_SIZE = 50


@dataclass(frozen=True)
class Benchmark:
    """How a set is made: so many layouts of one fleet size, the families in turn."""

    nodes: int
    count: int
    seed: int
    search_moves: int

    def settings(self, search_moves: int | None = None) -> Settings:
        """What to make; search_moves replaces the set's own search budget."""
        return Settings(
            nodes=(self.nodes,),
            count=self.count,
            seed=self.seed,
            search_moves=self.search_moves if search_moves is None else search_moves,
            shard_size=PART_SIZE,
            domain=BENCHMARK,
            families_in_turn=True,
        )


BENCHMARKS = {
    "bench16": Benchmark(nodes=16, count=1000, seed=16, search_moves=800_000),
    "bench32": Benchmark(nodes=32, count=500, seed=32, search_moves=2_000_000),
}


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
    expected = dataclasses.replace(known.settings(settings.search_moves), solver=settings.solver)
    _check_same(settings, expected, str(packaged))
    return Dataset(settings, table)


def make_benchmark(
    name: str,
    out: Path,
    *,
    search_moves: int | None = None,
    workers: int = 1,
    report: Callable[[Progress], None] | None = None,
) -> Dataset:
    """Make the set as one Parquet file. Its parts lie in `out`.parts until all are made, so a stopped run goes on."""
    settings = _known(name).settings(search_moves)
    return make_joined(settings, out, workers=workers, report=report)


def make_joined(
    settings: Settings, out: Path, *, workers: int = 1, report: Callable[[Progress], None] | None = None
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
    generate(settings, parts, workers=workers, report=report)
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
