"""The paper's figures, as it prints them."""

from __future__ import annotations

import pytest

from manetdiff.measure.measures import MEASURES
from manetdiff.reproduce import paper, partial


def test_figures_are_those_of_the_paper() -> None:
    """Copied by hand from its tables and its text."""
    netdiff, features = paper.PROPERTIES["NetDiff (ACAM)"], paper.PROPERTIES["DDPM-GT with features"]
    assert netdiff == {"links": 22.42, "mean_length": 0.94, "link_throughput": 3.52, "antenna_saturation": 0.121}
    assert features == {"links": 22.96, "mean_length": 0.99, "link_throughput": 3.35, "antenna_saturation": 0.136}
    assert paper.PROPERTIES["GraphVAE"]["links"] == 75.9
    assert paper.PROPERTIES["GT-VAE"]["antenna_saturation"] == 0.314
    assert paper.PROPERTIES["DDPM-GT"]["link_throughput"] == 3.18
    assert paper.PROPERTIES["NetDiff (CAM)"]["mean_length"] == 0.97
    assert paper.PROPERTIES["target"]["antenna_saturation"] == 0.097
    assert list(paper.THROUGHPUT[16].values()) == [47.24, 52.89, 63.46, 75.43, 78.92, 79.33]
    assert list(paper.THROUGHPUT[32].values()) == [71.63, 153.54, 204.78, 258.90, 322.40, 340.52]
    assert list(paper.THROUGHPUT[16]) == ["omni", "Huang", "MST+greedy", "DDPM-GT", "NetDiff", "target"]
    assert list(paper.THROUGHPUT[32]) == list(paper.THROUGHPUT[16])
    assert paper.CONSTRAINTS == {
        "DDPM-GT with features": {"connected": 0.985, "node_saturation": 0.1162, "parity": 0.9859},
        "NetDiff (CAM)": {"connected": 0.9868, "node_saturation": 0.0798, "parity": 0.9863},
        "NetDiff (ACAM)": {"connected": 0.9868, "node_saturation": 0.0705, "parity": 0.9864},
    }
    assert paper.LOSSES["cross-entropy alone"] == {"node_saturation": 0.159, "parity": 0.6223}
    # Its own model is the same one in both tables.
    assert paper.LOSSES["with the penalties"].items() <= paper.CONSTRAINTS["NetDiff (ACAM)"].items()
    assert paper.TOKENS_GAIN == 0.008
    mixed, target = paper.THIRTY_TWO["NetDiff (60/40 mix)"], paper.THIRTY_TWO["target"]
    assert [mixed[name] for name in ("connected", "node_saturation", "parity")] == [0.9878, 0.1408, 0.9718]
    assert [mixed[name] for name in ("links", "mean_length", "link_throughput")] == [54.64, 0.77, 5.9]
    assert mixed["antenna_saturation"] == 0.144
    assert list(target.values()) == [48.22, 0.7, 6.26, 0.0991]
    standard, minor = paper.PARTIAL["standard"], paper.PARTIAL["minor"]
    assert [standard["links"], standard["antenna_saturation"], standard["continuity"]] == [22.79, 0.132, 0.3322]
    assert [minor["links"], minor["antenna_saturation"], minor["continuity"]] == [22.4, 0.1279, 0.3874]
    assert [standard[name] for name in ("connected", "node_saturation", "parity")] == [0.9883, 0.079, 0.9853]
    assert [minor[name] for name in ("connected", "node_saturation", "parity")] == [0.9887, 0.0712, 0.9866]
    assert paper.CONTINUITY_GAIN == {"standard": 0.21, "minor": 0.41}
    assert (paper.FULL_PASS_MS, paper.CORRECTION_MS) == ({"CPU": 2000.0, "GPU": 450.0}, 100.0)
    assert partial.CASES == (("standard", 0.3, 15), ("minor", 0.1, 10))


@pytest.mark.parametrize(
    "printed", [paper.PROPERTIES, paper.CONSTRAINTS, paper.LOSSES, paper.THIRTY_TWO, paper.PARTIAL]
)
def test_figures_have_the_units_of_our_measures(printed: dict[str, paper.Figures]) -> None:
    for one in printed.values():
        assert all(0 < value < 1 for name, value in one.items() if MEASURES[name].percent)
