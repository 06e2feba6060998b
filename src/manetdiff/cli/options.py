"""Arguments and options that several commands have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from manetdiff.checks import check_whole
from manetdiff.engine import Engine, opened_engine
from manetdiff.errors import EngineError, PinError

Fleet = Annotated[
    str, typer.Argument(help="Fleet file: JSON, CSV or a topology; - is standard input.", metavar="FLEET")
]
Out = Annotated[
    str | None, typer.Option(help="Write the topology here (NetJSON); - is standard output.", metavar="FILE")
]
Plot = Annotated[
    str | None, typer.Option(help="Draw it here (.png, .svg or .pdf); - is standard output.", metavar="FILE")
]
Dark = Annotated[bool, typer.Option("--dark", help="Pictures on a dark ground.")]
Radio = Annotated[
    str | None,
    typer.Option(
        help="JSON object of radio parameters, those left out keep their default; or of a link_budget.", metavar="FILE"
    ),
]
Gap = Annotated[
    float | None,
    typer.Option(
        help="Of a table over time: seconds without a row until a node has left; inf: it never does.", metavar="S"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print metrics and report as JSON.")]
Weights = Annotated[str, typer.Option(help="Packaged weights, or a file that 'manetdiff export' made.", metavar="NAME")]
Preset = Annotated[str | None, typer.Option(help="instant, fast, balanced (default), careful, thorough or best.")]
Steps = Annotated[int | None, typer.Option(help="Denoising steps, instead of the preset's.")]
Samples = Annotated[int | None, typer.Option(help="Samples, the best of which is kept, instead of the preset's.")]
Correct = Annotated[bool | None, typer.Option("--correct/--no-correct", help="The paper's correction. Default: on.")]
Polish = Annotated[
    int | None, typer.Option(help="Moves of the local search on each sample, instead of the preset's; 0: none.")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same topology.")]
Ahead = Annotated[
    list[str] | None,
    typer.Option(
        help="Fleet file of the fleet to come, where the same links will be used; can be given again.", metavar="FILE"
    ),
]
Uncertainty = Annotated[
    float, typer.Option(help="Of the nodes' places, metres: choose links that hold wherever they are.", metavar="M")
]
Loyalty = Annotated[
    float | None,
    typer.Option(
        help="What a kept link is worth, bit/s/Hz. Default: by --setup, or 0.3 of what one carries.", metavar="X"
    ),
]
Setup = Annotated[
    float | None,
    typer.Option(help="Seconds until a new link carries anything; says what kept ones are worth.", metavar="S"),
]
Keep = Annotated[
    list[str] | None, typer.Option(help="A link that must be there, as ID,ID; can be given again.", metavar="ID,ID")
]
Avoid = Annotated[
    list[str] | None, typer.Option(help="A pair that must not be linked; can be given again.", metavar="ID,ID")
]
Silent = Annotated[
    list[str] | None, typer.Option(help="A node that must stay silent; can be given again.", metavar="ID")
]

Workers = Annotated[
    int | None,
    typer.Option(
        help="Tasks at a time; has no say in the result. (default: all usable cores; with --cluster, all of its)"
    ),
]
WorkersAsked = Annotated[
    int | None,
    typer.Option(
        help="Tasks at a time, a core each; has a say in times only. (default: 1; with --engine ray, all cores)"
    ),
]
EngineChoice = Annotated[str, typer.Option("--engine", help="Who does the work: local (processes here), or ray.")]
Cluster = Annotated[
    str | None, typer.Option(help="Of a Ray cluster that is there; without it one is started here.", metavar="ADDRESS")
]


def engine_of(name: str, workers: int | None, cluster: str | None) -> Engine:
    """The engine that was asked for, by default with as many workers as there are cores to use."""
    if workers is not None:
        check_whole(EngineError, "--workers", workers, 1)
    return opened_engine(name, workers, cluster)


@contextmanager
def measuring_engine(name: str, workers: int | None, cluster: str | None) -> Iterator[Engine | None]:
    """The engine that was asked for, for what is measured: by default none, because times are those of a machine that
    does nothing else."""
    if workers is None and name == "local" and cluster is None:
        yield None
        return
    engine = engine_of(name, workers, cluster)
    if name == "local" and engine.workers == 1:
        yield None
        return
    with engine:
        yield engine


def parts(values: list[str]) -> list[str]:
    """Of an option that can be given again, and takes several with commas between them."""
    return [part.strip() for value in values for part in value.split(",")]


def pairs(given: list[str] | None, option: str) -> list[tuple[str, str]]:
    """Pairs of ids from the command line."""
    found = []
    for text in given or []:
        parts = text.split(",")
        if len(parts) != 2:
            raise PinError(f"{option}: give two ids as ID,ID, not {text!r}")
        found.append((parts[0].strip(), parts[1].strip()))
    return found
