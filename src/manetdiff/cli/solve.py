"""`manetdiff solve`: a topology for a fleet by search or construction, without the learned model."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from manetdiff.cli.output import METRIC_LABELS, Table, metric_text, print_json, print_table, seconds_text
from manetdiff.cli.warm_up import warm_up
from manetdiff.errors import FormatError, SolverError
from manetdiff.fleet import Fleet
from manetdiff.formats import check_writable, read_fleet, read_radio, write_topology
from manetdiff.radio import Radio
from manetdiff.solvers import METHODS, solve
from manetdiff.topology import Topology, metrics

STANDARD = "-"
# The physics keeps tables of all pairs: beyond this a laptop's memory is at risk, and no search would get anywhere.
LARGEST_FLEET = 512


def command(
    fleet: Annotated[
        str, typer.Argument(help="Fleet file: JSON, CSV or a topology; - is standard input.", metavar="FLEET")
    ],
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "reference",
    budget: Annotated[float | None, typer.Option(help="Time for the search.", metavar="SECONDS")] = None,
    moves: Annotated[
        int | None,
        typer.Option(help="Moves of the search in place of a time: the same result on every machine.", metavar="N"),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    out: Annotated[
        str | None,
        typer.Option(help="Write the topology here (NetJSON); - is standard output.", metavar="FILE"),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(help="Draw it here (.png, .svg or .pdf); - is standard output.", metavar="FILE")
    ] = None,
    radio: Annotated[
        str | None,
        typer.Option(help="JSON object of radio parameters; those left out keep their default.", metavar="FILE"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print metrics and report as JSON.")] = False,
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
    _check_outputs(fleet, out, plot, radio)
    where = read_fleet(fleet)
    if len(where) > LARGEST_FLEET:
        raise SolverError(f"{fleet}: has {len(where)} nodes; solve takes at most {LARGEST_FLEET}")
    physics = Radio() if radio is None else read_radio(radio)
    if method in METHODS:
        warm_up(physics, method)
    topology = solve(where, physics, method, budget, seed, moves=moves)
    if method == "omni":
        # The omnidirectional protocol is scored, drawn and written by its own physics.
        physics = physics.omnidirectional()
    scores = metrics(topology, where, physics)
    if out is not None:
        write_topology(topology, where, physics, out)
    if plot is not None:
        _draw(topology, where, physics, plot)
    # Standard output belongs to the file that was asked for there.
    stream = sys.stderr if STANDARD in (out, plot) else sys.stdout
    if as_json:
        print_json({"nodes": len(where), "metrics": scores, "report": topology.report}, stream)
    else:
        print_table(_table(where, physics, topology, scores), stream)


def _check_outputs(fleet: str, out: str | None, plot: str | None, radio: str | None) -> None:
    """Whatever is wrong with the files asked for is said before any time is spent."""
    if out == plot == STANDARD:
        raise FormatError("standard output takes the topology or the picture, not both")
    if fleet == radio == STANDARD:
        raise FormatError("standard input holds the fleet or the radio, not both")
    if out is not None:
        check_writable(out)
    if plot is not None:
        from manetdiff.evaluate.picture import check_picture_path

        check_picture_path(plot)
        check_writable(plot)


def _draw(topology: Topology, fleet: Fleet, radio: Radio, plot: str) -> None:
    # Imported here: matplotlib takes as long to load as a whole solve takes, and most calls draw nothing.
    from manetdiff.evaluate.picture import draw

    draw(topology, fleet, radio, plot)


def _table(fleet: Fleet, radio: Radio, topology: Topology, scores: dict[str, float]) -> Table:
    rows = [[METRIC_LABELS[name], metric_text(name, value)] for name, value in scores.items()]
    metres = scores["mean_length"] * radio.unit_for(fleet)
    rows[list(scores).index("mean_length")][1] += f" ({metres:,.0f} m)" if metres >= 10 else f" ({metres:.3g} m)"
    report: dict[str, Any] = dict(topology.report)
    rows.append(["method", str(report["method"])])
    rows.append(["time", seconds_text(float(report["seconds"]))])
    return Table(f"{len(fleet)} nodes", ("", ""), rows)
