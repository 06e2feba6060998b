"""What the paper does not show: other families, sizes and radios, and positions that are not quite right."""

from __future__ import annotations

import numpy as np

from manetdiff.fleet import Fleet
from manetdiff.radio import Radio
from manetdiff.reproduce.drawn import DrawnLayouts
from manetdiff.reproduce.measured import sampled, timed
from manetdiff.reproduce.raw_samples import cells, labels
from manetdiff.reproduce.study import Grid, Setting, Study
from manetdiff.runtime.model import load
from manetdiff.scenarios import FAMILIES

METRICS = ("ratio", "connected", "parity", "antenna_saturation", "valid")
LEFT_OUT = ("escort", "crossing")
SIZES = (8, 12, 16, 24, 32, 48, 64)
RADIOS = {
    "as trained": Radio(),
    "half the noise (σ² = 0.225)": Radio(sigma2=0.225),
    "twice the noise (σ² = 0.9)": Radio(sigma2=0.9),
    "narrow beams (θ_max = π/16)": Radio(theta_max=np.pi / 16),
    "wide beams (θ_max = π/4)": Radio(theta_max=np.pi / 4),
    "constant power (α = 0)": Radio(alpha=0.0),
    "full compensation (α = 1)": Radio(alpha=1.0),
}
# Of the fleet's spread.
POSITION_NOISE = (0.0, 0.01, 0.03, 0.1, 0.3)


def _families(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    columns = [
        "family",
        *(f"{label}, {name}" for name in ("all families seen", "two left out") for label in ("T / target", "valid")),
    ]
    rows = []
    for family in FAMILIES:
        some = [layout for layout in layouts if layout.family == family]
        if not some:  # of very few layouts
            continue
        row = []
        for name in ("acam-123", "left-out-123"):
            made = sampled(setting, name, some, tag=family)
            row += cells(made, ("ratio", "valid"))
        rows.append((f"{family} (left out)" if family in LEFT_OUT else family, row))
    note = f"The second model never saw {' or '.join(LEFT_OUT)}; both are NetDiff (ACAM) with the same budget."
    return [Grid("By family, raw samples, 16 nodes", columns, rows, note)]


def _sizes(setting: Setting) -> list[Grid]:
    count = 2 if setting.quick else 33
    rows = []
    for nodes in SIZES:
        layouts = DrawnLayouts(nodes, count, Radio())
        raw = sampled(setting, "netdiff", layouts, tag="drawn")
        model = load(threads=1)
        made = timed(
            setting,
            {"model": "netdiff, preset balanced", "set": f"{count} drawn layouts of {nodes} nodes"},
            layouts,
            lambda fleet, index, model=model: model.generate(fleet, seed=index),  # type: ignore[misc]
        )
        rows.append((f"{nodes}", [*cells(raw, METRICS), made.cell("ratio"), made.cell("valid")]))
    columns = ["nodes", *labels(METRICS), "T / target, preset balanced", "valid, preset balanced"]
    note = "Trained on 16 and 32 nodes. The target is a reference search of 1,500 moves a node."
    return [Grid("By fleet size, raw samples of the default", columns, rows, note)]


def _radios(setting: Setting) -> list[Grid]:
    count = 4 if setting.quick else 110
    rows = []
    for label, radio in RADIOS.items():
        layouts = DrawnLayouts(16, count, radio)
        rows.append((label, cells(sampled(setting, "netdiff", layouts, radio=radio, tag=f"drawn, {label}"), METRICS)))
    note = "The network reads rates and spilled power as features, but was trained for one radio."
    return [Grid("By radio, raw samples of the default, 16 nodes", ["radio", *labels(METRICS)], rows, note)]


def _noise(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16, most=220)
    model = load(threads=1)
    rows = []
    for noise in POSITION_NOISE:
        made = timed(
            setting,
            {"model": "netdiff, preset balanced", "set": f"{len(layouts)} layouts", "noise": noise},
            layouts,
            lambda fleet, index, noise=noise: model.generate(_blurred(fleet, noise, index), seed=index),  # type: ignore[misc]
        )
        rows.append((f"{noise:g}", cells(made, METRICS)))
    note = "Generated for blurred positions, scored at the true ones; noise in units of the fleet's spread."
    return [Grid("Noise on positions, preset balanced, 16 nodes", ["noise", *labels(METRICS)], rows, note)]


def _blurred(fleet: Fleet, noise: float, seed: int) -> Fleet:
    moved = np.random.default_rng(seed).normal(scale=fleet.spread, size=fleet.positions.shape)
    return fleet.replace(positions=fleet.positions + noise * moved)


GENERALISATION_STUDIES = (
    Study("families", "By scenario family, and two families left out", "Not in the paper.", _families),
    Study("sizes", "From 8 to 64 nodes", "Not in the paper, which has 16 and 32.", _sizes),
    Study("radios", "Other radios", "Not in the paper.", _radios),
    Study("noise", "Noise on positions", "Not in the paper.", _noise),
)
