"""`manetdiff simulate`: a fleet through time, with topologies updated as it moves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from manetdiff.cli import options
from manetdiff.cli.folders import folder_for
from manetdiff.cli.output import Table, print_json, print_table
from manetdiff.cli.progress import with_bar
from manetdiff.errors import FleetError, FormatError, ScenarioError
from manetdiff.files import together
from manetdiff.fleet import Fleet
from manetdiff.formats import read_radio, read_tracks
from manetdiff.formats.registry import MOBILITY, names
from manetdiff.messages import escaped
from manetdiff.scenarios import FAMILIES, MOTIONS, draw, motions_of, move
from manetdiff.weights import DEFAULT
from manetdiff.wording import share_text

ANIMATIONS = ("gif", "mp4", "none")
STEP_S, DURATION_S = 2.0, 120.0


def command(
    mobility: Annotated[
        list[str] | None,
        typer.Argument(
            help="Mobility file: ns-2, BonnMotion, an ADS-B table, or CSV of time, id, x, y; - is standard input. "
            "Several are several flights. Without any, a scenario is flown.",
            metavar="[FILE]...",
        ),
    ] = None,
    flights: Annotated[
        int, typer.Option(help="So many flights of the scenario, each with the seed after the one before it.", min=1)
    ] = 1,
    out: Annotated[str, typer.Option(help="Folder for the results; made if it is not there.")] = "simulation",
    step: Annotated[float, typer.Option(help="Seconds between updates.", metavar="S")] = STEP_S,
    start: Annotated[float | None, typer.Option(help="Begin here, in seconds of the file.", metavar="S")] = None,
    duration: Annotated[
        float | None, typer.Option(help="Stop after so long. Default: the whole file, or 120 s.", metavar="S")
    ] = None,
    kind: Annotated[str | None, typer.Option(help=f"Kind of the file: {names(MOBILITY, ' or ')}.")] = None,
    gap: options.Gap = None,
    family: Annotated[str, typer.Option(help=f"Scenario without a file: {', '.join(FAMILIES)}.")] = "wedge",
    nodes: Annotated[int, typer.Option(help="Nodes of the scenario.", min=2, max=1024)] = 16,
    motion: Annotated[
        str | None, typer.Option(help=f"How they move: {', '.join(MOTIONS)}. Default: what suits the family.")
    ] = None,
    preset: options.Preset = None,
    mode: Annotated[
        str, typer.Option(help="Of updates: auto (which is quick), minor, standard, guided or anew.")
    ] = "auto",
    seed: Annotated[int, typer.Option(help="The same seed gives the same flight and topologies.", min=0)] = 0,
    polish: options.Polish = None,
    refresh: Annotated[
        float | None, typer.Option(help="Make a topology anew after so many seconds of updates.", metavar="S")
    ] = None,
    loyalty: options.Loyalty = None,
    setup: options.Setup = None,
    ahead: Annotated[
        str,
        typer.Option(help="Judge links also by where the fleet will be: predicted, known (as in the file) or none."),
    ] = "predicted",
    uncertainty: options.Uncertainty = 0.0,
    compare: Annotated[
        bool, typer.Option("--compare", help="Also make a topology anew at every moment, to see what updating costs.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say in the report why links have changed, moment by moment.")
    ] = False,
    animation: Annotated[
        str, typer.Option(help="Its file: gif, mp4 (needs ffmpeg) or none. The report plays the flight in any case.")
    ] = "gif",
    weights: options.Weights = DEFAULT,
    radio: options.Radio = None,
    workers: options.WorkersAsked = None,
    engine: options.EngineChoice = "local",
    cluster: options.Cluster = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Fly a mobility file or a scenario, update the topology as it goes, and write what happened.

    \b
    Examples:
      manetdiff simulate
      manetdiff simulate scenario.movements --step 1 --out flight
      manetdiff simulate flights.csv --kind adsb --duration 600 --json
      manetdiff simulate --flights 100 --workers 8 --animation none
      manetdiff simulate monday.csv tuesday.csv --engine ray

    The folder gets metrics.csv, topologies.jsonl (a NetJSON graph a line), tracks.csv, an animation and report.html,
    one page with everything in it. Of many flights each has a folder in it, and flights.csv has a row for each.
    """
    if animation not in ANIMATIONS:
        raise FormatError(f"--animation: choose one of {', '.join(ANIMATIONS)}, not {animation!r}")
    motion = motion or motions_of(family)[0]
    files: list[str | None] = [*mobility] if mobility else [None] * flights
    if mobility and flights != 1:
        raise ScenarioError("--flights: goes with scenarios; of files, each is a flight")
    if files.count("-") > 1:
        raise FormatError("standard input can be read once only: one file may be -, not two")
    if len(files) == 1 and (workers is not None or engine != "local" or cluster is not None):
        raise ScenarioError("--workers, --engine and --cluster go with many flights: one is made moment after moment")
    scenario = (family, nodes, motion)
    seeds = [seed + place if file is None else seed for place, file in enumerate(files)]
    flown = []
    for file, own in zip(files, seeds, strict=True):
        try:
            flown.append(_flown(file, kind, gap, start, duration, step, scenario, own))
        except FleetError as error:  # which knows when, but not where
            raise FormatError(f"{escaped(file or 'the scenario')}: {error}") from None
    how: dict[str, Any] = {
        "radio": None if radio is None else read_radio(radio),
        "preset": preset,
        "mode": mode,
        "polish": polish,
        "refresh": refresh,
        "loyalty": loyalty,
        "setup": setup,
        "ahead": ahead,
        "uncertainty": uncertainty,
        "compare": compare,
        "explain": explain,
    }
    titles = [f"Simulation of {escaped(file or f'{nodes} nodes ({family}, {motion})')}" for file in files]
    if len(files) > 1:
        from manetdiff.cli.simulate_many import fly_all, names_of
        from manetdiff.simulation.many import FlightPlan

        names = names_of(mobility) if mobility else [f"flight-{own}" for own in seeds]
        plans = [
            FlightPlan(name, title, moments, weights, {**how, "seed": own}, animation, setup or 0.0)
            for name, title, moments, own in zip(names, titles, flown, seeds, strict=True)
        ]
        with options.measuring_engine(engine, workers, cluster) as shared:
            fly_all(plans, out, shared, as_json=as_json)
        return
    _fly_one(flown[0], weights, {**how, "seed": seed}, titles[0], out, animation, as_json=as_json)


def _fly_one(
    moments: Sequence[tuple[float, Fleet]],
    weights: str,
    how: dict[str, Any],
    title: str,
    out: str,
    animation: str,
    *,
    as_json: bool,
) -> None:
    """In this process, moment after moment."""
    from manetdiff.pictures.animation import check_animation_path
    from manetdiff.runtime.model import load
    from manetdiff.simulation import simulate
    from manetdiff.simulation.frames import moment_pictures
    from manetdiff.simulation.results import FILES, shown_moments, write_results
    from manetdiff.simulation.tables import summary

    folder = folder_for(out, (*FILES, f"animation.{animation}"))
    if animation != "none":
        check_animation_path(folder / f"animation.{animation}")
    made = list(with_bar(simulate(moments, load(weights), **how), len(moments), "updating"))
    shown = shown_moments(made)
    pictures = [] if animation == "none" else list(with_bar(moment_pictures(shown), len(shown), "drawing"))
    with together():
        names = write_results(made, folder, title, pictures, animation)
    _tell(summary(made, how["setup"] or 0.0), [str(Path(out) / name) for name in names], as_json)


def _flown(
    mobility: str | None,
    kind: str | None,
    gap: float | None,
    start: float | None,
    duration: float | None,
    step: float,
    scenario: tuple[str, int, str],
    seed: int,
) -> Sequence[tuple[float, Fleet]]:
    """Seconds and fleet at every step, of the file or of the scenario."""
    if duration is not None and not (np.isfinite(duration) and duration > 0):
        raise ScenarioError(f"--duration: must be a positive number of seconds, not {duration:g}")
    if mobility is not None:
        tracks = read_tracks(mobility, kind, gap)
        first = tracks.start if start is None else start
        end = None if duration is None else min(first + duration, tracks.end)
        return list(tracks.fleets(tracks.moments(step, first, end)))
    if kind is not None or gap is not None or start is not None:
        raise ScenarioError("--kind, --gap and --start go with a mobility file")
    family, nodes, motion = scenario
    rng = np.random.default_rng(seed)
    path = move(draw(family, nodes, rng), motion, rng, duration=duration or DURATION_S, step=step)
    return [(step * place, fleet) for place, fleet in enumerate(path)]


def _tell(told: dict[str, Any], files: list[str], as_json: bool) -> None:
    if as_json:
        print_json({**told, "files": files})
        return
    rows = [
        ("moments", f"{told['moments']}"),
        ("mean T, Mbit/s", f"{told['throughput']:.2f}"),
        ("sustained, Mbit/s", f"{told['sustained']:.2f}"),
        (f"delivered with {told['setup']:g} s to set a link up, Mbit/s", f"{told['delivered']:.2f}"),
        ("valid", share_text(told["valid"])),
        ("connected", share_text(told["connected"])),
    ]
    if told["continuity"] is not None:
        rows += [
            ("continuity", share_text(told["continuity"])),
            ("links changed an update", f"{told['added_a_moment']:.2f} new, {told['dropped_a_moment']:.2f} dropped"),
            ("time of an update", f"{told['update_ms']:.1f} ms, at most {told['slowest_update_ms']:.1f} ms"),
        ]
    if told["throughput_over_held"] is not None:
        rows.append(("T over never updating", f"{told['throughput_over_held']:.2f} times"))
    if told["throughput_over_anew"] is not None:
        rows.append(("T over making it anew", share_text(told["throughput_over_anew"])))
    print_table(Table("", ("", ""), rows))
    print(f"Written: {', '.join(files)}")
