"""The tables on partial diffusion: what an update keeps of the links, and how many steps it needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import numpy as np

from manetdiff.data import SolvedLayout
from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.reproduce import paper
from manetdiff.reproduce.cells import MEASURES, Cell
from manetdiff.reproduce.raw_samples import KEPT, SHAPE, cells, labels
from manetdiff.reproduce.resampling import bootstrap
from manetdiff.reproduce.rows import Row, Rows
from manetdiff.reproduce.study import Grid, Setting, Study, benchmark
from manetdiff.runtime.model import Model, load
from manetdiff.runtime.partial import Mode
from manetdiff.scenarios import move_by
from manetdiff.solvers import solve
from manetdiff.topology import Topology, continuity, metrics

METRICS = (*SHAPE, "continuity", *KEPT, "milliseconds")
LAYOUTS = 220
STEP_LAYOUTS = 66
# The paper's two: a typical scenario of 3/10 with 15 steps, small changes of 1/10 with 10.
CASES: tuple[tuple[Mode, float, int], ...] = (("standard", 0.3, 15), ("minor", 0.1, 10))
STEPS = (1, 3, 5, 10, 15, 25)
MOVEMENTS = (0.05, 0.1, 0.2, 0.3, 0.5)

Way = Callable[[Topology, Fleet, Fleet], Topology]


def partial_rows(setting: Setting, mode: Mode, movement: float, steps: int) -> dict[str, Rows]:
    """Fifty steps anew, an update as the paper has it, and ours, all after the same movements."""
    model = load(threads=1)
    layouts = setting.layouts(16, most=LAYOUTS)
    return {
        "anew": _moved(setting, "50 steps anew, raw", movement, layouts, _anew(model)),
        "raw": _moved(setting, f"{mode}, {steps} steps, raw", movement, layouts, _raw(model, mode, steps)),
        "own": _moved(setting, f"{mode}, as by default", movement, layouts, _default(model, mode)),
    }


def _partial(setting: Setting) -> list[Grid]:
    rows: list[tuple[str, list[Cell | str]]] = []
    gains: list[tuple[str, list[Cell | str]]] = []
    for mode, movement, steps in CASES:
        made = partial_rows(setting, mode, movement, steps)
        rows.append((f"{mode}, {movement:g}, {steps} steps", [*cells(made["raw"], METRICS, paper.PARTIAL[mode])]))
        rows.append((f"{mode}, {movement:g}, our default", [*cells(made["own"], METRICS)]))
        rows.append((f"anew, {movement:g}, 50 steps", [*cells(made["anew"], METRICS)]))
        share, low, high = _gain(made["raw"], made["anew"])
        gain = Cell(MEASURES["continuity"], share, low, high, paper.CONTINUITY_GAIN[mode])
        spent = {way: one.cell("milliseconds").mean for way, one in made.items()}
        faster = [f"{spent['anew'] / spent[way]:.1f} times" for way in ("raw", "own")]
        gains.append((mode, [gain, *faster]))
    note = "Raw samples from the sets' own topologies; our default takes fewer steps and corrects."
    return [
        Grid("Partial diffusion, 16 nodes", ["way", *labels(METRICS)], rows, note),
        Grid(
            "More links kept than anew, and faster (paper: 3.3 to 5 times)",
            ["mode", "continuity over anew", "faster", "faster, by default"],
            gains,
        ),
    ]


def step_rows(setting: Setting) -> dict[float, dict[int, Rows]]:
    """Raw standard updates by movement and number of steps."""
    model = load(threads=1)
    layouts = setting.layouts(16, most=STEP_LAYOUTS)
    return {
        movement: {
            steps: _moved(setting, f"standard, {steps} steps, raw", movement, layouts, _raw(model, "standard", steps))
            for steps in STEPS
        }
        for movement in MOVEMENTS
    }


def _steps(setting: Setting) -> list[Grid]:
    made = step_rows(setting)
    columns = ["movement", *(f"{steps} steps" for steps in STEPS)]
    return [
        Grid(
            f"{MEASURES[metric].label} by movement and steps",
            columns,
            [(f"{movement:g}", [one.cell(metric) for one in row.values()]) for movement, row in made.items()],
        )
        for metric in ("ratio", "continuity")
    ]


def _gain(one: Rows, other: Rows) -> tuple[float, float, float]:
    """How much more continuity, as a share of the other's, with its interval."""
    mean, low, high = bootstrap(one.values("continuity"), other.values("continuity")[0])
    return mean - 1, low - 1, high - 1


def _moved(setting: Setting, way: str, movement: float, layouts: list[SolvedLayout], update: Way) -> Rows:
    """Rows of an update of each layout's own topology after a movement; their target is a search from scratch."""

    def make() -> list[Row]:
        rows = []
        for index, layout in enumerate(layouts):
            fleet, target = _after(layout.index, movement)
            if index == 0:
                update(layout.topology, layout.fleet, fleet)
            began = time.perf_counter()
            made = update(layout.topology, layout.fleet, fleet)
            seconds = time.perf_counter() - began
            rows.append(
                {
                    **metrics(made, fleet, Radio()),
                    "continuity": continuity(layout.topology, made),
                    "target": target,
                    "milliseconds": 1e3 * seconds,
                }
            )
        return rows

    what = {"way": way, "set": f"{len(layouts)} layouts of 16 nodes moved by {movement:g}"}
    return setting.store.rows(what, make)


@cache
def _after(index: int, movement: float) -> tuple[Fleet, float]:
    """The fleet of a layout of 16 nodes after its movement, and the T of a search there from scratch."""
    fleet = move_by(benchmark(16)[index].fleet, movement, np.random.default_rng(index))
    return fleet, float(metrics(solve(fleet, method="reference", moves=20_000), fleet)["throughput"])


def _anew(model: Model) -> Way:
    return lambda old, before, fleet: model.generate(fleet, steps=50, correct=False, polish=False)


def _raw(model: Model, mode: Mode, steps: int) -> Way:
    return lambda old, before, fleet: model.update(old, fleet, previous=before, mode=mode, steps=steps, correct=False)


def _default(model: Model, mode: Mode) -> Way:
    return lambda old, before, fleet: model.update(old, fleet, previous=before, mode=mode)


PARTIAL_STUDIES = (
    Study(
        "partial",
        "Partial diffusion",
        "The paper: updates keep 21 % (standard) and 41 % (minor) more of the links than generating anew, "
        "3.3 to 5 times faster.",
        _partial,
    ),
    Study(
        "steps",
        "Steps against movement",
        "The paper: 10 to 15 steps are the best at a movement of 0.3, 7 to 10 at 0.1.",
        _steps,
    ),
)
