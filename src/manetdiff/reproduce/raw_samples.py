"""The tables on raw samples: properties, constraints, losses, tokens, and 32 nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from manetdiff.reproduce import paper
from manetdiff.reproduce.cells import MEASURES, Cell
from manetdiff.reproduce.measured import sampled, targets
from manetdiff.reproduce.rows import Rows
from manetdiff.reproduce.study import Grid, Setting, Study

SHAPE = ("links", "mean_length", "link_throughput", "antenna_saturation")
KEPT = ("connected", "node_saturation", "parity")
# One seed of each, as in the paper; the spread over three seeds is in the table of ablations.
NETWORKS = {
    "GraphVAE": "graph-vae-123",
    "GT-VAE": "gt-vae-123",
    "DDPM-GT": "ddpm-gt-plain-123",
    "DDPM-GT with features": "ddpm-gt-123",
    "NetDiff (CAM)": "cam-123",
    "NetDiff (ACAM)": "acam-123",
}
SHIPPED = "NetDiff (as shipped)"


def cells(rows: Rows, metrics: Sequence[str], figures: Mapping[str, float] | None = None) -> list[Cell]:
    """A cell for each metric, beside the paper's figure where it has one."""
    return [rows.cell(metric, (figures or {}).get(metric)) for metric in metrics]


def labels(metrics: Sequence[str]) -> list[str]:
    """Column names."""
    return [MEASURES[metric].label for metric in metrics]


def _properties(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    metrics = (*SHAPE, "ratio")
    rows = [
        (label, cells(sampled(setting, name, layouts), metrics, paper.PROPERTIES[label]))
        for label, name in NETWORKS.items()
    ]
    rows.append((SHIPPED, cells(sampled(setting, "netdiff", layouts), metrics)))
    rows.append(("target", cells(targets(layouts), metrics, paper.PROPERTIES["target"])))
    return [Grid("Properties of raw samples, 16 nodes", ["model", *labels(metrics)], rows)]


def _constraints(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    metrics = (*KEPT, "valid")
    rows = [
        (label, cells(sampled(setting, NETWORKS[label], layouts), metrics, paper.CONSTRAINTS[label]))
        for label in paper.CONSTRAINTS
    ]
    rows.append((SHIPPED, cells(sampled(setting, "netdiff", layouts), metrics)))
    rows.append(("target", cells(targets(layouts), metrics)))
    return [Grid("Constraints kept by raw samples, 16 nodes", ["model", *labels(metrics)], rows)]


def _losses(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    metrics = ("node_saturation", "parity", "connected", "valid", "ratio")
    names = {"cross-entropy alone": "cross-entropy-123", "with the penalties": "acam-123"}
    rows = [
        (label, cells(sampled(setting, name, layouts), metrics, paper.LOSSES[label])) for label, name in names.items()
    ]
    return [Grid("The loss, 16 nodes", ["trained with", *labels(metrics)], rows)]


def _tokens(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    metrics = ("antenna_saturation", "node_saturation", "connected", "parity", "ratio")
    names = {1: "one-token-123", 2: "tokens-2-123", 4: "tokens-4-123", 8: "tokens-8-123", 16: "acam-123"}
    rows = [("none", cells(sampled(setting, "none-123", layouts), metrics))]
    rows += [(f"{count}", cells(sampled(setting, name, layouts), metrics)) for count, name in names.items()]
    note = "The paper's text: 16 tokens instead of 1 reduce the saturation metrics by about 0.8 points."
    return [Grid("ACAM tokens, 16 nodes", ["tokens", *labels(metrics)], rows, note)]


def _thirty_two(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(32)
    metrics = (*SHAPE, *KEPT, "ratio")
    label = "NetDiff (60/40 mix)"
    rows = [(label, cells(sampled(setting, "acam-mixed-123", layouts), metrics, paper.THIRTY_TWO[label]))]
    rows.append(("NetDiff (ACAM), 16 nodes only", cells(sampled(setting, "acam-123", layouts), metrics)))
    rows.append((SHIPPED, cells(sampled(setting, "netdiff", layouts), metrics)))
    rows.append(("target", cells(targets(layouts), metrics, paper.THIRTY_TWO["target"])))
    sixteen = setting.layouts(16)
    same = [(label, cells(sampled(setting, "acam-mixed-123", sixteen), metrics))]
    same.append(("NetDiff (ACAM), 16 nodes only", cells(sampled(setting, "acam-123", sixteen), metrics)))
    columns = ["model", *labels(metrics)]
    return [Grid("32 nodes, raw samples", columns, rows), Grid("The same models at 16 nodes", columns, same)]


RAW_STUDIES = (
    Study(
        "properties",
        "Properties of generated graphs",
        "From GraphVAE to NetDiff with ACAM, links, lengths, rates and saturation come nearer to the target.",
        _properties,
    ),
    Study(
        "constraints",
        "Constraint satisfaction",
        "CAM tokens keep more constraints than the statistics of DDPM-GT, ACAM tokens more than CAM.",
        _constraints,
    ),
    Study(
        "losses",
        "The loss terms",
        "Without the penalties antennas saturate twice as often and the parity is lost.",
        _losses,
    ),
    Study("tokens", "How many tokens", "More ACAM tokens saturate fewer antennas.", _tokens),
    Study(
        "thirty-two",
        "32 nodes",
        "A network that has seen 16 and 32 nodes (60/40) does about as well on 32 as on 16.",
        _thirty_two,
    ),
)
