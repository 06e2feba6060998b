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
# Of presets and of the reference in the same time: from which seed on each layout's own is counted.
FIRST_SEEDS = (0, 10_000, 20_000)
LONG_SECONDS = 2.0


@dataclass(frozen=True)
class Compared:
    """On the layouts of one kind.

    - raw: samples of the network, as they are. preset: the default one, with each of FIRST_SEEDS. reference: with as
      many seeds, in the mean time that the preset took; alone: the same, held to one link an antenna, as presets are.
      long: the reference for LONG_SECONDS on the first of the layouts.
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
    raw, preset = _raw(store, chosen), _preset(store, chosen)
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
        preset = _preset(store, chosen)
        references = _references(store, chosen, clock_seconds(preset))
        found.append(Compared(kind, _raw(store, chosen), preset, *references))
    return found


def _raw(store: RowStore, layouts: LayoutSet) -> Rows:
    return generated(store, layouts, steps=RAW_STEPS, correct=False, polish=False)


def _preset(store: RowStore, layouts: LayoutSet) -> Rows:
    return Rows.pooled([generated(store, _seeded(layouts, first), preset=DEFAULT) for first in FIRST_SEEDS])


def _references(store: RowStore, layouts: LayoutSet, seconds: float) -> tuple[Rows, Rows]:
    """As it is, and held to one link an antenna."""
    with_seeds = [_seeded(layouts, first) for first in FIRST_SEEDS]
    free = Rows.pooled([solved(store, "reference", one, seconds=seconds) for one in with_seeds])
    return free, Rows.pooled([alone_on_antennas(store, one, seconds=seconds) for one in with_seeds])


def _seeded(layouts: LayoutSet, first: int) -> LayoutSet:
    """The same layouts with later numbers, which are what seeds are counted by."""
    if first == 0:
        return layouts
    return dataclasses.replace(
        layouts,
        of=f"{layouts.of}, seeds from {first:,}",
        layout=lambda index: dataclasses.replace(layouts.layout(index), index=first + index),
        key={**layouts.key, "first seed": first},
        recipe=None,
    )


def _every(rows: Rows, place: int, step: int) -> Rows:
    """The rows of one radio of several that take turns, of each seed."""
    return Rows(rows.rows[place::step], rows.seeds)
