"""The paper's figures, drawn again: a denoising, two reconfigurations, and the ACAM block as the code has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from manetdiff.formats.files import write_bytes
from manetdiff.measure.sets import benchmark_set
from manetdiff.pictures import save
from manetdiff.reproduce.figures.acam import packaged_block, picture_of_block
from manetdiff.reproduce.figures.denoising import animation, denoised, picture_of_steps
from manetdiff.reproduce.figures.reconfiguration import CASES, picture_of_change, typical
from manetdiff.runtime.model import load
from manetdiff.weights import PAPER

# A layout that shows well, chosen by its shape alone: roughly square, and the nodes well apart.
DENOISED = 17
# Layouts of which the typical one is shown after its movement: a few of every family.
MOVED = 33
QUICK_MOVED = 7
SEED = 0
STEPS = 50


def draw_figures(folder: Path, quick: bool, report: Callable[[str], None] = lambda what: None) -> dict[str, Path]:
    """Write all figures into a folder; their paths by name. quick: an animation of every fifth step only, and fewer
    movements of which the typical one is shown."""
    folder.mkdir(parents=True, exist_ok=True)
    layouts = benchmark_set("bench16")
    paths = {}

    def path_of(name: str) -> Path:
        report(name)
        paths[name] = folder / name
        return paths[name]

    model = load(PAPER)
    fleet = layouts.layout(DENOISED).fleet
    states = denoised(fleet, STEPS, SEED)
    save(picture_of_steps(states), path_of("denoising.png"))
    write_bytes(path_of("denoising.gif"), animation(states, every=5 if quick else 1))

    some = list(layouts.first(QUICK_MOVED if quick else MOVED))
    for case in CASES:
        path = path_of(f"reconfiguration-{case[0]}.png")
        save(picture_of_change(typical(model, some, case, SEED)), path)

    save(picture_of_block(packaged_block()), path_of("acam.png"))
    return paths
