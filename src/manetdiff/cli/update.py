"""`manetdiff update`: the topology of a fleet that has moved, close to its previous one."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from manetdiff.cli import options
from manetdiff.cli.results import check_files, deliver, milliseconds
from manetdiff.fleet import predicted
from manetdiff.flights.explanation import explain as explained
from manetdiff.formats import read_fleet, read_radio, read_topology
from manetdiff.layout import Layout
from manetdiff.topology import Report, Topology, check_related
from manetdiff.weights import DEFAULT
from manetdiff.wording import share_text


def command(
    topology: Annotated[str, typer.Argument(help="Topology file of the fleet as it was.", metavar="TOPOLOGY")],
    fleet: Annotated[str, typer.Argument(help="Fleet file of the fleet as it is now.", metavar="FLEET")],
    out: options.Out = None,
    plot: options.Plot = None,
    change: Annotated[
        str | None,
        typer.Option(help="Draw before and after side by side here: kept, new and dropped links.", metavar="FILE"),
    ] = None,
    dark: options.Dark = False,
    mode: Annotated[
        str, typer.Option(help="auto (which is quick), the paper's minor, standard or guided, or anew.")
    ] = "auto",
    steps: options.Steps = None,
    samples: options.Samples = None,
    correct: options.Correct = None,
    polish: options.Polish = None,
    seed: options.Seed = 0,
    loyalty: options.Loyalty = None,
    setup: options.Setup = None,
    elapsed: Annotated[
        float | None, typer.Option(help="Seconds since the last update; goes with --setup.", metavar="S")
    ] = None,
    ahead: options.Ahead = None,
    predict: Annotated[
        bool, typer.Option("--predict", help="Look as far ahead as the fleet has come since, if all go on as they did.")
    ] = False,
    uncertainty: options.Uncertainty = 0.0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say of each change why it was made, and what was held back.")
    ] = False,
    keep: options.Keep = None,
    avoid: options.Avoid = None,
    silent: options.Silent = None,
    weights: options.Weights = DEFAULT,
    radio: options.Radio = None,
    as_json: options.Json = False,
) -> None:
    """Update a topology after its fleet has moved. Nodes are matched by id; they may have joined and left.

    \b
    Examples:
      manetdiff update topology.json moved.json --out new.json
      manetdiff update topology.json moved.csv --mode minor --plot new.png
      manetdiff update topology.json moved.json --change change.png --dark
      manetdiff update topology.json moved.json --setup 2 --elapsed 4 --predict --explain
    """
    check_files([topology, fleet, radio, *(ahead or ())], out, plot)
    check_files([], None, change)
    from manetdiff.runtime.model import load

    before, old = read_topology(topology)
    where = read_fleet(fleet)
    check_related(before, where)
    to_come = [read_fleet(file) for file in ahead or ()]
    if predict:
        to_come.append(predicted(before, where, 1.0))  # one step more such as the last one, however long that was
    model = load(weights)
    new = model.update(
        old,
        where,
        previous=before,
        mode=mode,  # type: ignore[arg-type]  # checked there
        radio=None if radio is None else read_radio(radio),  # by default the one that the topology was written for
        seed=seed,
        steps=steps,
        samples=samples,
        correct=correct,
        polish=polish,
        loyalty=loyalty,
        setup=setup,
        elapsed=elapsed,
        ahead=to_come,
        uncertainty=uncertainty,
        keep=options.pairs(keep, "--keep"),
        avoid=options.pairs(avoid, "--avoid"),
        silent=silent or (),
    )

    def draw_changed() -> None:
        if change is not None:
            from manetdiff.pictures import draw_change  # imported late: matplotlib is slow to load

            draw_change(old, new, before, where, new.on().radio, change, dark=dark)

    why = None
    if explain:
        was = Topology(old.links, old.parity, layout=Layout(before, new.on().radio))
        why = explained(was, new, ahead=to_come)
    deliver(new, out, plot, as_json=as_json, dark=dark, more=_rows(new.report), beside=draw_changed, explanation=why)


def _rows(report: Report) -> list[tuple[str, str]]:
    rows = [("mode", str(report.mode))]
    if report.moved is not None:
        rows.append(("moved", f"{report.moved:.3f} spreads"))
    if not math.isnan(report.loyalty):
        rows.append(("a kept link is worth", f"{report.loyalty:.2f} bit/s/Hz"))
    rows += [("continuity", share_text(report.continuity)), ("time", milliseconds(report))]
    return rows
