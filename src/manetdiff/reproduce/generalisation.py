"""What the paper does not show: other families, sizes and radios, and positions that are not quite right."""

from __future__ import annotations

import numpy as np

from manetdiff.measure.drawn import drawn_set
from manetdiff.measure.measures import labels
from manetdiff.measure.ways.runtime import generated
from manetdiff.radio import Radio
from manetdiff.reproduce.networks import raw_samples
from manetdiff.reproduce.tables import Grid, Setting
from manetdiff.scenarios import FAMILIES
from manetdiff.weights import PAPER

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


def families(setting: Setting) -> list[Grid]:
    """A model that has seen all of them beside one that has not."""
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


def sizes(setting: Setting) -> list[Grid]:
    """Sizes that were trained on, and others."""
    rows = []
    for nodes in SIZES:
        layouts = drawn_set(nodes, 2 if setting.quick else 33)
        raw = raw_samples(setting, PAPER, layouts)
        made = generated(setting.store, layouts, weights=PAPER, preset="balanced")
        rows.append((f"{nodes}", [*raw.cells(METRICS), *made.cells(("ratio", "valid"))]))
    columns = ["nodes", *labels(METRICS), "T / target, preset balanced", "valid, preset balanced"]
    note = "Trained on 16 and 32 nodes. The target is a reference search of 1,500 moves a node."
    return [Grid("By fleet size, raw samples of the paper's network", columns, rows, note)]


def radios(setting: Setting) -> list[Grid]:
    """The target is each radio's own."""
    count = 4 if setting.quick else 110
    rows = {
        label: raw_samples(setting, PAPER, drawn_set(16, count, radio), radio=radio) for label, radio in RADIOS.items()
    }
    note = "The network reads rates and spilled power as features, but was trained for one radio."
    return [Grid.of("By radio, raw samples of the paper's network, 16 nodes", "radio", METRICS, rows, note=note)]


def noise(setting: Setting) -> list[Grid]:
    """The model is given positions that are off, and may know by how much."""
    layouts = setting.layouts(16, most=220)
    rows = {
        f"{off:g}{', and says so' if said else ''}": generated(
            setting.store, layouts, noise=off, said_noise=said, preset="balanced"
        )
        for off in POSITION_NOISE
        for said in ((False, True) if off else (False,))
    }
    note = (
        "Generated for blurred positions, scored at the true ones; noise in units of the fleet's spread. 'Says so': by "
        "`uncertainty=`, so that links are chosen that hold wherever the nodes are."
    )
    return [Grid.of("Noise on positions, preset balanced, 16 nodes", "noise", METRICS, rows, note=note)]
