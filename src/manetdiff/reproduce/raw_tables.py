"""The tables on raw samples: properties, constraints, losses, tokens, and 32 nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manetdiff.measure.rows import TARGET, Rows, targets
from manetdiff.measure.sets import LayoutSet
from manetdiff.reproduce import paper
from manetdiff.reproduce.networks import NETWORKS, PLAIN_SAMPLING, raw_samples, samples_of
from manetdiff.reproduce.tables import Grid, Setting
from manetdiff.weights import PAPER

SHAPE = ("links", "mean_length", "link_throughput", "antenna_saturation")
KEPT = ("connected", "node_saturation", "parity")
SEEDS_NOTE = "Three seeds of each diffusion model pooled (a quick run: one), one of each VAE and of the shipped one."


def properties(setting: Setting) -> list[Grid]:
    """From GraphVAE to NetDiff."""
    layouts = setting.layouts(16)
    rows = {label: samples_of(setting, network, layouts) for label, network in NETWORKS.items()}
    rows |= _shipped_and_target(setting, layouts)
    title, metrics = "Properties of raw samples, 16 nodes", (*SHAPE, "ratio")
    return [Grid.of(title, "model", metrics, rows, paper.PROPERTIES, SEEDS_NOTE)]


def constraints(setting: Setting) -> list[Grid]:
    """Statistics, CAM and ACAM tokens."""
    layouts = setting.layouts(16)
    rows = {label: samples_of(setting, NETWORKS[label], layouts) for label in paper.CONSTRAINTS}
    rows |= _shipped_and_target(setting, layouts)
    title, metrics = "Constraints kept by raw samples, 16 nodes", (*KEPT, "valid")
    return [Grid.of(title, "model", metrics, rows, paper.CONSTRAINTS, SEEDS_NOTE)]


def losses(setting: Setting) -> list[Grid]:
    """Cross-entropy alone, and with the penalties."""
    layouts = setting.layouts(16)
    metrics = ("node_saturation", "parity", "connected", "valid", "ratio")
    both = {"cross-entropy alone": "cross-entropy-123", "with the penalties": "acam-123"}
    brief = {"cross-entropy alone": "cross-entropy-brief-123", "with the penalties": "acam-brief-123"}

    def table(title: str, names: Mapping[str, str], beside: Mapping[str, paper.Figures], **sampling: Any) -> Grid:
        return Grid.of(title, "trained with", metrics, _named(setting, layouts, names, **sampling), beside)

    return [
        table("The loss, 16 nodes", both, paper.LOSSES),
        table("The same, sampled as in the paper", both, {}, **PLAIN_SAMPLING),
        table("The same after a sixth of the training", brief, {}),
    ]


def tokens(setting: Setting) -> list[Grid]:
    """From no token to sixteen."""
    layouts = setting.layouts(16)
    metrics = ("antenna_saturation", "node_saturation", "connected", "parity", "ratio")
    names = {"none": "none-123", "1": "one-token-123"}
    names |= {f"{count}": f"tokens-{count}-123" for count in (2, 4, 8)} | {"16": "acam-123"}
    brief = {"none": "none-brief-123", "1": "one-token-brief-123", "16": "acam-brief-123"}
    note = "The paper's text: 16 tokens instead of 1 reduce the saturation metrics by about 0.8 points. One seed each."
    return [
        Grid.of(title, "tokens", metrics, _named(setting, layouts, chosen), note=note)
        for title, chosen in (("ACAM tokens, 16 nodes", names), ("The same after a sixth of the training", brief))
    ]


def thirty_two(setting: Setting) -> list[Grid]:
    """Trained on both sizes, and on 16 nodes alone, at both."""
    metrics = (*SHAPE, *KEPT, "ratio")
    both = {"NetDiff (60/40 mix)": "acam-mixed-123", "NetDiff (ACAM), 16 nodes only": "acam-123"}
    larger, smaller = setting.layouts(32), setting.layouts(16)
    rows = _named(setting, larger, both) | _shipped_and_target(setting, larger)
    return [
        Grid.of("32 nodes, raw samples", "model", metrics, rows, paper.THIRTY_TWO),
        Grid.of("The same models at 16 nodes", "model", metrics, _named(setting, smaller, both)),
    ]


def _named(setting: Setting, layouts: LayoutSet, names: Mapping[str, str], **how: Any) -> dict[str, Rows]:
    """Raw samples by label. names: of the weights."""
    return {label: raw_samples(setting, name, layouts, **how) for label, name in names.items()}


def _shipped_and_target(setting: Setting, layouts: LayoutSet) -> dict[str, Rows]:
    """The last two rows of a table."""
    return {"NetDiff (as shipped)": raw_samples(setting, PAPER, layouts), TARGET: targets(layouts)}
