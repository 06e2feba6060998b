"""Flights: chains of updates against everything else that could follow a fleet, at equal time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from manetdiff.measure.flown import FlightSet, drawn_flights
from manetdiff.measure.resampling import bootstrap
from manetdiff.measure.rows import Rows
from manetdiff.measure.ways.chains import (
    SETUPS,
    Way,
    anew,
    as_in_the_paper,
    followed,
    holding,
    repaired,
    searched,
    updates,
    updates_with_setup,
)
from manetdiff.measure.ways.hindsight import hindsight
from manetdiff.pictures.plane import draw_planes
from manetdiff.reproduce.tables import Grid, Setting
from manetdiff.runtime.partial import Mode
from manetdiff.weights import DEFAULT, PAPER


@dataclass(frozen=True)
class Case:
    """So many flights of so many nodes, updated every `step` seconds, so often."""

    nodes: int
    step: float
    updates: int
    count: int

    def flights(self, motion: str | None = None) -> FlightSet:
        """Of all families and motions in turn, or of one motion."""
        return drawn_flights(self.nodes, self.step, self.updates, self.count, motion)


CASES = (
    *(Case(16, step, 24, 35) for step in (1.0, 4.0, 10.0)),
    *(Case(32, step, 12, 13) for step in (1.0, 4.0, 10.0)),
    *(Case(128, step, 6, 3) for step in (1.0, 4.0, 10.0)),
)
# Enough to try it out.
QUICK = Case(8, 4.0, 3, 2)
PICTURED = (QUICK.nodes, 16)
LOYALTIES = (0.5, 1.0, 1.5, 2.0, 3.0)
USUAL = 1.0
PEERS_LOYALTIES = (0.5, 1.0, 2.0)
# Of the update's time, what correct + polish gets.
POLISHED = (0.0, 0.25, 1.0)
# Nodes up to which the network on all pairs, the paper's, is followed.
DENSE = 32
# An hour of updates every 4 s.
LONG = Case(16, 4.0, 900, 2)
HINDSIGHT_FLIGHTS = 13
MEASURES = ("share", "worst", "continuity", *(f"delivered_{setup:g}" for setup in SETUPS), "valid", "milliseconds")
COLUMNS = (
    "way",
    "T / anew",
    "worst twentieth",
    "continuity",
    *(f"delivered, {setup:g} s" for setup in SETUPS),
    "valid",
    "ms",
)


def ways_of(setting: Setting, flown: FlightSet) -> dict[str, dict[str, Rows]]:
    """Rows of all ways by their names, each with its settings. All but those of the paper, what is made anew and what
    is held have the time that an update takes."""

    def rows(name: str, label: str, way: Callable[[], Way], **what: object) -> Rows:
        return followed(setting.store, f"{name}, {label}", what, flown, way)

    ours = {
        f"loyalty {loyalty:g}": rows("update", f"loyalty {loyalty:g}", partial(updates, loyalty=loyalty))
        for loyalty in LOYALTIES
    }
    seconds = ours[f"loyalty {USUAL:g}"].values("milliseconds").mean() / 1e3
    time = {"seconds": round(float(seconds), 4)}
    for setup in SETUPS:
        ours[f"setup {setup:g} s"] = rows("update", f"setup {setup:g}", partial(updates_with_setup, setup))
    made = {"update": ours}
    made["update, next moment known"] = {
        f"loyalty {loyalty:g}": rows("known", f"{loyalty:g}", partial(updates, True, loyalty=loyalty))
        for loyalty in PEERS_LOYALTIES
    }
    made["update, not looking ahead"] = {
        f"loyalty {loyalty:g}": rows("blind", f"{loyalty:g}", partial(updates, None, loyalty=loyalty))
        for loyalty in PEERS_LOYALTIES
    }
    for name, plain in (("annealing, loyal, looking ahead", True), ("the same search, no network", False)):
        made[name] = {
            f"loyalty {loyalty:g}": rows(name, f"{loyalty:g}", partial(searched, seconds, loyalty, plain=plain), **time)
            for loyalty in PEERS_LOYALTIES
        }
    made["correct + polish"] = {
        f"{share:g} of the time": rows("repaired", f"{share:g}", partial(repaired, share * seconds), **time)
        for share in POLISHED
    }
    weights = PAPER if flown.nodes <= DENSE else DEFAULT
    modes: tuple[Mode, ...] = ("minor", "standard", "guided")
    for mode in modes:
        made[f"paper's {mode}"] = {"": rows(mode, weights, partial(as_in_the_paper, mode, weights))}
    made["anew"] = {preset: rows("anew", preset, partial(anew, preset)) for preset in ("instant", "balanced")}
    made["held"] = {"": rows("held", "", holding)}
    return made


def flights(setting: Setting) -> list[Grid]:
    """All ways on all flights; what hindsight finds; an hour. Where a flight is given, all ways on that alone."""
    grids = []
    for flown in measured(setting):
        rows = [
            (f"{way}{', ' if label else ''}{label}", [cell(made, metric) for metric in MEASURES])
            for way, some in ways_of(setting, flown).items()
            for label, made in some.items()
        ]
        grids.append(Grid(flown.name, COLUMNS, rows, LEADS_NOTE + _lead(setting, flown)))
    return grids if setting.flown is not None else [*grids, _hindsight(setting), _drift(setting)]


LEADS_NOTE = (
    "Milliseconds of the processor. Where not all are valid, the range leaves a fleet in parts. By how many points of "
    "T the curve of update is above the points of each other way, at their continuity, at least: "
)


def measured(setting: Setting) -> list[FlightSet]:
    """The flights that all ways are measured on."""
    if setting.flown is not None:
        return [setting.flown]
    return [case.flights() for case in ((QUICK,) if setting.quick else CASES)]


def draw(setting: Setting, folder: Path) -> list[str]:
    """T against continuity, one panel an interval."""
    shown = [one for one in measured(setting) if one.nodes in PICTURED or setting.flown is not None]
    panels = {
        flown.of: {
            way: [point(made) for made in some.values()]
            for way, some in ways_of(setting, flown).items()
            if way != "held"
        }
        for flown in shown
    }
    draw_planes(panels, folder / "flights.png")
    return ["flights.png"]


def point(made: Rows) -> tuple[float, float]:
    """Continuity and T."""
    return float(made.values("continuity").mean()), float(made.values("share").mean())


def cell(made: Rows, metric: str) -> str:
    """A mean, and half of the interval that holds it with 95 % confidence."""
    values = made.values(metric)
    if metric == "milliseconds":
        return f"{values.mean():.1f}"
    mean, low, high = bootstrap(values)
    within = f" ± {50 * (high - low):.1f}" if values.size > 1 else ""
    return f"{100 * mean:.1f}{within} %"


def _lead(setting: Setting, flown: FlightSet) -> str:
    """By how many points of T our curve is above each other way's points, at their continuity."""
    made = ways_of(setting, flown)
    curve = sorted(point(one) for one in made["update"].values())
    kept, carried = zip(*curve, strict=True)
    leads = []
    for way, some in made.items():
        if way.startswith("update") or way == "held":
            continue
        points = [point(one) for one in some.values()]
        inside = [float(np.interp(c, kept, carried)) - t for c, t in points if kept[0] <= c <= kept[-1]]
        told = [f"{100 * min(inside):+.1f}"] if inside else []
        told += ["keeps fewer links than any of ours"] if any(c < kept[0] for c, _ in points) else []
        told += ["keeps more links than any of ours"] if any(c > kept[-1] for c, _ in points) else []
        leads.append(f"{way} {' and '.join(told)}")
    return "; ".join(leads) + "."


def _hindsight(setting: Setting) -> Grid:
    """What is delivered, as a share of what hindsight finds."""
    case = QUICK if setting.quick else CASES[1]
    flown = case.flights().first(HINDSIGHT_FLIGHTS)
    rows = []
    for setup in SETUPS[1:]:
        metric = f"delivered_{setup:g}"
        bound = hindsight(setting.store, flown, setup).values(metric)
        ours = {
            "predicted": followed(
                setting.store, f"update, setup {setup:g}", {}, flown, partial(updates_with_setup, setup)
            ),
            "next moment known": followed(
                setting.store, f"known, setup {setup:g}", {}, flown, partial(updates_with_setup, setup, True)
            ),
        }
        for label, made in ours.items():
            mean, low, high = bootstrap(made.values(metric) / bound)
            text = f"{100 * mean:.1f} ± {50 * (high - low):.1f} %"
            rows.append((f"{setup:g} s of setup, {label}", [text, f"{100 * bound.mean():.1f} %"]))
    note = "A slow search over the whole flight that knows all of it; no proof of a bound."
    columns = ["update", "delivered / hindsight", "hindsight / anew without setup"]
    return Grid(f"Hindsight, {case.nodes} nodes every {case.step:g} s", columns, rows, note)


def _drift(setting: Setting) -> Grid:
    """Whether T sinks over an hour."""
    case = QUICK if setting.quick else LONG
    flown = case.flights("gauss-markov")
    made = followed(setting.store, f"update, loyalty {USUAL:g}", {}, flown, partial(updates, loyalty=USUAL))
    rows = [
        (
            f"flight {k + 1}",
            [f"{100 * row['share']:.2f} %", f"{100 * row['worst']:.1f} %", f"{100 * row['drift']:+.3f} points"],
        )
        for k, row in enumerate(made.rows)
    ]
    columns = ["update, loyalty 1", "T / anew", "worst twentieth", "drift in a hundred updates"]
    return Grid(f"An hour of updates every {case.step:g} s", columns, rows)
