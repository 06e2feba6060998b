"""What the tokens are worth: is it our data, our budget, our sampling, or the claim?"""

from __future__ import annotations

from typing import Any

from manetdiff.reproduce.networks import PLAIN_SAMPLING, Network, samples_of
from manetdiff.reproduce.tables import Grid, Setting

METRICS = ("ratio", "node_saturation", "connected", "parity", "valid")
MODULATIONS = {
    "no modulation": "none",
    "statistics (DDPM-GT)": "ddpm-gt",
    "CAM tokens": "cam",
    "ACAM tokens": "acam",
}


def modulation(setting: Setting) -> list[Grid]:
    """Four modulations, trained and sampled in five ways."""
    layouts = setting.layouts(16)

    def table(title: str, ending: str = "", note: str = "", **sampling: Any) -> Grid:
        rows = {
            label: samples_of(setting, Network(f"{variant}{ending}"), layouts, **sampling)
            for label, variant in MODULATIONS.items()
        }
        return Grid.of(title, "modulation", METRICS, rows, note=note)

    pooled = "Three training seeds pooled (a quick run: one), as below unless said otherwise."
    sampled = "Temperature 1 instead of 0.5, and the last step drawn instead of decided."
    without = "No angles, distances, sectors or antenna occupation for any of them."
    return [
        table("As trained and sampled here", note=pooled),
        table("Sampled as in the paper", note=sampled, **PLAIN_SAMPLING),
        table("After a sixth of the training", "-brief", note="834 steps instead of 5,004."),
        table("Without the domain features", "-plain", note=without),
        table("Larger networks", "-wide", note="Width 48 and 6 blocks instead of 32 and 5."),
    ]
