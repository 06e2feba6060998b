"""`manetdiff reproduce`: the paper's tables, made again."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from manetdiff.cli.folders import folder_for
from manetdiff.cli.needs_torch import needs_torch
from manetdiff.cli.output import Table, print_json, print_table, say
from manetdiff.errors import ModelError
from manetdiff.measure.store import KEPT, RowStore

FIGURES = "figures"


def command(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Which tables; all by default. --list names them.", metavar="TABLE")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few layouts: about two minutes for everything.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for pages and JSON documents.")] = Path("results"),
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

    What was measured is kept in the folder, layout by layout: a run that was stopped goes on where it was.
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
    folder_for(out, ["page.md"])
    setting = Setting(quick, RowStore(out / KEPT, say, fresh=fresh))
    made = where_it_ran(quick)
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
