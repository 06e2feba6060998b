"""One of many flights, from its moments to its files, wherever that is done: what it needs comes with it, and its files
go back to who asked for them."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from manetdiff.errors import DisconnectedWarning
from manetdiff.fleet import Fleet
from manetdiff.formats.csv_table import csv_text
from manetdiff.runtime.model import Model, load
from manetdiff.simulation.frames import moment_pictures
from manetdiff.simulation.results import shown_moments, write_results
from manetdiff.simulation.run import simulate
from manetdiff.simulation.tables import summary


@dataclass(frozen=True)
class FlightPlan:
    """A flight that is to be simulated. name: of its folder. weights: as for `load`. how: as for `simulate`.

    - animation: 'gif', 'mp4' or 'none'. setup: seconds until a new link carries anything, for what is delivered.
    """

    name: str
    title: str
    moments: Sequence[tuple[float, Fleet]] = field(repr=False)
    weights: str
    how: Mapping[str, Any]
    animation: str = "none"
    setup: float = 0.0


@dataclass(frozen=True)
class FlownFlight:
    """What became of it: the whole in a few numbers, and its files by name."""

    name: str
    summary: Mapping[str, float | None]
    files: Mapping[str, bytes] = field(repr=False)


def fly(plan: FlightPlan) -> FlownFlight:
    """Simulate it; networks in parts show in the summary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedWarning)
        made = list(simulate(plan.moments, _model(plan.weights), **plan.how))
    pictures = [] if plan.animation == "none" else list(moment_pictures(shown_moments(made)))
    with tempfile.TemporaryDirectory() as folder:
        names = write_results(made, Path(folder), plan.title, pictures, plan.animation)
        files = {name: (Path(folder) / name).read_bytes() for name in names}
    return FlownFlight(plan.name, summary(made, plan.setup), files)


def flights_csv(flights: Sequence[FlownFlight]) -> str:
    """A row for each flight; empty where there is no value."""
    rows = [{"flight": one.name, **one.summary} for one in flights]
    return csv_text([*rows[0]], [["" if value is None else value for value in row.values()] for row in rows])


@lru_cache(maxsize=2)
def _model(weights: str) -> Model:
    """Loaded once in a process."""
    return load(weights)
