"""What updates are worth under five radios: 16 fleets of 20 nodes, unmoved and after four movements.

Beside each update: the old links untouched, and the old links corrected and polished in the time that the update took.
T is over that of a search for the moved fleet; 'harmed' counts updates with less T and fewer kept links than those.

    python scripts/updates_by_radio.py
"""

from __future__ import annotations

import time

import numpy as np

import manetdiff as md
from manetdiff.scenarios import draw, move_by

FLEETS, NODES, MOVES = 16, 20, 20_000
MOVEMENTS = (0.0, 0.05, 0.1, 0.2, 0.5)
RADIOS = {
    "default": md.Radio(),
    "wider cone, less noise": md.Radio(sigma2=0.1, theta_max=0.6, range=2.0),
    "5 GHz, 20 MHz, 2 W, 18 dBi": md.Radio.from_link_budget(5e9, 20e6, 2.0, 18.0, 5.0),
    "2.4 GHz, 10 MHz, 5 W, 12 dBi": md.Radio.from_link_budget(2.4e9, 10e6, 5.0, 12.0, 5.0),
    "0.9 GHz, 5 MHz, 1 W, 6 dBi": md.Radio.from_link_budget(0.9e9, 5e6, 1.0, 6.0, 6.0),
}
ROUNDING = 1e-9


def main() -> None:
    model = md.load(threads=1)
    model.calibrate()
    for name, radio in RADIOS.items():
        for movement in MOVEMENTS:
            rows = np.array([row(model, radio, movement, seed) for seed in range(FLEETS)])
            updated, kept, untouched, polished, also_kept, harmed = rows.mean(axis=0)
            print(
                f"{name}, moved {movement:g}: update T {updated:.1%}, kept {kept:.1%}; untouched T {untouched:.1%}; "
                f"corrected and polished T {polished:.1%}, kept {also_kept:.1%}; harmed {round(FLEETS * harmed)} of "
                f"{FLEETS}",
                flush=True,
            )


def row(model: md.Model, radio: md.Radio, movement: float, seed: int) -> tuple[float, ...]:
    fleet = draw("mixed", NODES, np.random.default_rng(seed))
    old = md.solve(fleet, radio, moves=MOVES, seed=seed)
    moved = move_by(fleet, movement, np.random.default_rng(seed)) if movement else fleet
    target = md.metrics(md.solve(moved, radio, moves=MOVES, seed=seed))["throughput"]
    began = time.perf_counter()
    new = model.update(old, moved, seed=seed)
    seconds = time.perf_counter() - began
    other = md.polish(md.correct(old, moved, radio), budget=seconds, seed=seed)
    here, there = (md.metrics(one, moved, radio)["throughput"] for one in (new, other))
    links, others = md.kept(old, new), md.kept(old, other)
    harmed = here < there - ROUNDING and links < others - ROUNDING
    untouched = md.metrics(old, moved, radio)["throughput"]
    return here / target, links, untouched / target, there / target, others, harmed


if __name__ == "__main__":
    main()
