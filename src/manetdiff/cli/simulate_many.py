"""`manetdiff simulate` of many flights: each in a folder of its own, and a table of all."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from itertools import chain, count
from pathlib import Path

import typer

from manetdiff.cli.folders import folder_for
from manetdiff.cli.output import Table, print_json, print_table
from manetdiff.cli.progress import tracked
from manetdiff.engine import Engine, LocalEngine, failure_text
from manetdiff.errors import ManetDiffError
from manetdiff.files import together, write_whole
from manetdiff.formats import write_text
from manetdiff.messages import escaped
from manetdiff.pictures.animation import check_animation_path
from manetdiff.simulation.many import FlightPlan, FlownFlight, flights_csv, fly
from manetdiff.wording import share_text

TABLE = "flights.csv"
SOME_FAILED = 1


def fly_all(plans: Sequence[FlightPlan], out: str, engine: Engine | None, *, as_json: bool) -> None:
    """Simulate them and write each as it is done; those that fail are told, and end nothing."""
    folder = folder_for(out, [TABLE])
    for animation in {plan.animation for plan in plans} - {"none"}:
        check_animation_path(folder / f"animation.{animation}")
    flown: list[FlownFlight] = []
    failed: dict[str, str] = {}
    first: Exception | None = None
    with tracked("flights") as track, closing((engine or LocalEngine()).outcomes(fly, plans)) as outcomes:
        track(0, len(plans))
        for done, (plan, outcome) in enumerate(zip(plans, outcomes, strict=True), start=1):
            if outcome.error is not None:
                first = first or outcome.error
                failed[plan.name] = failure_text(outcome.error)
            else:
                flown.append(outcome.value())
                _write(flown[-1], folder)
            track(done, len(plans), failed=len(failed), finished=plan.name)
    if not flown and isinstance(first, ManetDiffError):
        raise first  # what is wrong with every flight is what was asked for
    if flown:
        write_text(folder / TABLE, flights_csv(flown))
    _tell(flown, failed, out, as_json=as_json)
    if failed:
        raise typer.Exit(SOME_FAILED)


def names_of(files: Sequence[str]) -> list[str]:
    """Names of folders: those of the files, with a number where another, or the table, has the name already, also where
    capitals count for nothing."""
    names: list[str] = []
    taken = {TABLE.casefold()}
    for file in files:
        stem = "input" if file == "-" else Path(file).stem
        numbered = (f"{stem}-{number}" for number in count(2))
        names.append(next(name for name in chain([stem], numbered) if name.casefold() not in taken))
        taken.add(names[-1].casefold())
    return names


def _write(flight: FlownFlight, folder: Path) -> None:
    there = folder_for(folder / flight.name, flight.files)
    with together():
        for name, content in flight.files.items():
            write_whole(there / name, content)


def _tell(flown: Sequence[FlownFlight], failed: dict[str, str], out: str, *, as_json: bool) -> None:
    if as_json:
        told = [{"flight": one.name, **one.summary, "files": sorted(one.files)} for one in flown]
        print_json({"table": str(Path(out) / TABLE) if flown else None, "flights": told, "failures": failed})
    elif flown:
        columns = ("flight", "moments", "mean T, Mbit/s", "delivered, Mbit/s", "valid", "connected", "continuity")
        print_table(Table("Flights", columns, [_row(one) for one in flown]))
        print(f"Written: {Path(out) / TABLE}, and a folder for each flight beside it")
    for name, message in failed.items():
        print(f"{escaped(name)} failed: {message}", file=sys.stderr)


def _row(flight: FlownFlight) -> list[str]:
    told = flight.summary
    rates = [f"{told[name]:.2f}" for name in ("throughput", "delivered")]
    shares = [
        "" if told[name] is None else share_text(told[name] or 0.0) for name in ("valid", "connected", "continuity")
    ]
    return [flight.name, f"{told['moments']}", *rates, *shares]
