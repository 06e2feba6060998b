"""How well time budgets are kept: 300 fleets of 8 to 64 nodes, each under budgets of 5, 10, 20 and 50 ms, on one core.

python scripts/kept_budgets.py [fleets]
"""

from __future__ import annotations

import collections
import sys
import time

import numpy as np

import manetdiff as md
from manetdiff.scenarios import draw

BUDGETS_MS = (5, 10, 20, 50)
PASSES = 2
PROMISED = 1.2


def main(fleets: int) -> None:
    sizes = np.random.default_rng(0).integers(8, 65, fleets)
    drawn = [draw("mixed", int(n), np.random.default_rng(k)) for k, n in enumerate(sizes)]
    model = md.load(threads=1)
    began = time.perf_counter()
    model.calibrate()
    print(f"calibrated, or remembered, in {time.perf_counter() - began:.2f} s")
    for budget in BUDGETS_MS:
        for number in range(PASSES):
            spent, made = [], collections.Counter[str | None]()
            for fleet in drawn:
                again = fleet.replace()  # nothing that was computed for it before
                began = time.perf_counter()
                report = model.generate(again, budget_ms=budget).report
                spent.append(1e3 * (time.perf_counter() - began))
                made[report.preset or report.method] += 1
            middle, most = np.percentile(spent, (50, 99))
            late = sum(ms > PROMISED * budget for ms in spent)
            ways = ", ".join(f"{count} {name}" for name, count in made.most_common())
            print(
                f"{budget} ms, pass {number + 1}: p50 {middle:.1f}, p99 {most:.1f}, longest {max(spent):.1f} ms; "
                f"{late} beyond {PROMISED} times the budget; by {ways}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
