"""`manetdiff reproduce`: the paper's tables, made again."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manetdiff.cli import options
from manetdiff.cli.folders import folder_for
from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.output import Table, print_json, print_table, say
from manetdiff.cli.progress import with_bar
from manetdiff.errors import ModelError
from manetdiff.measure.store import KEPT, RowStore
from manetdiff.messages import escaped

if TYPE_CHECKING:
    from manetdiff.measure.flown import FlightSet

FIGURES = "figures"
# Before the first update, that, and where it leads to.
FEWEST_MOMENTS = 3


def command(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Which tables; all by default. --list names them.", metavar="TABLE")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few layouts: about two minutes for everything.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for pages and JSON documents.")] = Path("results"),
    flight: Annotated[
        str | None,
        typer.Option(help="With flights: a mobility file to fly, instead of those that are drawn.", metavar="FILE"),
    ] = None,
    step: Annotated[float, typer.Option(help="With --flight: seconds between updates.", metavar="S")] = 4.0,
    workers: options.WorkersAsked = None,
    engine: options.EngineChoice = "local",
    cluster: options.Cluster = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what an earlier run has measured.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Name the tables and stop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print where the results are as JSON.")] = False,
) -> None:
    """Make the paper's tables again, with its figures beside ours.

    \b
    Examples:
      manetdiff reproduce --quick
      manetdiff reproduce throughput tokens figures
      manetdiff reproduce --out docs/results/paper
      manetdiff reproduce flights --flight traffic.csv --step 4
      manetdiff reproduce --engine ray --cluster auto

    What was measured is kept in the folder, layout by layout: a run that was stopped goes on where it was. With several
    workers, tables of times (inference, frontier) are still measured by one; rows that were measured beside others are
    kept as such, and a run with one worker measures them again.
    """
    with needs_torch("sampling from the ablations"):
        from manetdiff.reproduce.catalogue import TABLES
        from manetdiff.reproduce.figures import draw_figures
        from manetdiff.reproduce.index import write_index
        from manetdiff.reproduce.pages import text_of, where_it_ran, write_page
        from manetdiff.reproduce.tables import Setting
        from manetdiff.reproduce.weights import UnavailableError
    if listed:
        names = [(name, table.title) for name, table in TABLES.items()]
        print_table(Table("Tables", ("name", "title"), [*names, (FIGURES, "The paper's pictures")]))
        return
    if unknown := [name for name in tables or () if name not in (*TABLES, FIGURES)]:
        raise ModelError(f"no table {', '.join(unknown)}; there are {', '.join((*TABLES, FIGURES))}")
    if flight is not None and tables != ["flights"]:
        raise ModelError("--flight: goes with the table flights alone")
    folder_for(out, ["page.md"])
    flown = None if flight is None else _flown(flight, step)
    with options.measuring_engine(engine, workers, cluster) as shared:
        setting = Setting(quick, RowStore(out / KEPT, say, fresh=fresh, engine=shared, watch=with_bar), flown)
        made = where_it_ran(quick, alone=shared is None)
        pages: dict[str, str | list[str]] = {}
        for name in [name for name in tables or TABLES if name != FIGURES]:
            began = time.perf_counter()
            table = TABLES[name]
            try:
                grids = table.run(setting)
            except UnavailableError as reason:
                print(f"{name} is left as it is: {reason}", file=sys.stderr)
                continue
            pictures = table.draw(setting, out) if table.draw else []
            pages[name] = str(write_page(table, grids, out, made, pictures))
            say(f"{name}: {time.perf_counter() - began:.0f} s")
            if not as_json:
                for grid in grids:
                    rows = [[label, *map(text_of, cells)] for label, cells in grid.rows]
                    print_table(Table(grid.title, grid.columns, rows))
    if not tables or FIGURES in tables:
        pages[FIGURES] = sorted(map(str, draw_figures(out, quick, say).values()))
    index = write_index(out, TABLES)
    say(f"all pages: {index}")
    if as_json:
        print_json({"pages": pages, "made": made})


def _flown(file: str, step: float) -> FlightSet:
    """The nodes of a mobility file that are there all the time, at equal steps."""
    from manetdiff.formats import read_tracks
    from manetdiff.measure.digests import content_digest
    from manetdiff.measure.flown import flight_of_file
    from manetdiff.radio import Radio

    tracks = read_tracks(file)
    moments = [fleet for _, fleet in tracks.fleets(tracks.moments(step))]
    staying = set.intersection(*(set(fleet.ids) for fleet in moments)) if moments else set()
    if len(moments) < FEWEST_MOMENTS or len(staying) < 2:
        raise ModelError(
            f"{escaped(file)}: {len(staying)} nodes are there at all of {len(moments)} moments, {step:g} s apart; "
            f"a chain of updates wants two nodes and {FEWEST_MOMENTS} moments"
        )
    names = sorted(staying)
    fleets = [fleet.part([fleet.ids.index(name) for name in names]) for fleet in moments]
    places = b"".join(fleet.positions.tobytes() + fleet.yaw.tobytes() for fleet in fleets)
    return flight_of_file(fleets, step, escaped(file), content_digest(places), Radio())
