"""Cards: how weights were made and how good they are, in their file and as a page to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from manetdiff.data import BENCHMARKS
from manetdiff.diffusion.weights import Weights
from manetdiff.evaluate.markdown import markdown_table
from manetdiff.evaluate.models import model_scores

SHOWN = {
    "links": ("links", "{:.2f}", 1),
    "mean_length": ("mean length", "{:.3f}", 1),
    "link_throughput": ("per link, Mbit/s", "{:.2f}", 1),
    "throughput": ("T, Mbit/s", "{:.2f}", 1),
    "ratio": ("T / target", "{:.2f} %", 100),
    "antenna_saturation": ("saturated antennas", "{:.2f} %", 100),
    "node_saturation": ("saturated nodes", "{:.2f} %", 100),
    "connected": ("connected", "{:.2f} %", 100),
    "parity": ("parity", "{:.3f} %", 100),
    "valid": ("valid", "{:.2f} %", 100),
}


def with_card(
    weights: Weights, commit: str, layouts: int | None = None, report: Callable[[str], None] = lambda label: None
) -> Weights:
    """The weights as they are shipped, in half precision, with what they score on the benchmark sets.

    commit: of the code that trained them. Only sets of fleet sizes that they were trained on are scored.
    """
    shipped = replace(weights, tensors={name: tensor.to(torch.float16) for name, tensor in weights.tensors.items()})
    trained_on = {nodes for source in weights.card.get("data", []) for nodes in source["nodes"]}
    scores: dict[str, Any] = {}
    for name, benchmark in BENCHMARKS.items():
        if benchmark.nodes in trained_on:
            row = model_scores(name, {"weights": shipped}, layouts=layouts, report=report)[1]
            scores[name] = {**row.metrics, "ratio": row.ratio, "layouts": row.layouts}
    card = {**weights.card, "commit": commit, "benchmark": scores}
    return replace(shipped, card=card)


def card_page(name: str, weights: Weights) -> str:
    """The card as Markdown."""
    card = weights.card
    model, recipe = weights.config, card.get("recipe", {})
    parameters = sum(tensor.numel() for tensor in weights.tensors.values())
    parts = [
        f"# {name}\n",
        f"{parameters:,} parameters. Trained for {card.get('step', 0):,} steps of {recipe.get('batch')} graphs by the "
        f"code of commit {card.get('commit', 'unknown')}.\n",
        "## Raw samples on the benchmark sets\n",
        _scores(card.get("benchmark", {}), {**weights.sampling.to_dict(), "seed": 0}),
        "## Model\n",
        _pairs(model.to_dict()),
        "## Data\n",
        _data(card.get("data", [])),
        "## Losses and noise\n",
        _pairs({**card.get("losses", {}), **weights.process.to_dict()}),
        "## Recipe\n",
        _pairs(recipe),
        "## Radio\n",
        _pairs(weights.radio.to_dict()),
    ]
    return "\n".join(parts)


def _scores(scores: Mapping[str, Mapping[str, float]], sampling: Mapping[str, Any]) -> str:
    if not scores:
        return "Not scored.\n"
    said = ", ".join(f"{name} {value}" for name, value in sampling.items())
    rows = [
        [label, *(form.format(factor * score[name]) for score in scores.values())]
        for name, (label, form, factor) in SHOWN.items()
    ]
    heads = ["", *(f"{name} ({int(score['layouts'])} layouts)" for name, score in scores.items())]
    return f"No correction, no polish; {said}.\n\n" + markdown_table(heads, rows)


def _data(sources: list[Mapping[str, Any]]) -> str:
    rows = [
        [
            ", ".join(map(str, source["nodes"])),
            f"{source['count']:,}",
            str(source["seed"]),
            f"{source['search_moves']:,}",
            str(len(source["families"]) - len(source.get("left_out", []))),
        ]
        for source in sources
    ]
    return markdown_table(["nodes", "layouts", "seed", "moves of the reference search", "families"], rows)


def _pairs(values: Mapping[str, Any]) -> str:
    return markdown_table(["", ""], [[name, str(value)] for name, value in values.items()])
