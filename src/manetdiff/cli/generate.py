"""`manetdiff generate`: a topology for a fleet by the trained network."""

from __future__ import annotations

from typing import Annotated

import typer

from manetdiff.cli import options
from manetdiff.cli.results import check_files, deliver, milliseconds
from manetdiff.formats import read_fleet, read_radio
from manetdiff.weights import DEFAULT


def command(
    fleet: options.Fleet,
    out: options.Out = None,
    plot: options.Plot = None,
    dark: options.Dark = False,
    preset: options.Preset = None,
    budget_ms: Annotated[
        float | None, typer.Option(help="Milliseconds, from which the preset follows; they are kept.", metavar="MS")
    ] = None,
    steps: options.Steps = None,
    samples: options.Samples = None,
    correct: options.Correct = None,
    polish: options.Polish = None,
    seed: options.Seed = 0,
    ahead: options.Ahead = None,
    uncertainty: options.Uncertainty = 0.0,
    keep: options.Keep = None,
    avoid: options.Avoid = None,
    silent: options.Silent = None,
    weights: options.Weights = DEFAULT,
    radio: options.Radio = None,
    as_json: options.Json = False,
) -> None:
    """Make the links and the parity of a fleet in milliseconds, by the trained network.

    \b
    Examples:
      manetdiff generate fleet.json --out topology.json --plot topology.png
      manetdiff generate fleet.csv --preset best --json
      manetdiff generate fleet.json --steps 50 --no-correct --polish 0
      manetdiff generate fleet.json --keep lead,wing --silent tanker
      manetdiff generate fleet.json --ahead in-4-seconds.json --uncertainty 15
    """
    check_files([fleet, radio, *(ahead or ())], out, plot)
    from manetdiff.runtime.model import load

    where = read_fleet(fleet)
    model = load(weights)
    if budget_ms is not None:
        model.calibrate()
    topology = model.generate(
        where,
        radio=None if radio is None else read_radio(radio),
        seed=seed,
        preset=preset,
        budget_ms=budget_ms,
        steps=steps,
        samples=samples,
        correct=correct,
        polish=polish,
        ahead=[read_fleet(file) for file in ahead or ()],
        uncertainty=uncertainty,
        keep=options.pairs(keep, "--keep"),
        avoid=options.pairs(avoid, "--avoid"),
        silent=silent or (),
    )
    told = [("preset", topology.report.preset)] if topology.report.preset else []
    if topology.report.method != "netdiff":
        moves = topology.report.polish.moves
        told = [("preset", f"none: {topology.report.method} and {moves:,} moves of local search")]
    told.append(("time", milliseconds(topology.report)))
    deliver(topology, out, plot, as_json=as_json, dark=dark, more=told)
