"""`manetdiff data`: layouts solved by the reference search, to train on or to compare with."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from manetdiff.cli.progress import bar
from manetdiff.cores import usable_cores
from manetdiff.data import BENCHMARKS, Progress, Settings, generate, make_benchmark
from manetdiff.data.settings import DEFAULT_DISPLACEMENT, DEFAULT_SEARCH_MOVES, DEFAULT_SHARD_SIZE
from manetdiff.errors import DataError
from manetdiff.formats import read_radio
from manetdiff.radio import Radio
from manetdiff.scenarios import AIR, FAMILIES, MIXED

Report = Callable[[Progress], None]


def command(
    out: Annotated[Path, typer.Option(help="Folder to fill (with --benchmark: the file to write).")],
    nodes: Annotated[list[str], typer.Option(help="Nodes of a fleet; several, such as 16,32, are mixed.")] = ["16"],  # noqa: B006
    count: Annotated[int | None, typer.Option(help="Layouts to make; with --moves, pairs of layouts.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the whole set.")] = 0,
    family: Annotated[
        list[str],
        typer.Option(help=f"Scenario family; several are mixed. {MIXED} (all of aircraft), {', '.join(FAMILIES)}."),
    ] = [MIXED],  # noqa: B006
    search_moves: Annotated[
        int | None,
        typer.Option(
            help=f"Moves of the reference search on each layout. (default: {DEFAULT_SEARCH_MOVES}; "
            "with --benchmark, what the set is defined with)"
        ),
    ] = None,
    moves: Annotated[bool, typer.Option("--moves", help="Also move each fleet and solve it again.")] = False,
    displacement: Annotated[
        tuple[float, float],
        typer.Option(metavar="LOW HIGH", help="With --moves: how far, in spreads of the fleet; drawn from this range."),
    ] = DEFAULT_DISPLACEMENT,
    shard_size: Annotated[int, typer.Option(help="Layouts (with --moves, pairs) in one file.")] = DEFAULT_SHARD_SIZE,
    radio: Annotated[
        Path | None, typer.Option(help="JSON file of radio parameters; others take their default.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; has no say in the result. (default: all usable cores)")
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            help=f"Make a packaged set instead, as one file: {', '.join(BENCHMARKS)}. Takes only "
            "--out, --search-moves and --workers."
        ),
    ] = None,
) -> None:
    """Make layouts and solve them by the reference search, as Parquet files in a folder.

    The same command on the same folder continues where a stopped run left off; the files are the same, byte by byte,
    as those of a run that was not stopped, with any number of workers.
    """
    processes = usable_cores() if workers is None else workers
    if benchmark is not None:
        fixed = count is not None or moves or radio is not None or seed or shard_size != DEFAULT_SHARD_SIZE
        if fixed or nodes != ["16"] or family != [MIXED]:
            raise DataError("--benchmark: its sets are fixed; give only --out, --search-moves and --workers with it")
        with _shown() as report:
            made = make_benchmark(benchmark, out, search_moves=search_moves, workers=processes, report=report)
        print(f"{out}: {len(made)} layouts, {out.stat().st_size / 1e6:.2f} MB")
        return
    if count is None:
        raise DataError("--count: say how many layouts to make")
    settings = Settings(
        nodes=tuple(_whole(part) for part in _parts(nodes)),
        count=count,
        seed=seed,
        families=AIR if _parts(family) == [MIXED] else tuple(_parts(family)),
        radio=Radio() if radio is None else read_radio(radio),
        search_moves=DEFAULT_SEARCH_MOVES if search_moves is None else search_moves,
        shard_size=shard_size,
        displacement=displacement if moves else None,
    )
    with _shown() as report:
        made_shards = generate(settings, out, workers=processes, report=report)
    megabytes = sum(path.stat().st_size for path in out.glob("shard-*.parquet")) / 1e6
    rows = settings.count * settings.rows_each
    print(f"{out}: {rows} layouts, shards: {settings.shards} ({made_shards} made now), {megabytes:.2f} MB")


def _parts(values: list[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",")]


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DataError(f"--nodes: give whole numbers, such as 16 or 16,32, not {text!r}") from None


@contextmanager
def _shown() -> Iterator[Report]:
    """Progress on standard error: a bar on a terminal, else a line for every file."""
    start = time.monotonic()
    before: int | None = None
    with bar() as show:

        def report(progress: Progress) -> None:
            nonlocal before
            # What an earlier run has made does not count in the rate.
            before = progress.done if before is None else before
            rate = f"{(progress.done - before) / max(time.monotonic() - start, 1e-9):.1f}/s"
            if show is not None:
                show(progress.done, progress.total, f"layouts, {rate}")
            elif progress.shard is not None:
                told = f"{progress.shard}: {progress.done} of {progress.total}, {rate}"
                print(told, file=sys.stderr, flush=True)

        yield report
