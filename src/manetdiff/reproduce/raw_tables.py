"""The tables on raw samples: properties, constraints, losses, tokens, and 32 nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manetdiff.measure.measures import labels
from manetdiff.measure.target_rows import targets
from manetdiff.reproduce import paper
from manetdiff.reproduce.networks import NETWORKS, PLAIN_SAMPLING, raw_samples, samples_of
from manetdiff.reproduce.tables import Grid, PaperTable, Setting

SHAPE = ("links", "mean_length", "link_throughput", "antenna_saturation")
KEPT = ("connected", "node_saturation", "parity")
SHIPPED = "NetDiff (as shipped)"
SEEDS_NOTE = "Three seeds of each diffusion model pooled (a quick run: one), one of each VAE and of the shipped one."


def _properties(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    metrics = (*SHAPE, "ratio")
    rows = [
        (label, samples_of(setting, network, layouts).cells(metrics, paper.PROPERTIES[label]))
        for label, network in NETWORKS.items()
    ]
    rows.append((SHIPPED, raw_samples(setting, "netdiff", layouts).cells(metrics)))
    rows.append(("target", targets(layouts).cells(metrics, paper.PROPERTIES["target"])))
    return [Grid("Properties of raw samples, 16 nodes", ["model", *labels(metrics)], rows, SEEDS_NOTE)]


def _constraints(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    metrics = (*KEPT, "valid")
    rows = [
        (label, samples_of(setting, NETWORKS[label], layouts).cells(metrics, paper.CONSTRAINTS[label]))
        for label in paper.CONSTRAINTS
    ]
    rows.append((SHIPPED, raw_samples(setting, "netdiff", layouts).cells(metrics)))
    rows.append(("target", targets(layouts).cells(metrics)))
    return [Grid("Constraints kept by raw samples, 16 nodes", ["model", *labels(metrics)], rows, SEEDS_NOTE)]


def _losses(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    metrics = ("node_saturation", "parity", "connected", "valid", "ratio")
    columns = ["trained with", *labels(metrics)]

    def table(title: str, names: Mapping[str, str], beside: Mapping[str, paper.Figures], **sampling: Any) -> Grid:
        made = {label: raw_samples(setting, name, layouts, **sampling) for label, name in names.items()}
        return Grid(title, columns, [(label, rows.cells(metrics, beside.get(label))) for label, rows in made.items()])

    both = {"cross-entropy alone": "cross-entropy-123", "with the penalties": "acam-123"}
    brief = {"cross-entropy alone": "cross-entropy-brief-123", "with the penalties": "acam-brief-123"}
    return [
        table("The loss, 16 nodes", both, paper.LOSSES),
        table("The same, sampled as in the paper", both, {}, **PLAIN_SAMPLING),
        table("The same after a sixth of the training", brief, {}),
    ]


def _tokens(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(16)
    metrics = ("antenna_saturation", "node_saturation", "connected", "parity", "ratio")
    names = {"none": "none-123", "1": "one-token-123"}
    names |= {f"{count}": f"tokens-{count}-123" for count in (2, 4, 8)} | {"16": "acam-123"}
    brief = {"none": "none-brief-123", "1": "one-token-brief-123", "16": "acam-brief-123"}
    note = "The paper's text: 16 tokens instead of 1 reduce the saturation metrics by about 0.8 points. One seed each."
    return [
        Grid(
            title,
            ["tokens", *labels(metrics)],
            [(count, raw_samples(setting, name, layouts).cells(metrics)) for count, name in chosen.items()],
            note,
        )
        for title, chosen in (("ACAM tokens, 16 nodes", names), ("The same after a sixth of the training", brief))
    ]


def _thirty_two(setting: Setting) -> list[Grid]:
    layouts = setting.layouts(32)
    metrics = (*SHAPE, *KEPT, "ratio")
    label = "NetDiff (60/40 mix)"
    rows = [(label, raw_samples(setting, "acam-mixed-123", layouts).cells(metrics, paper.THIRTY_TWO[label]))]
    rows.append(("NetDiff (ACAM), 16 nodes only", raw_samples(setting, "acam-123", layouts).cells(metrics)))
    rows.append((SHIPPED, raw_samples(setting, "netdiff", layouts).cells(metrics)))
    rows.append(("target", targets(layouts).cells(metrics, paper.THIRTY_TWO["target"])))
    sixteen = setting.layouts(16)
    same = [(label, raw_samples(setting, "acam-mixed-123", sixteen).cells(metrics))]
    same.append(("NetDiff (ACAM), 16 nodes only", raw_samples(setting, "acam-123", sixteen).cells(metrics)))
    columns = ["model", *labels(metrics)]
    return [Grid("32 nodes, raw samples", columns, rows), Grid("The same models at 16 nodes", columns, same)]


RAW_TABLES = (
    PaperTable(
        "properties",
        "Properties of generated graphs",
        "The paper: from GraphVAE to NetDiff with ACAM, links, lengths, rates and saturation come nearer to "
        "the target.",
        _properties,
    ),
    PaperTable(
        "constraints",
        "Constraint satisfaction",
        "The paper: CAM tokens keep more constraints than the statistics of DDPM-GT, ACAM tokens more than CAM.",
        _constraints,
    ),
    PaperTable(
        "losses",
        "The loss terms",
        "The paper: without the penalties antennas saturate twice as often and the parity is lost.",
        _losses,
    ),
    PaperTable("tokens", "How many tokens", "The paper: more ACAM tokens saturate fewer antennas.", _tokens),
    PaperTable(
        "thirty-two",
        "32 nodes",
        "The paper: a network that has seen 16 and 32 nodes (60/40) does about as well on 32 as on 16.",
        _thirty_two,
    ),
)
