"""`manetdiff simulate` of many flights: each in a folder of its own, and a table of all."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import typer

from manetdiff.cli.folders import folder_for
from manetdiff.cli.output import Table, print_json, print_table
from manetdiff.cli.progress import tracked
from manetdiff.engine import Engine, LocalEngine, failure_text
from manetdiff.files import together, write_whole
from manetdiff.formats import write_text
from manetdiff.messages import escaped
from manetdiff.simulation.many import FlightPlan, FlownFlight, flights_csv, fly
from manetdiff.wording import share_text

TABLE = "flights.csv"
SOME_FAILED = 1


def fly_all(plans: Sequence[FlightPlan], out: str, engine: Engine | None, *, as_json: bool) -> None:
    """Simulate them and write each as it is done; those that fail are told, and end nothing."""
    folder = folder_for(out, [TABLE])
    flown: list[FlownFlight] = []
    failed: dict[str, str] = {}
    with tracked("flights") as track, closing((engine or LocalEngine()).outcomes(fly, plans)) as outcomes:
        track(0, len(plans))
        for done, (plan, outcome) in enumerate(zip(plans, outcomes, strict=True), start=1):
            if outcome.error is not None:
                failed[plan.name] = failure_text(outcome.error)
            else:
                flown.append(outcome.value())
                _write(flown[-1], folder)
            track(done, len(plans), failed=len(failed), finished=plan.name)
    if flown:
        write_text(folder / TABLE, flights_csv(flown))
    _tell(flown, failed, out, as_json=as_json)
    if failed:
        raise typer.Exit(SOME_FAILED)


def names_of(files: Sequence[str]) -> list[str]:
    """Names of folders: those of the files, numbered where several have the same."""
    stems = [Path(file).stem or "flight" for file in files]
    often, seen, names = Counter(stems), Counter[str](), []
    for stem in stems:
        seen[stem] += 1
        names.append(f"{stem}-{seen[stem]}" if often[stem] > 1 else stem)
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
