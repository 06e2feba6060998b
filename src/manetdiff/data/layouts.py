"""One solved layout, and how it is made from nothing but the settings and its index."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from manetdiff.data.radios import RANDOM
from manetdiff.data.settings import EQUAL, Settings
from manetdiff.errors import DataError, ScenarioError
from manetdiff.fleet import Fleet, displacement
from manetdiff.layout import Layout
from manetdiff.radio import Radio, draw_spacing
from manetdiff.scenarios import draw, motions_of, move_by
from manetdiff.solvers import solve
from manetdiff.topology import METRICS, Report, Topology, metrics

METHOD = "reference"
# With one radio, and where there are always others to be drawn.
TRIES, FEW_TRIES = 50, 3
# Above this reach every fleet counts as connected when it is drawn; a radio in metres is asked afterwards.
ANY_REACH = 1e9
# Width, in radians, of the azimuths that a wing or a mast blocks.
BLOCKED_WIDTHS = (math.radians(20), math.radians(90))


@dataclass(frozen=True)
class LayoutOfSet:
    """Which layout of a set it is.

    - index: its place in the set; step: 0 as drawn, 1 after moving.
    - displacement: from step 0, normalised (0 at step 0); motion: the model that moved it (None at step 0).
    - radio_name: of its radio, in a set whose radios have names.
    """

    index: int
    step: int
    displacement: float
    motion: str | None
    family: str
    radio_name: str | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class DrawnLayout(LayoutOfSet):
    """A fleet before it is solved. layout: with the radio that it is to be solved for."""

    layout: Layout

    @property
    def fleet(self) -> Fleet:
        """Without the radio."""
        return self.layout.fleet


@dataclass(frozen=True)
class SolvedLayout(LayoutOfSet):
    """A fleet with the topology that the reference search found for it.

    - topology: it knows its layout; its report holds method, moves (the search's budget), restarts, seed and fallback.
    - metrics: by the names in manetdiff.topology.METRICS.
    """

    fleet: Fleet
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
    n = _size(settings, rng)
    families = settings.families
    family = families[index % len(families) if settings.families_in_turn else int(rng.integers(len(families)))]
    at_random = settings.radio == RANDOM
    for _ in range(TRIES if at_random else 1):
        name, layout = _layout(settings, index, family, n, rng)
        start = DrawnLayout(index, 0, 0.0, None, family, layout, radio_name=name)
        if settings.displacement is None:
            return [start]
        moved = _moved(start, settings.displacement, rng, FEW_TRIES if at_random else TRIES)
        if moved is not None:
            return [start, moved]
    limits = " … ".join(f"{limit:g}" for limit in settings.displacement or ())
    raise DataError(
        f"layout {index} ({family}, {n} nodes) could not be moved by {limits} and stay connected in {TRIES} tries: "
        "choose a smaller displacement"
    )


def _solved(settings: Settings, drawn: DrawnLayout) -> SolvedLayout:
    seed, moves = 2 * drawn.index + drawn.step, settings.moves_for(len(drawn.layout))
    found = solve(drawn.layout, method=METHOD, seed=seed, moves=moves)
    # What a file keeps of the report; not the time that the search took, which would differ from run to run.
    report = Report(
        method=METHOD,
        seed=seed,
        moves=moves,
        restarts=found.report.restarts,
        fallback=found.report.fallback,
    )
    scores = metrics(found)
    facts = {entry.name: getattr(drawn, entry.name) for entry in dataclasses.fields(LayoutOfSet)}
    # A layout without the tables that the search has looked at: they are far larger than all the rest.
    topology = Topology(found.links, found.parity, report, Layout(drawn.fleet, drawn.layout.radio))
    return SolvedLayout(**facts, fleet=drawn.fleet, topology=topology, metrics={name: scores[name] for name in METRICS})


def _size(settings: Settings, rng: np.random.Generator) -> int:
    sizes = settings.nodes
    if settings.size_odds == EQUAL:
        return sizes[int(rng.integers(len(sizes)))]
    shares = np.cumsum(1.0 / np.array(sizes))
    return sizes[int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))]


def _layout(settings: Settings, index: int, family: str, n: int, rng: np.random.Generator) -> tuple[str | None, Layout]:
    """A fleet that its radio can connect, as it will be stored, and the name of the radio, if it has one."""
    for _ in range(TRIES):
        name, radio, spacing = _radio(settings, index, rng)
        try:
            layout = Layout(_fleet(settings, family, n, radio, spacing, rng), radio)
        except ScenarioError:
            if settings.radio != RANDOM:
                raise
            continue  # not every radio can join every family at every spacing
        if layout.connectable:
            return name, layout
    within = "of any radio" if settings.radio == RANDOM else f"of {radio.range:g}"
    raise DataError(
        f"no {family} layout of {n} nodes could be connected within the range {within} in {TRIES} "
        "tries: choose a radio of longer range, other nodes or another family"
    )


def _radio(settings: Settings, index: int, rng: np.random.Generator) -> tuple[str | None, Radio, float | None]:
    """Name, radio and spacing for the layout of this index."""
    radios = settings.radio
    if isinstance(radios, Radio):
        return None, radios, settings.spacing
    if isinstance(radios, str):
        spacing = settings.spacing or draw_spacing(rng)
        return None, Radio.draw(rng, spacing=spacing), spacing
    name = list(radios)[index % len(radios)]
    return name, radios[name].radio, radios[name].spacing


def _fleet(
    settings: Settings, family: str, n: int, radio: Radio, spacing: float | None, rng: np.random.Generator
) -> Fleet:
    metres = None if radio.unit is None else radio.range * radio.unit
    fleet = draw(
        family,
        n,
        rng,
        reach=radio.range if metres is None else ANY_REACH,
        spacing=spacing,
        within=None if spacing is None else metres,
        heights=settings.heights,
    )
    # Families put their leader first and neighbours side by side; what learns from the data must not rely on it.
    order = rng.permutation(n)
    blocked = _blocked(settings.blocked, n, rng) if settings.blocked else None
    return _as_stored(Fleet(fleet.positions[order], fleet.yaw[order], blocked=blocked))


def _blocked(share: float, n: int, rng: np.random.Generator) -> list[list[tuple[float, float]]]:
    """For each node the azimuths where it has no antenna: one range, or none."""
    has = rng.random(n) < share
    start = rng.uniform(-math.pi, math.pi, n)
    stop = start + rng.uniform(*BLOCKED_WIDTHS, n)
    return [[(float(start[k]), float(stop[k]))] if has[k] else [] for k in range(n)]


def _moved(start: DrawnLayout, limits: tuple[float, float], rng: np.random.Generator, tries: int) -> DrawnLayout | None:
    """The same fleet after it has moved, still connected; None if that did not come about."""
    for _ in range(tries):
        wanted = float(rng.uniform(*limits))
        for motion in rng.permutation(motions_of(start.family)).tolist():
            try:
                fleet = _as_stored(move_by(start.fleet, wanted, rng, motion))
            except ScenarioError:
                continue
            layout = Layout(fleet, start.layout.radio)
            if layout.connectable:
                way = displacement(start.fleet, fleet)
                return dataclasses.replace(start, step=1, displacement=way, motion=motion, layout=layout)
    return None


def _as_stored(fleet: Fleet) -> Fleet:
    """Rounded to what the file holds before anything is computed, so that the stored layout is the solved one."""
    blocked = fleet.blocked and [[np.array(arc, dtype=np.float32) for arc in arcs] for arcs in fleet.blocked]
    return Fleet(fleet.positions.astype(np.float32), fleet.yaw.astype(np.float32), blocked=blocked)
