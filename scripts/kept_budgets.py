"""How well time budgets are kept: fleets of several sizes under cones and under steered beams, on one core.

    python scripts/kept_budgets.py --nodes 16 64 256 1000 --fleets 100

A budget is so many milliseconds for 16 nodes, and as many times more as a fleet is larger; so many fleets are of 16
nodes, and as many times fewer as they are larger, but at least FEWEST.
"""

from __future__ import annotations

import argparse
import collections
import time

import numpy as np

import manetdiff as md
from manetdiff.layout import Layout
from manetdiff.scenarios import draw

RADIOS = {"cones": md.Radio(), "steered": md.Radio(pattern="parabolic")}
FEWEST = 6
PROMISED = 1.2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[16, 64, 256, 1000])
    parser.add_argument("--fleets", type=int, default=100)
    parser.add_argument("--budgets-ms", type=float, nargs="+", default=[5, 10, 20, 50])
    parser.add_argument("--assumed", action="store_true", help="plan with the costs of a machine nobody has measured")
    asked = parser.parse_args()
    model = md.load()
    began = time.perf_counter()
    model.calibrate()
    print(f"calibrated, or remembered, in {time.perf_counter() - began:.2f} s")
    if asked.assumed:
        model._calibration = None
    for n in asked.nodes:
        drawn = [draw("mixed", n, np.random.default_rng(k)) for k in range(max(FEWEST, asked.fleets * 16 // n))]
        for name, radio in RADIOS.items():
            for budget in asked.budgets_ms:
                told(model, [Layout(fleet, radio) for fleet in drawn], budget * n / 16, f"{n} nodes, {name}")


def told(model: md.Model, layouts: list[Layout], budget_ms: float, what: str) -> None:
    """Print what came of a budget on these layouts, of which nothing is computed yet."""
    spent, made = [], collections.Counter[str | None]()
    for layout in layouts:
        began = time.perf_counter()
        report = model.generate(layout, budget_ms=budget_ms).report
        spent.append(1e3 * (time.perf_counter() - began))
        made[report.preset or report.method] += 1
    kept, promised = (np.mean([ms <= most * budget_ms for ms in spent]) for most in (1.0, PROMISED))
    ways = ", ".join(f"{count} {name}" for name, count in made.most_common())
    print(
        f"{what}, {budget_ms:g} ms: kept {kept:.0%}, within {PROMISED} times {promised:.0%}; median "
        f"{np.median(spent):.1f}, longest {max(spent):.1f} ms; by {ways}",
        flush=True,
    )


if __name__ == "__main__":
    main()
