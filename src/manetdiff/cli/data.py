"""`manetdiff data`: layouts solved by the reference search, to train on or to compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from manetdiff.cli import options
from manetdiff.cli.progress import tracked
from manetdiff.data import BENCHMARKS, Progress, Settings, generate, make_benchmark
from manetdiff.data.radios import RANDOM, Radios
from manetdiff.data.settings import DEFAULT_DISPLACEMENT, DEFAULT_SEARCH_MOVES, DEFAULT_SHARD_SIZE, EQUAL, INVERSE
from manetdiff.data.sizes import sizes_of
from manetdiff.errors import DataError
from manetdiff.formats import read_radio
from manetdiff.messages import brief
from manetdiff.radio import Radio
from manetdiff.scenarios import AIR, FAMILIES, MIXED

Report = Callable[[Progress], None]


def command(
    out: Annotated[Path, typer.Option(help="Folder to fill (with --benchmark: the file to write).")],
    nodes: Annotated[
        list[str],
        typer.Option(
            help="Nodes of a fleet; several, such as 16,32, are mixed equally. With a range, such as 4-128, small ones "
            "come more often: n nodes by 1/n."
        ),
    ] = ["16"],  # noqa: B006
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
    moves_a_node: Annotated[
        int | None, typer.Option(help="The same for each node of a layout, instead of --search-moves.")
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
    radios: Annotated[
        str | None,
        typer.Option(metavar=RANDOM, help="A radio of its own for each layout, drawn from real and abstract ones."),
    ] = None,
    spacing: Annotated[
        float | None,
        typer.Option(
            help="Metres from a node to its nearest neighbour, the median of a fleet. (default: as the family has it; "
            f"with --radios {RANDOM}, 100 m to 100 km)",
        ),
    ] = None,
    heights: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="Heights of the nodes in metres, drawn from this range. (default: flat)"),
    ] = None,
    blocked: Annotated[
        float, typer.Option(help="Share of the nodes that have no antenna in some range of directions.")
    ] = 0.0,
    workers: options.Workers = None,
    engine: options.EngineChoice = "local",
    cluster: options.Cluster = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            help=f"Make a packaged set instead, as one file: {', '.join(BENCHMARKS)}. Takes only "
            "--out, --search-moves, --workers, --engine and --cluster."
        ),
    ] = None,
) -> None:
    """Make layouts and solve them by the reference search, as Parquet files in a folder.

    The same command on the same folder continues where a stopped run left off; the files are the same, byte by byte,
    as those of a run that was not stopped, with any number of workers and on either engine.
    """
    chosen = options.engine_of(engine, workers, cluster)
    if benchmark is not None:
        given = (count, radio, radios, spacing, heights, moves_a_node)
        fixed = any(one is not None for one in given) or moves or seed or blocked or shard_size != DEFAULT_SHARD_SIZE
        if fixed or nodes != ["16"] or family != [MIXED]:
            raise DataError("--benchmark: its sets are fixed; give only --out, --search-moves and --workers with it")
        with _shown() as report:
            made = make_benchmark(benchmark, out, search_moves=search_moves, engine=chosen, report=report)
        print(f"{out}: {len(made)} layouts, {out.stat().st_size / 1e6:.2f} MB")
        return
    if count is None:
        raise DataError("--count: say how many layouts to make")
    settings = Settings(
        nodes=sizes_of(options.parts(nodes)),
        count=count,
        seed=seed,
        families=AIR if options.parts(family) == [MIXED] else tuple(options.parts(family)),
        radio=_radios(radio, radios),
        search_moves=search_moves,
        moves_a_node=moves_a_node,
        shard_size=shard_size,
        displacement=displacement if moves else None,
        size_odds=INVERSE if any("-" in part for part in options.parts(nodes)) else EQUAL,
        spacing=spacing,
        heights=heights,
        blocked=blocked,
    )
    with _shown() as report:
        made_shards = generate(settings, out, engine=chosen, report=report)
    megabytes = sum(path.stat().st_size for path in out.glob("shard-*.parquet")) / 1e6
    rows = settings.count * settings.rows_each
    print(f"{out}: {rows} layouts, shards: {settings.shards} ({made_shards} made now), {megabytes:.2f} MB")


def _radios(file: Path | None, drawn: str | None) -> Radios:
    if drawn is None:
        return Radio() if file is None else read_radio(file)
    if file is not None:
        raise DataError("--radio and --radios: give one of the two")
    if drawn != RANDOM:
        raise DataError(f"--radios: must be {RANDOM}, not {brief(drawn)}; one radio for all is given by --radio")
    return RANDOM


@contextmanager
def _shown() -> Iterator[Report]:
    """Progress on standard error: a bar on a terminal, else a line for every file."""
    with tracked("layouts") as track:
        yield lambda progress: track(progress.done, progress.total, finished=progress.shard)
