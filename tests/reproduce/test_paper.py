"""The paper's figures, as it prints them."""

from __future__ import annotations

import pytest

from manetdiff.measure.measures import MEASURES
from manetdiff.reproduce import paper, partial


@pytest.mark.parametrize(
    ("printed", "label", "figures"),
    [
        (paper.PROPERTIES, "GraphVAE", [75.9, 1.51, 0.48, 0.9]),
        (paper.PROPERTIES, "GT-VAE", [28.1, 1.17, 2.06, 0.314]),
        (paper.PROPERTIES, "DDPM-GT", [23.72, 1.05, 3.18, 0.176]),
        (paper.PROPERTIES, "DDPM-GT with features", [22.96, 0.99, 3.35, 0.136]),
        (paper.PROPERTIES, "NetDiff (CAM)", [23.08, 0.97, 3.4, 0.129]),
        (paper.PROPERTIES, "NetDiff (ACAM)", [22.42, 0.94, 3.52, 0.121]),
        (paper.PROPERTIES, "target", [21.95, 0.85, 3.62, 0.097]),
        (paper.THROUGHPUT, 16, [47.24, 52.89, 63.46, 75.43, 78.92, 79.33]),
        (paper.THROUGHPUT, 32, [71.63, 153.54, 204.78, 258.90, 322.40, 340.52]),
        (paper.CONSTRAINTS, "DDPM-GT with features", [0.985, 0.1162, 0.9859]),
        (paper.CONSTRAINTS, "NetDiff (CAM)", [0.9868, 0.0798, 0.9863]),
        (paper.CONSTRAINTS, "NetDiff (ACAM)", [0.9868, 0.0705, 0.9864]),
        (paper.LOSSES, "cross-entropy alone", [0.159, 0.6223]),
        (paper.THIRTY_TWO, "NetDiff (60/40 mix)", [54.64, 0.77, 5.9, 0.144, 0.9878, 0.1408, 0.9718]),
        (paper.THIRTY_TWO, "target", [48.22, 0.7, 6.26, 0.0991]),
        (paper.PARTIAL, "standard", [22.79, 0.98, 3.45, 0.132, 0.3322, 0.9883, 0.079, 0.9853]),
        (paper.PARTIAL, "minor", [22.4, 0.92, 3.54, 0.1279, 0.3874, 0.9887, 0.0712, 0.9866]),
    ],
)
def test_figures_are_those_of_the_paper_in_the_units_of_our_measures(
    printed: dict[str | int, paper.Figures], label: str | int, figures: list[float]
) -> None:
    """Copied by hand from its tables."""
    row = printed[label]
    assert list(row.values()) == figures
    shape, kept = ["links", "mean_length", "link_throughput", "antenna_saturation"], ["connected", "node_saturation"]
    names = {2: ["node_saturation", "parity"], 3: [*kept, "parity"]}
    names |= {4: shape, 7: [*shape, *kept, "parity"], 8: [*shape, "continuity", *kept, "parity"]}
    assert list(row) == names.get(len(row), ["omni", "Huang", "MST+greedy", "DDPM-GT", "NetDiff", "target"])
    assert all(0 < value < 1 for name, value in row.items() if name in MEASURES and MEASURES[name].percent)


def test_figures_of_its_text_and_of_one_model_in_two_tables() -> None:
    assert paper.LOSSES["with the penalties"].items() <= paper.CONSTRAINTS["NetDiff (ACAM)"].items()
    assert (paper.TOKENS_GAIN, paper.CONTINUITY_GAIN) == (0.008, {"standard": 0.21, "minor": 0.41})
    assert (paper.FULL_PASS_MS, paper.CORRECTION_MS) == ({"CPU": 2000.0, "GPU": 450.0}, 100.0)
    assert partial.CASES == (("standard", 0.3, 15), ("minor", 0.1, 10))
