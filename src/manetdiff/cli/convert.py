"""`manetdiff convert`: fleets, topologies and mobility from one format to another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from manetdiff.cli import options
from manetdiff.cli.output import print_json
from manetdiff.cli.results import STANDARD
from manetdiff.errors import FormatError
from manetdiff.formats import check_writable, read_radio
from manetdiff.formats.conversion import Order, left_out, read_contents, target_of
from manetdiff.formats.registry import READ, WRITTEN, names


def command(
    source: Annotated[str, typer.Argument(help="File to read; - is standard input.", metavar="IN")],
    target: Annotated[str, typer.Argument(help="File to write; - is standard output.", metavar="OUT")],
    kind: Annotated[
        str | None,
        typer.Option("--from", help=f"{names(READ, ' or ')}; by default as the file says."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(help=f"{names(WRITTEN, ' or ')}; by default by OUT's suffix."),
    ] = None,
    time: Annotated[float | None, typer.Option(help="Of a mobility file: the fleet at this time.", metavar="S")] = None,
    step: Annotated[float, typer.Option(help="Of a mobility file: seconds between moments.", metavar="S")] = 1.0,
    gap: options.Gap = None,
    radio: options.Radio = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was written as JSON.")] = False,
) -> None:
    """Convert a fleet, a topology or a mobility file.

    \b
    Examples:
      manetdiff convert scenario.movements scenario.tcl
      manetdiff convert flights.parquet fleet.json --time 120
      manetdiff convert topology.json topology.graphml
      manetdiff convert topology.json schedule.xml
      manetdiff convert flights.csv events.eel --step 0.5
      manetdiff convert topology.json map.geojson
      manetdiff convert flights.csv flights.kml --step 5

    What the target cannot hold is left out, and said: a schedule has no places, a fleet no links.
    """
    if as_json and target == STANDARD:
        raise FormatError("standard output takes the file or the JSON, not both")
    check_writable(target)
    held = read_contents(source, kind, step, gap)
    order = Order(target, None if radio is None else read_radio(radio), time)
    written = target_of(held, order, to)
    assert written.write is not None
    written.write(held, order)
    missing = left_out(held, order, written)
    if as_json:
        print_json({"in": source, "out": target, "format": written.name, "left_out": missing})
    elif missing:
        print(f"manetdiff: {written.title} cannot hold all of it; left out: {', '.join(missing)}", file=sys.stderr)
