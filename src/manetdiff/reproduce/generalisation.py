"""What the paper does not show: other families, sizes and radios, and positions that are not quite right."""

from __future__ import annotations

import numpy as np

from manetdiff.measure.drawn import drawn_set
from manetdiff.measure.measures import labels
from manetdiff.measure.ways.runtime import generated
from manetdiff.radio import Radio
from manetdiff.reproduce.networks import raw_samples
from manetdiff.reproduce.tables import Grid, PaperTable, Setting
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
        some = layouts.of_family(family)
        if len(some) == 0:  # of very few layouts
            continue
        made = [raw_samples(setting, name, some) for name in ("acam-123", "left-out-123")]
        label = f"{family} (left out)" if family in LEFT_OUT else family
        rows.append((label, [cell for one in made for cell in one.cells(("ratio", "valid"))]))
    note = f"The second model never saw {' or '.join(LEFT_OUT)}; both are NetDiff (ACAM) with the same budget."
    return [Grid("By family, raw samples, 16 nodes", columns, rows, note)]


def _sizes(setting: Setting) -> list[Grid]:
    rows = []
    for nodes in SIZES:
        layouts = drawn_set(nodes, 2 if setting.quick else 33)
        raw, made = raw_samples(setting, "netdiff", layouts), generated(setting.store, layouts, preset="balanced")
        rows.append((f"{nodes}", [*raw.cells(METRICS), *made.cells(("ratio", "valid"))]))
    columns = ["nodes", *labels(METRICS), "T / target, preset balanced", "valid, preset balanced"]
    note = "Trained on 16 and 32 nodes. The target is a reference search of 1,500 moves a node."
    return [Grid("By fleet size, raw samples of the default", columns, rows, note)]


def _radios(setting: Setting) -> list[Grid]:
    rows = []
    for label, radio in RADIOS.items():
        layouts = drawn_set(16, 4 if setting.quick else 110, radio)
        rows.append((label, raw_samples(setting, "netdiff", layouts, radio=radio).cells(METRICS)))
    note = "The network reads rates and spilled power as features, but was trained for one radio."
    return [Grid("By radio, raw samples of the default, 16 nodes", ["radio", *labels(METRICS)], rows, note)]


def _noise(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16, most=220)
    made = {noise: generated(setting.store, layouts, noise=noise, preset="balanced") for noise in POSITION_NOISE}
    rows = [(f"{noise:g}", one.cells(METRICS)) for noise, one in made.items()]
    note = "Generated for blurred positions, scored at the true ones; noise in units of the fleet's spread."
    return [Grid("Noise on positions, preset balanced, 16 nodes", ["noise", *labels(METRICS)], rows, note)]


GENERALISATION_TABLES = (
    PaperTable("families", "By scenario family, and two families left out", "Not in the paper.", _families),
    PaperTable("sizes", "From 8 to 64 nodes", "Not in the paper, which has 16 and 32.", _sizes),
    PaperTable("radios", "Other radios", "Not in the paper.", _radios),
    PaperTable("noise", "Noise on positions", "Not in the paper.", _noise),
)
