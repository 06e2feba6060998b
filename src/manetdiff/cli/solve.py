"""`manetdiff solve`: a topology for a fleet by search or construction, without the learned model."""

from __future__ import annotations

from typing import Annotated

import typer

from manetdiff.cli import options
from manetdiff.cli.results import check_files, check_size, deliver
from manetdiff.formats import read_fleet, read_radio
from manetdiff.measure.measures import seconds_text
from manetdiff.radio import Radio
from manetdiff.solvers import METHODS, solve


def command(
    fleet: options.Fleet,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "reference",
    budget: Annotated[float | None, typer.Option(help="Time for the search.", metavar="SECONDS")] = None,
    moves: Annotated[
        int | None,
        typer.Option(help="Moves of the search in place of a time: the same result on every machine.", metavar="N"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(help="Cores for the method 'regions'; has no say in what --moves finds. (default: all usable)"),
    ] = None,
    out: options.Out = None,
    plot: options.Plot = None,
    dark: options.Dark = False,
    radio: options.Radio = None,
    as_json: options.Json = False,
) -> None:
    """Find the links and the parity of a fleet.

    \b
    A fleet file is JSON {"nodes": [{"id", "x", "y", "yaw"}, …]}, metres and
    radians, or the same with "lat", "lon", "heading" in degrees; or CSV with
    those columns.

    \b
    The default radio measures distance in the fleet's own spread; give one in
    metres by --radio, e.g. {"unit": 1000, "range": 20} for a range of 20 km.
    A fleet that cannot be connected gets the best forest and a warning, and
    exit code 0: "connected" says how it ended.

    \b
    Examples:
      manetdiff solve fleet.json --out topology.json --plot topology.png
      manetdiff solve fleet.csv --budget 2 --json
      manetdiff solve - --method greedy --out - < fleet.json
    """
    check_files([fleet, radio], out, plot)
    where = read_fleet(fleet)
    check_size(fleet, where)
    physics = Radio() if radio is None else read_radio(radio)
    topology = solve(where, physics, method, budget, seed, moves=moves, workers=workers)
    time = seconds_text(topology.report.seconds)
    deliver(topology, out, plot, as_json=as_json, dark=dark, more=[("method", method), ("time", time)])
