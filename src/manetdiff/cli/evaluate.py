"""`manetdiff evaluate`: all solvers on the packaged benchmark sets."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from manetdiff.cli.output import Table, print_json, print_table, share_text
from manetdiff.data import BENCHMARKS
from manetdiff.evaluate.baselines import baselines
from manetdiff.evaluate.markdown import markdown_table
from manetdiff.evaluate.scores import Score
from manetdiff.formats import check_writable, write_text

COLUMNS = (
    "method",
    "layouts",
    "links",
    "mean length",
    "per link, Mbit/s",
    "T, Mbit/s",
    "T / target",
    "saturated antennas",
    "saturated nodes",
    "connected",
    "parity",
    "valid",
)


def command(
    sets: Annotated[
        list[str] | None, typer.Argument(help=f"Which sets: {', '.join(BENCHMARKS)}. Default: all.")
    ] = None,
    method: Annotated[list[str] | None, typer.Option(help="Run only this method; can be given again.")] = None,
    layouts: Annotated[int | None, typer.Option(help="At most so many layouts of each set.", min=1)] = None,
    moves: Annotated[
        int | None, typer.Option(help="Run just the searches that take a number of moves, with this one.", min=1)
    ] = None,
    markdown: Annotated[
        str | None, typer.Option(help="Write the tables here, too, as Markdown.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score the solvers on the packaged benchmark sets, whose own topologies are the target.

    \b
    Examples:
      manetdiff evaluate
      manetdiff evaluate bench16 --method mst-greedy --method greedy
      manetdiff evaluate bench32 --method reference --moves 4000000 --layouts 44
      manetdiff evaluate --markdown docs/baselines.md
    """
    if markdown is not None:
        check_writable(markdown)
    results: dict[str, list[Score]] = {}
    for name in sets or list(BENCHMARKS):
        results[name] = baselines(name, method, layouts, moves, report=_say)
        if not as_json:
            print_table(Table(name, COLUMNS, [_cells(row) for row in results[name]]))
    if as_json:
        print_json({name: [asdict(row) for row in rows] for name, rows in results.items()})
    if markdown is not None:
        parts = [f"## {name}\n\n{markdown_table(COLUMNS, map(_cells, rows))}" for name, rows in results.items()]
        write_text(Path(markdown), "\n".join(parts))


def _cells(row: Score) -> list[str]:
    means = row.metrics
    return [
        row.method,
        str(row.layouts),
        f"{means['links']:.2f}",
        f"{means['mean_length']:.3f}",
        f"{means['link_throughput']:.2f}",
        f"{means['throughput']:.2f}",
        f"{100 * row.ratio:.2f} %",
        f"{100 * means['antenna_saturation']:.2f} %",
        f"{100 * means['node_saturation']:.2f} %",
        share_text(means["connected"]),
        share_text(means["parity"]),
        share_text(means["valid"]),
    ]


def _say(what: str) -> None:
    if sys.stderr.isatty():
        print(f"{what} …", file=sys.stderr)
