"""The tables on partial diffusion: what an update keeps of the links, and how many steps it needs."""

from __future__ import annotations

from manetdiff.measure.measures import MEASURES, Cell, labels
from manetdiff.measure.moved import Moved
from manetdiff.measure.resampling import bootstrap
from manetdiff.measure.rows import Rows
from manetdiff.measure.ways.updates import updated
from manetdiff.reproduce import paper
from manetdiff.reproduce.raw_tables import KEPT, SHAPE
from manetdiff.reproduce.tables import Grid, Setting
from manetdiff.runtime.partial import Mode
from manetdiff.weights import PAPER

METRICS = (*SHAPE, "continuity", *KEPT, "milliseconds")
LAYOUTS = 220
STEP_LAYOUTS = 66
# Of the search from scratch that finds the target after a movement.
TARGET_MOVES = 20_000
# The paper's two: a typical scenario of 3/10 with 15 steps, small changes of 1/10 with 10.
CASES: tuple[tuple[Mode, float, int], ...] = (("standard", 0.3, 15), ("minor", 0.1, 10))
STEPS = (1, 3, 5, 10, 15, 25)
MOVEMENTS = (0.05, 0.1, 0.2, 0.3, 0.5)


def partial_rows(setting: Setting, mode: Mode, movement: float, steps: int) -> dict[str, Rows]:
    """Fifty steps anew, an update as the paper has it, and ours, all after the same movements."""
    store, moved = setting.store, Moved(setting.layouts(16, most=LAYOUTS), movement, TARGET_MOVES)
    return {
        "anew": updated(store, moved, "anew", weights=PAPER, steps=50, correct=False, polish=False),
        "raw": updated(store, moved, mode, weights=PAPER, steps=steps, correct=False),
        "own": updated(store, moved, mode, weights=PAPER),
    }


def step_rows(setting: Setting) -> dict[float, dict[int, Rows]]:
    """Raw standard updates by movement and number of steps."""
    layouts = setting.layouts(16, most=STEP_LAYOUTS)
    return {
        moved.movement: {
            steps: updated(setting.store, moved, "standard", weights=PAPER, steps=steps, correct=False)
            for steps in STEPS
        }
        for moved in (Moved(layouts, movement, TARGET_MOVES) for movement in MOVEMENTS)
    }


def partial(setting: Setting) -> list[Grid]:
    """Updates against generating anew."""
    rows: list[tuple[str, list[Cell | str]]] = []
    gains: list[tuple[str, list[Cell | str]]] = []
    for mode, movement, steps in CASES:
        made = partial_rows(setting, mode, movement, steps)
        rows.append((f"{mode}, {movement:g}, {steps} steps", [*made["raw"].cells(METRICS, paper.PARTIAL[mode])]))
        rows.append((f"{mode}, {movement:g}, our default", [*made["own"].cells(METRICS)]))
        rows.append((f"anew, {movement:g}, 50 steps", [*made["anew"].cells(METRICS)]))
        share, low, high = _gain(made["raw"], made["anew"])
        gain = Cell(MEASURES["continuity"], share, low, high, paper.CONTINUITY_GAIN[mode])
        spent = {way: one.mean("milliseconds") for way, one in made.items()}
        gains.append((mode, [gain, *(f"{spent['anew'] / spent[way]:.1f} times" for way in ("raw", "own"))]))
    note = "Raw samples from the sets' own topologies; our default takes fewer steps and corrects."
    return [
        Grid("Partial diffusion, 16 nodes", ["way", *labels(METRICS)], rows, note),
        Grid(
            "More links kept than anew, and faster (paper: 3.3 to 5 times)",
            ["mode", "continuity over anew", "faster", "faster, by default"],
            gains,
        ),
    ]


def _gain(one: Rows, other: Rows) -> tuple[float, float, float]:
    """How much more continuity, as a share of the other's, with its interval."""
    mean, low, high = bootstrap(one.values("continuity"), other.values("continuity")[0])
    return mean - 1, low - 1, high - 1


def steps(setting: Setting) -> list[Grid]:
    """What more steps are worth after each movement."""
    made = step_rows(setting)
    columns = ["movement", *(f"{count} steps" for count in STEPS)]
    return [
        Grid(
            f"{MEASURES[metric].label} by movement and steps",
            columns,
            [(f"{movement:g}", [one.cell(metric) for one in row.values()]) for movement, row in made.items()],
        )
        for metric in ("ratio", "continuity")
    ]
