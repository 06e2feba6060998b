"""The network alone, the default preset and the reference on fleets of other kinds: under twelve radios, and on layouts
unlike any in training."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from manetdiff.data.benchmark_radios import BENCHMARK_RADIOS
from manetdiff.evaluate.preset_frontier import Lead, clock_seconds, told
from manetdiff.measure.rows import Rows
from manetdiff.measure.sets import LayoutSet, benchmark_set
from manetdiff.measure.store import RowStore
from manetdiff.measure.unlike import UNLIKE, unlike_set
from manetdiff.measure.ways.runtime import generated
from manetdiff.measure.ways.solvers import alone_on_antennas, solved
from manetdiff.runtime.effort import DEFAULT

RADIOS = "radios"
# Layouts of each radio; of each for the long search; and of each kind that is unlike the training's.
OF_A_RADIO, LONG_OF_A_RADIO, OF_A_KIND = 40, 4, 24
RAW_STEPS = 10
LONG_SECONDS = 2.0


@dataclass(frozen=True)
class Compared:
    """On the layouts of one kind.

    - raw: samples of the network, as they are. preset: the default one. reference: in the mean time that the preset
      took; alone: the same, held to one link an antenna, as presets are. long: the reference for LONG_SECONDS on the
      first of the layouts.
    """

    kind: str
    raw: Rows
    preset: Rows
    reference: Rows
    alone: Rows
    long: Rows | None = None

    @property
    def lead(self) -> Lead:
        """Of the preset over the reference."""
        return Lead.of(self.preset, self.reference)

    @property
    def lead_alone(self) -> Lead:
        """Of the preset over the reference that keeps to the same rule."""
        return Lead.of(self.preset, self.alone)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        names = "raw", "preset", "reference", "alone", "long"
        rows = {name: told(one) for name in names if (one := getattr(self, name)) is not None}
        return {"kind": self.kind, **rows, "lead": vars(self.lead), "lead_alone": vars(self.lead_alone)}


def under_radios(store: RowStore, layouts: int | None = None) -> list[Compared]:
    """For each radio of the set. layouts: at most so many of each."""
    names = list(BENCHMARK_RADIOS)  # they take turns in this order
    of_each = min(OF_A_RADIO, layouts or OF_A_RADIO)
    chosen = benchmark_set(RADIOS).first(of_each * len(names))
    raw, preset = _raw(store, chosen), generated(store, chosen, preset=DEFAULT)
    long = solved(store, "reference", chosen.first(min(LONG_OF_A_RADIO, of_each) * len(names)), seconds=LONG_SECONDS)
    found = []
    for place, name in enumerate(names):
        own = dataclasses.replace(chosen, of=f"{RADIOS}, {name}", indices=chosen.indices[place :: len(names)])
        ours = _every(preset, place, len(names))
        first, longest = (_every(rows, place, len(names)) for rows in (raw, long))
        found.append(Compared(name, first, ours, *_references(store, own, clock_seconds(ours)), longest))
    return found


def unlike_training(store: RowStore, layouts: int | None = None) -> list[Compared]:
    """For each kind of UNLIKE. layouts: at most so many of each."""
    found = []
    for kind in UNLIKE:
        chosen = unlike_set(kind, min(OF_A_KIND, layouts or OF_A_KIND))
        preset = generated(store, chosen, preset=DEFAULT)
        references = _references(store, chosen, clock_seconds(preset))
        found.append(Compared(kind, _raw(store, chosen), preset, *references))
    return found


def _raw(store: RowStore, layouts: LayoutSet) -> Rows:
    return generated(store, layouts, steps=RAW_STEPS, correct=False, polish=False)


def _references(store: RowStore, layouts: LayoutSet, seconds: float) -> tuple[Rows, Rows]:
    """As it is, and held to one link an antenna."""
    return solved(store, "reference", layouts, seconds=seconds), alone_on_antennas(store, layouts, seconds=seconds)


def _every(rows: Rows, place: int, step: int) -> Rows:
    """The rows of one radio of several that take turns."""
    return Rows(rows.rows[place::step])
