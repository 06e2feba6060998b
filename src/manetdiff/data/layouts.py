"""One solved layout, and how it is made from nothing but the settings and its index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from manetdiff.data.settings import Settings
from manetdiff.errors import DataError, ScenarioError
from manetdiff.fleet import Fleet, displacement
from manetdiff.layout import Layout
from manetdiff.radio import Radio
from manetdiff.scenarios import draw, motions_of, move_by
from manetdiff.solvers import solve
from manetdiff.topology import METRICS, Report, Topology, joining_range, metrics

METHOD = "reference"
TRIES = 50
# Above this reach every fleet counts as connected when it is drawn; a radio in metres is asked afterwards.
ANY_REACH = 1e9


@dataclass(frozen=True)
class DrawnLayout:
    """A fleet before it is solved.

    - index: which layout of the set it is; step: 0 as drawn, 1 after moving.
    - displacement: from step 0, normalised (0 at step 0); motion: the model that moved it (None at step 0).
    """

    index: int
    step: int
    displacement: float
    motion: str | None
    family: str
    fleet: Fleet


@dataclass(frozen=True)
class SolvedLayout(DrawnLayout):
    """A fleet with the topology that the reference search found for it.

    - topology: it knows its layout; its report holds method, moves (the search's budget), restarts, seed and fallback.
    - metrics: by the names in manetdiff.topology.METRICS.
    """

    topology: Topology
    metrics: Mapping[str, float] = field(repr=False)

    @property
    def layout(self) -> Layout:
        """The fleet under the radio that it was solved for."""
        return self.topology.on()


def make_layouts(settings: Settings, index: int) -> list[SolvedLayout]:
    """The layout of this index, solved; with moves, followed by the moved one."""
    return [_solved(settings, drawn) for drawn in draw_layouts(settings, index)]


def draw_layouts(settings: Settings, index: int) -> list[DrawnLayout]:
    """The same before they are solved."""
    rng = np.random.default_rng(np.random.SeedSequence(entropy=settings.seed, spawn_key=(settings.domain, index)))
    n = settings.nodes[int(rng.integers(len(settings.nodes)))]
    families = settings.families
    family = families[index % len(families) if settings.families_in_turn else int(rng.integers(len(families)))]
    fleet = _fleet(family, n, settings.radio, rng)
    layouts = [DrawnLayout(index, 0, 0.0, None, family, fleet)]
    if settings.displacement is not None:
        layouts.append(_moved(layouts[0], settings.displacement, settings.radio, rng))
    return layouts


def _solved(settings: Settings, drawn: DrawnLayout) -> SolvedLayout:
    seed = 2 * drawn.index + drawn.step
    found = solve(drawn.fleet, settings.radio, METHOD, seed=seed, moves=settings.search_moves)
    # What a file keeps of the report; not the time that the search took, which would differ from run to run.
    report = Report(
        method=METHOD,
        seed=seed,
        moves=settings.search_moves,
        restarts=found.report.restarts,
        fallback=found.report.fallback,
    )
    topology = Topology(found.links, found.parity, report, found.layout)
    scores = metrics(topology)
    return SolvedLayout(**vars(drawn), topology=topology, metrics={name: scores[name] for name in METRICS})


def _fleet(family: str, n: int, radio: Radio, rng: np.random.Generator) -> Fleet:
    """A fleet that the radio can connect, as it will be stored."""
    reach = radio.range if radio.unit is None else ANY_REACH
    for _ in range(TRIES):
        fleet = draw(family, n, rng, reach=reach)
        # Families put their leader first and neighbours side by side; what learns from the data must not rely on it.
        order = rng.permutation(n)
        fleet = _as_stored(Fleet(fleet.positions[order], fleet.yaw[order]))
        if _connectable(fleet, radio):
            return fleet
    raise DataError(
        f"no {family} layout of {n} nodes could be connected within the radio's range of {radio.range:g} in {TRIES} "
        "tries: choose a radio of longer range, other nodes or another family"
    )


def _moved(start: DrawnLayout, limits: tuple[float, float], radio: Radio, rng: np.random.Generator) -> DrawnLayout:
    for _ in range(TRIES):
        wanted = float(rng.uniform(*limits))
        for motion in rng.permutation(motions_of(start.family)).tolist():
            try:
                fleet = _as_stored(move_by(start.fleet, wanted, rng, motion))
            except ScenarioError:
                continue
            if _connectable(fleet, radio):
                way = displacement(start.fleet, fleet)
                return DrawnLayout(start.index, 1, way, motion, start.family, fleet)
    low, high = limits
    raise DataError(
        f"layout {start.index} ({start.family}, {len(start.fleet)} nodes) could not be moved by {low:g} … {high:g} and "
        f"stay connected in {TRIES} tries: choose a smaller displacement"
    )


def _as_stored(fleet: Fleet) -> Fleet:
    """Rounded to what the file holds before anything is computed, so that the stored layout is the solved one."""
    return Fleet(fleet.positions.astype(np.float32), fleet.yaw.astype(np.float32))


def _connectable(fleet: Fleet, radio: Radio) -> bool:
    return joining_range(Layout(fleet, radio)) <= radio.range
