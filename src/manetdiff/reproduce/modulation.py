"""What the tokens are worth: is it our data, our budget, our sampling, or the claim?"""

from __future__ import annotations

from typing import Any

from manetdiff.measure.measures import labels
from manetdiff.reproduce.networks import PLAIN_SAMPLING, SEEDS, Network, samples_of
from manetdiff.reproduce.tables import Grid, PaperTable, Setting

METRICS = ("ratio", "node_saturation", "connected", "parity", "valid")
MODULATIONS = {
    "no modulation": "none",
    "statistics (DDPM-GT)": "ddpm-gt",
    "CAM tokens": "cam",
    "ACAM tokens": "acam",
}
ONE_SEED = SEEDS[:1]


def _modulation(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)

    def table(title: str, ending: str = "", seeds: tuple[int, ...] = SEEDS, note: str = "", **sampling: Any) -> Grid:
        rows = [
            (label, samples_of(setting, Network(f"{variant}{ending}", seeds), layouts, **sampling).cells(METRICS))
            for label, variant in MODULATIONS.items()
        ]
        return Grid(title, ["modulation", *labels(METRICS)], rows, note)

    return [
        table(
            "As trained and sampled here",
            note="Three training seeds pooled (a quick run: one), as below unless said otherwise.",
        ),
        table(
            "Sampled as in the paper",
            note="Temperature 1 instead of 0.5, and the last step drawn instead of decided.",
            **PLAIN_SAMPLING,
        ),
        table("After a sixth of the training", "-brief", note="834 steps instead of 5,004."),
        table(
            "Without the domain features",
            "-plain",
            note="No angles, distances, sectors or antenna occupation for any of them.",
        ),
        table("Larger networks", "-wide", ONE_SEED, "Width 48 and 6 blocks instead of 32 and 5; one seed."),
    ]


MODULATION_TABLES = (
    PaperTable(
        "modulation",
        "What the tokens are worth",
        "The paper: CAM and ACAM tokens keep more constraints than statistics, the more so the larger the network.",
        _modulation,
    ),
)
