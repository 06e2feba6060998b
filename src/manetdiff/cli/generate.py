"""`manetdiff generate`: a topology for a fleet by the trained network."""

from __future__ import annotations

from typing import Annotated

import typer

from manetdiff.cli.results import (
    DarkOption,
    FleetArgument,
    JsonOption,
    OutOption,
    PlotOption,
    RadioOption,
    check_files,
    deliver,
    milliseconds,
    warn_of_parts,
)
from manetdiff.cli.warm_up import warm_up_model
from manetdiff.errors import PinError
from manetdiff.formats import read_fleet, read_radio

WeightsOption = Annotated[
    str, typer.Option(help="Packaged weights, or a file that 'manetdiff export' made.", metavar="NAME")
]
PresetOption = Annotated[str | None, typer.Option(help="instant, fast, balanced (default), careful, thorough or best.")]
BudgetOption = Annotated[float | None, typer.Option(help="Milliseconds, from which the preset follows.", metavar="MS")]
StepsOption = Annotated[int | None, typer.Option(help="Denoising steps, instead of the preset's.")]
SamplesOption = Annotated[int | None, typer.Option(help="Samples, the best of which is kept, instead of the preset's.")]
CorrectOption = Annotated[
    bool | None, typer.Option("--correct/--no-correct", help="The paper's correction. Default: on.")
]
PolishOption = Annotated[
    int | None, typer.Option(help="Moves of the local search on each sample, instead of the preset's; 0: none.")
]
KeepOption = Annotated[
    list[str] | None, typer.Option(help="A link that must be there, as ID,ID; can be given again.", metavar="ID,ID")
]
AvoidOption = Annotated[
    list[str] | None, typer.Option(help="A pair that must not be linked; can be given again.", metavar="ID,ID")
]
SilentOption = Annotated[
    list[str] | None, typer.Option(help="A node that must stay silent; can be given again.", metavar="ID")
]


def command(
    fleet: FleetArgument,
    out: OutOption = None,
    plot: PlotOption = None,
    dark: DarkOption = False,
    preset: PresetOption = None,
    budget_ms: BudgetOption = None,
    steps: StepsOption = None,
    samples: SamplesOption = None,
    correct: CorrectOption = None,
    polish: PolishOption = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same topology.")] = 0,
    keep: KeepOption = None,
    avoid: AvoidOption = None,
    silent: SilentOption = None,
    weights: WeightsOption = "netdiff",
    radio: RadioOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the links and the parity of a fleet in milliseconds, by the trained network.

    \b
    Examples:
      manetdiff generate fleet.json --out topology.json --plot topology.png
      manetdiff generate fleet.csv --preset best --json
      manetdiff generate fleet.json --steps 50 --no-correct --polish 0
      manetdiff generate fleet.json --keep lead,wing --silent tanker
    """
    check_files([fleet, radio], out, plot)
    from manetdiff.runtime.model import load

    where = read_fleet(fleet)
    model = load(weights)
    warm_up_model(model)
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
        keep=pairs(keep, "--keep"),
        avoid=pairs(avoid, "--avoid"),
        silent=silent or (),
    )
    warn_of_parts(topology)
    told = [("preset", topology.report.preset)] if topology.report.preset else []
    told.append(("time", milliseconds(topology.report)))
    deliver(topology, out, plot, as_json=as_json, dark=dark, more=told)


def pairs(given: list[str] | None, option: str) -> list[tuple[str, str]]:
    """Pairs of ids from the command line."""
    found = []
    for text in given or []:
        parts = text.split(",")
        if len(parts) != 2:
            raise PinError(f"{option}: give two ids as ID,ID, not {text!r}")
        found.append((parts[0].strip(), parts[1].strip()))
    return found
