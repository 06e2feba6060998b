"""`manetdiff bench`: how fast moves are scored, and what each method makes of its time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manetdiff.cli.bench_presets import beside, preset_tables
from manetdiff.cli.bench_scaling import scaling_tables
from manetdiff.cli.bench_speed import batch_tables, step_tables, training_tables
from manetdiff.cli.output import Columns, Table, measured, print_json, print_table, say, write_markdown
from manetdiff.data import DEFAULT_SETS
from manetdiff.errors import SolverError
from manetdiff.evaluate.over_time import (
    CPSAT_LAYOUTS,
    LAYOUTS,
    PRESET,
    Point,
    Standing,
    seconds_to_reach,
    standings,
    time_points,
)
from manetdiff.evaluate.updates import UpdateRow, update_rows
from manetdiff.formats import check_writable
from manetdiff.measure.measures import MEASURES, seconds_text
from manetdiff.measure.sets import benchmark_set
from manetdiff.measure.store import RowStore

if TYPE_CHECKING:  # it has compiled functions of its own, which no other command needs
    from manetdiff.evaluate.move_rates import MoveRates

RATES: Columns[MoveRates] = (
    ("nodes", lambda rate: f"{rate.nodes}"),
    ("incremental, moves/s", lambda rate: f"{rate.incremental:,.0f}"),
    ("in full, moves/s", lambda rate: f"{rate.full:,.0f}"),
    ("ratio", lambda rate: f"{rate.ratio:.1f}"),
    ("whole search, moves/s", lambda rate: f"{rate.search:,.0f}"),
    ("difference", lambda rate: f"{rate.difference:.0e}"),
)
POINTS: Columns[Point] = (
    ("method", lambda point: f"{point.method}, {point.setting}" if point.setting else point.method),
    ("nodes", lambda point: f"{point.nodes}"),
    ("budget", lambda point: "" if point.budget_ms is None else f"{point.budget_ms:g} ms"),
    ("time a layout", lambda point: seconds_text(point.seconds)),
    *measured("ratio", "connected", "valid"),
)
STANDINGS: Columns[Standing] = (
    ("nodes", lambda one: f"{one.nodes}"),
    ("budget", lambda one: f"{one.budget_ms:g} ms"),
    ("preset", lambda one: one.preset),
    *measured("ratio"),
    ("best other", lambda one: one.other),
    ("T / target", lambda one: MEASURES["ratio"].text(one.other_ratio)),
)
UPDATES: Columns[UpdateRow] = (
    ("movement", lambda row: f"{row.movement:g}"),
    ("way", lambda row: row.way),
    ("time a layout", lambda row: seconds_text(row.seconds)),
    *measured("ratio", "connected", "parity", "valid", "continuity"),
)
REACHED = 0.99


def command(
    layouts: Annotated[
        int | None,
        typer.Option(help=f"Layouts of each set. Default: {LAYOUTS}; with --presets, 200 to 4 by size.", min=1),
    ] = None,
    cpsat_layouts: Annotated[
        int, typer.Option(help="Layouts for CP-SAT, which is slow; 0 leaves it out.", min=0)
    ] = CPSAT_LAYOUTS,
    quick: Annotated[bool, typer.Option("--quick", help="Few layouts, no CP-SAT: half a minute.")] = False,
    training: Annotated[
        bool,
        typer.Option("--training", help="Measure the training step instead, on the GPU where there is one."),
    ] = False,
    batches: Annotated[
        bool,
        typer.Option("--batches", help="Measure sampling in batches of up to 4,096 instead, on the GPU."),
    ] = False,
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Measure a denoising step instead, against eager PyTorch and its arithmetic."),
    ] = False,
    scaling: Annotated[
        bool,
        typer.Option("--scaling", help="Measure solvers against the size of the fleet instead, 16 to 1,000 nodes."),
    ] = False,
    presets: Annotated[
        bool,
        typer.Option(
            "--presets",
            help="Measure presets of 16 to 1,000 nodes against their peers in the same time instead, and under other "
            "radios.",
        ),
    ] = False,
    preset: Annotated[
        list[str] | None, typer.Option(help="With --presets: this one only; can be given again.", metavar="NAME")
    ] = None,
    nodes: Annotated[
        str | None, typer.Option(help="With --scaling, --presets, --steps: sizes, such as 16,64,256.", metavar="SIZES")
    ] = None,
    moves_a_node: Annotated[
        int | None, typer.Option(help="With --scaling: of the long search that T is compared with.", min=1)
    ] = None,
    kept: Annotated[
        Path | None,
        typer.Option(
            help="Folder of rows that were measured before, such as the .rows of reproduce: only what is missing there "
            "is measured, and kept."
        ),
    ] = None,
    plot: Annotated[str | None, typer.Option(help="Draw T over time here (PNG).", metavar="FILE")] = None,
    markdown: Annotated[
        str | None, typer.Option(help="Write the tables here, too, as Markdown.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Measure the search on one core: moves a second, and T over time against its peers.

    \b
    Examples:
      manetdiff bench
      manetdiff bench --quick --plot over_time.png
      manetdiff bench --training
      manetdiff bench --steps
      manetdiff bench --batches
      manetdiff bench --scaling --nodes 64,256,1000
      manetdiff bench --presets --nodes 16,128 --preset balanced --layouts 4
    """
    if (nodes and not (scaling or presets or steps)) or (moves_a_node and not scaling):
        raise SolverError("--nodes and --moves-a-node go with --scaling, --nodes also with --presets and --steps")
    if preset and not presets:
        raise SolverError("--preset goes with --presets")
    for path in (plot, markdown):
        if path is not None:
            check_writable(path)
    if training or batches:
        _show(*(training_tables if training else batch_tables)(say), markdown, as_json)
        return
    _stay_on_one_core()
    if steps:
        _show(*step_tables(say, nodes), markdown, as_json)
        return
    if scaling:
        tables, document, intro = scaling_tables(say, nodes, moves_a_node, quick)
        _show(tables, document, markdown, as_json, intro)
        return
    store = RowStore(kept, say)
    if presets:
        told = preset_tables(store, nodes, layouts, preset, quick=quick, picture=beside(plot, markdown))
        _show(told.tables, told.document, markdown, as_json, told.intro)
        _draw(told.points, plot)
        return
    count, with_cpsat = (4, 0) if quick else (layouts or LAYOUTS, cpsat_layouts)
    chosen = [benchmark_set(name).first(count) for name in DEFAULT_SETS]
    from manetdiff.evaluate.move_rates import scored_move_rates

    rates = [scored_move_rates(list(some)) for some in chosen]
    points = time_points(store, count, with_cpsat)
    stands = standings(points)
    updates = update_rows(store, chosen[0])
    tables = [
        Table.of("Moves scored a second, on one core", RATES, rates),
        Table.of("T over time, on one core", POINTS, points),
        Table.of("NetDiff's presets against every other method", STANDINGS, stands),
        Table(f"Time to {100 * REACHED:.0f} % of T", ("nodes", "method", "time", "ratio"), _reached(points)),
        Table.of("Updates of moved fleets, 16 nodes", UPDATES, updates),
    ]
    document = {
        "moves": [asdict(rate) for rate in rates],
        "over_time": [asdict(point) for point in points],
        "standings": [asdict(one) for one in stands],
        "updates": [asdict(row) for row in updates],
    }
    _show(tables, document, markdown, as_json)
    _draw(points, plot)


def _show(
    tables: Sequence[Table],
    document: Mapping[str, Any],
    markdown: str | None,
    as_json: bool,
    intro: str | None = None,
) -> None:
    """Print the tables, or the document, and write the tables where they were asked for, below the intro."""
    if as_json:
        print_json(document)
    else:
        for table in tables:
            print_table(table)
    if markdown is not None:
        write_markdown(tables, markdown, intro)


def _draw(points: Sequence[Point], plot: str | None) -> None:
    if plot is not None:
        from manetdiff.pictures.over_time import draw_over_time  # imported late: matplotlib is slow to load

        draw_over_time(points, plot)


def _stay_on_one_core() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _reached(points: list[Point]) -> list[list[str]]:
    """How long each search takes to most of T, and how many times as long as NetDiff."""
    rows = []
    for nodes in sorted({point.nodes for point in points}):
        ours = seconds_to_reach(points, PRESET, nodes, REACHED)
        for method in (PRESET, "reference", "annealing"):
            took = seconds_to_reach(points, method, nodes, REACHED)
            longest = max(point.seconds for point in points if point.method == method and point.nodes == nodes)
            ratio = "" if ours is None else f"{'' if took else '> '}{(took or longest) / ours:.1f}"
            rows.append([str(nodes), method, seconds_text(took) if took else f"> {seconds_text(longest)}", ratio])
    return rows
